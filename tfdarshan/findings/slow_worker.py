"""One worker takes far longer for its batches than the others, and its part of the input is waited for."""

from __future__ import annotations

from tfdarshan.analysis.steps.loader_waits import SlowWorker, slow_worker, training_loader
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fix_lines import words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.loader_edits import Sooner
from tfdarshan.units import human_seconds

NAME = "slow_worker"
ABOUT = About(
    title="One worker is slow",
    cause="Each worker of an iterable data set reads a part of its own. The training loop takes a batch of "
    "each in turn, so it waits for the worker whose part is the slowest.",
    says="batches of worker 3 take 2.4 times as long as others",
    seen=("longer fetches of one `worker` in the table of batches", "`session.batches`"),
    fixes={"PyTorch": "`shards = sorted(shards, key=os.path.getsize)[info.id :: info.num_workers]`"},
    estimate="The replay has batches of that worker that take as long as those of the others.",
    ignore="each worker has to keep the shards that it has",
    fix="equal shards for the workers",
)


def find(measures: Measures) -> Finding | None:
    """Find it if workers have parts of their own, and one is slow."""
    slow, words = slow_part(measures), words_of(measures)
    waits = measures.loader_waits
    if slow is None or words is None or waits is None or slow.spared_s <= 0:
        return None
    made = int((waits.worker == slow.worker).sum())
    return Finding(
        name=NAME,
        title=f"batches of worker id {slow.worker} take {slow.times:.1f} times as long as others",
        what=f"The worker with id {slow.worker} prepares {made:,} of {len(waits):,} "
        f"batches in {human_seconds(slow.times * slow.usual_s)} each. The other workers take "
        f"{human_seconds(slow.usual_s)} for a batch. Each worker reads shards of its own, so these shards "
        "are larger or slower to read.",
        evidence=(
            Evidence("times as long", f"{slow.times:.1f}", slow.times),
            Evidence("a batch of the others, median", human_seconds(slow.usual_s), slow.usual_s),
            Evidence("wait for what is longer", human_seconds(slow.spared_s), slow.spared_s),
        ),
        fix=words.equal_parts(),
        edits=(Sooner(slow.spared_s),),
    )


def slow_part(measures: Measures) -> SlowWorker | None:
    """Return the slow worker of an iterable data set: taken out of order, its batches are the last ones."""
    training, waits = training_loader(measures.session.meta[0]), measures.loader_waits
    if training is None or waits is None or not training[1].get("iterable"):
        return None
    return slow_worker(waits)
