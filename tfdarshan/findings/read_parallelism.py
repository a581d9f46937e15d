"""Too few reads at a time: each waits for the one before."""

from __future__ import annotations

from tfdarshan.analysis.steps.loader_waits import idle_workers
from tfdarshan.findings.about import About
from tfdarshan.findings.decode_bound import decodes_in_its_reads
from tfdarshan.findings.finding import Evidence, Finding, Unknown
from tfdarshan.findings.fix_choice import COUNTS, ahead_is_enough, enough_readers
from tfdarshan.findings.fix_lines import more_readers, reads_as_many, reads_by_sqlite
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.edits import Readers
from tfdarshan.units import human_seconds, percent

NAME = "read_parallelism"
ABOUT = About(
    title="Reads are serial",
    cause="The input pipeline reads one file at a time, or a few. Each read waits for the storage's "
    "latency while other readers could wait beside it. Network and parallel file systems serve "
    "many reads at once.",
    says="reads are serial (queue depth 1)",
    seen=("queue depth near 1 while steps wait", "the tab's Timeline, by depth"),
    fixes={
        "tf.data": "`map(load, num_parallel_calls=16)`; on fewer than 16 processors also "
        "`options.threading.private_threadpool_size = 16`",
        "PyTorch": "`DataLoader(..., num_workers=8)`",
        "Grain": "`.to_iter_dataset(ReadOptions(num_threads=16))`",
        "plain Python": "`tfdarshan.ahead.map_ahead(read, samples, threads=16)`",
    },
    estimate="The replay has the smallest number of readers that gives nearly all of what "
    "more give. A session with one reader does not tell how much of a read the storage serves "
    "one at a time: the range is then wide. `tfdarshan probe /data` narrows the range.",
    ignore="one reader already uses all bandwidth of the storage, as large reads from a single disk do",
    fix="more reads at a time",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it if the job could read with more calls at a time than it does."""
    model, made = measures.model, measures.group("read").calls
    if not measures.traced:
        return measures.untraced(NAME, "how many calls ran at a time")
    # Those have a finding of their own.
    if measures.waits_in_faults:
        return None
    # More workers have nothing to read if some have none already.
    if idle_workers(measures.session.meta[0]):
        return None
    # Threads that share a connection of SQLite's take turns.
    counts = [count for count in COUNTS if model.readers < count <= made]
    if not counts or reads_by_sqlite(measures) or decodes_in_its_reads(measures):
        return None
    count = enough_readers(measures, counts)
    if reads_as_many(measures, count) or ahead_is_enough(measures, count):
        return None
    calls, depth = measures.input_calls, measures.pipeline.readers.together
    mean_s, shown = calls.thread_s / calls.calls if calls.calls else 0.0, _rounded(depth)
    return Finding(
        name=NAME,
        title=f"{'reads are serial' if shown == '1' else 'few reads run at a time'} (queue depth {shown})",
        what=f"{_who(model.readers)}. Calls take {human_seconds(mean_s)} on average, "
        f"and fill {percent(model.busy_share, 1)} of a reader's time.",
        evidence=(
            Evidence("readers", f"{model.readers:.1f}", model.readers),
            Evidence("threads that read", f"{measures.pipeline.readers.threads:.1f}"),
            Evidence("queue depth", f"{depth:.1f}", depth),
            Evidence("mean call", human_seconds(mean_s), mean_s),
            Evidence("readers' time in calls", percent(model.busy_share, 1), model.busy_share),
        ),
        fix=more_readers(measures, count, round(model.readers)),
        edits=(Readers(count),),
    )


def _who(readers: float) -> str:
    """Begin the sentence with the readers: one, or about so many."""
    if _rounded(readers) == "1":
        return "A single reader reads the input, one call after another"
    return f"About {_rounded(readers)} readers read at the same time, and each makes one call after another"


def _rounded(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
