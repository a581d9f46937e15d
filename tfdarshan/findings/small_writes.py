"""Many small writes by the training loop, where few large ones would do."""

from __future__ import annotations

import math

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.findings.about import About
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.loop_edits import BufferedWrites
from tfdarshan.replay.priors import SETTING
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, plural

NAME = "small_writes"
ABOUT = About(
    title="The training loop makes small writes",
    cause="The training loop writes less than 64 KiB at a time, and waits for every write. A buffer "
    "collects many small writes into one large write.",
    says="the training loop makes 400 writes of 100 B, 2.0 ms each",
    seen=("small access sizes of writes", "the tab's Patterns"),
    fixes={
        "plain Python": "`log = open(path, 'ab', buffering=1 << 20)`; flush and sync once a second at most",
    },
    estimate="The replay has small writes, and their syncs, kept until the end of the "
    "run. Writes of checkpoints stay.",
    ignore="no line may be lost when the job is killed",
    fix="larger writes",
)
SMALL_BYTES = int(THRESHOLD["small"])
BUFFER_BYTES = int(SETTING["request"])
FIX = Fix(
    "Collect small writes in a buffer, and write the buffer.",
    "log = open(path, 'ab', buffering=1 << 20)",
    "log = open(path, 'ab', buffering=0)",
)
# A file that is flushed after each write, to be synced, leaves no buffer anything to collect.
SYNCED_FIX = Fix(
    "Collect small writes in a buffer: flush and sync the file once a second, or only at the end of the run."
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find writes of less than 64 KiB by the loop's own thread."""
    if not measures.writes_known:
        return _counted(measures)
    output, segments = measures.output, measures.writes
    places = output.chosen[output.within & ~output.sync]
    small = (segments.length[places] > 0) & (segments.length[places] < SMALL_BYTES)
    count, buffered = int(small.sum()), _by_buffers(segments.file[places], segments.length[places], small)
    if count <= buffered:
        return None
    file, length = segments.file[places[small]], segments.length[places[small]]
    duration = segments.end_ns[places[small]] - segments.start_ns[places[small]]
    mean, whole_s = float(length.mean()), float(duration.sum()) / 1e9
    per_file = np.bincount(file, duration, minlength=len(measures.files))
    order = np.argsort(-per_file, kind="stable")
    syncs = segments.file[output.chosen[output.within & output.sync]]
    each = human_seconds(whole_s / count)
    each_synced = 2 * int(np.isin(syncs, file).sum()) >= count
    return Finding(
        name=NAME,
        title=f"{measures.loop} makes {count:,} writes of {human_bytes(mean)}, {each} each",
        what=f"Writes of less than {human_bytes(SMALL_BYTES)} take {each} each, "
        f"{human_seconds(whole_s)} in all. {plural(buffered, 'write')} of up to {human_bytes(BUFFER_BYTES)} "
        "would be enough.",
        evidence=(
            Evidence("small writes", f"{count:,}", count),
            Evidence("mean size", human_bytes(mean), mean),
            Evidence("time in them", human_seconds(whole_s), whole_s),
            Evidence("mean", each, whole_s / count),
        ),
        files=measures.paths_of(order[per_file[order] > 0]),
        fix=SYNCED_FIX if each_synced else FIX,
        edits=(BufferedWrites(),),
    )


def _by_buffers(file: Array, length: Array, small: Array) -> int:
    """Return how many writes of a full buffer, which each file has its own of, would do for small ones.

    A large write empties the buffer first: what is before it is not collected with what comes behind it.

    Args:
        file: What each write is to; writes are in order of time.
        length: Its bytes.
        small: Which are small, bool.
    """
    if not small.any():
        return 0
    order = np.argsort(file, kind="stable")
    file, length, small = file[order], length[order], small[order]
    begins = small.copy()
    begins[1:] &= (file[1:] != file[:-1]) | ~small[:-1]
    moved = np.add.reduceat(length * small, np.flatnonzero(begins))
    return int(np.maximum(1, np.ceil(moved / BUFFER_BYTES)).sum())


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    writes = data.posix.writes + data.stdio.writes
    moved = data.posix.bytes_written + data.stdio.bytes_written
    buffered = max(1, math.ceil(moved / BUFFER_BYTES))
    if not writes or moved >= SMALL_BYTES * writes or writes <= buffered:
        return None
    mean = moved / writes
    return counted_note(
        measures,
        NAME,
        unknown="what small writes cost",
        title=f"{writes:,} writes are small, {human_bytes(mean)} on average",
        what=f"{plural(buffered, 'write')} of up to {human_bytes(BUFFER_BYTES)} would be enough.",
        evidence=(Evidence("writes", f"{writes:,}", writes), Evidence("mean size", human_bytes(mean), mean)),
        most_s=data.file_time.write_s,
        fix=FIX,
    )
