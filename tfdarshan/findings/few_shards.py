"""Fewer shards than workers: some workers have nothing to read."""

from __future__ import annotations

from tfdarshan.analysis.steps.loader_waits import idle_workers, training_loader
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fix_lines import words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.edits import Readers
from tfdarshan.units import plural

NAME = "few_shards"
ABOUT = About(
    title="The input has fewer shards than workers",
    cause="Each worker of an iterable data set reads whole shards. If there are fewer shards than workers, "
    "some workers end at once, and the others read all of the input.",
    says="the input has shards for only 2 of 8 workers",
    seen=("few `worker` numbers in the table of batches", "`session.batches`"),
    fixes={"PyTorch": "as many shards as workers, or a multiple"},
    estimate="The replay has all workers read. Converting the data has a price in the ranking.",
    ignore="more readers get no more bandwidth from the storage",
    fix="a shard for each worker",
)


def find(measures: Measures) -> Finding | None:
    """Find it if some of the training loader's workers never gave a batch."""
    training, words = training_loader(measures.session.meta[0]), words_of(measures)
    idle = idle_workers(measures.session.meta[0])
    if training is None or words is None or not idle or not measures.traced:
        return None
    workers = int(training[1]["workers"])
    working = workers - idle
    return Finding(
        name=NAME,
        title=f"the input has shards for only {working:,} of {plural(workers, 'worker')}",
        what=f"All batches come from {plural(working, 'worker')}. Each worker reads whole shards, and there "
        "are fewer shards than workers.",
        evidence=(
            Evidence("workers", f"{workers:,}", workers),
            Evidence("of them gave batches", f"{working:,}", working),
        ),
        fix=words.more_shards(workers),
        edits=(Readers(workers),),
        work="convert",
    )
