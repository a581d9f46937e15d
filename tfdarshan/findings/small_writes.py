"""Many small writes by the training loop, where few large ones would do."""

from __future__ import annotations

import math

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pace_beside import pace_beside
from tfdarshan.findings.usual_calls import share_without_few
from tfdarshan.units import human_bytes, human_seconds

NAME = "small_writes"
SMALL_BYTES = 64 << 10
BUFFER_BYTES = 1 << 20
CURE = Cure(
    "Collect them in a buffer, and write that.",
    "log = open(path, 'ab', buffering=1 << 20)",
    "log = open(path, 'ab', buffering=0)",
)
# A file that is flushed after each write, to be synced, leaves no buffer anything to collect.
SYNCED_CURE = Cure(
    "Collect them in a buffer: flush and sync the file once, after the last write, or once a second."
)
# From so many syncs a write on, each write is followed by one.
EACH_SYNCED = 0.5
# Where the job writes nothing large: what a byte of a large write costs.
S_PER_BYTE = 1 / 300e6


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds writes of less than 64 KiB by the loop's own thread."""
    if not measures.writes_known:
        return _counted(measures)
    output, segments = measures.output, measures.writes
    places = output.chosen[output.within & ~output.sync]
    length, duration = segments.length[places], segments.end_ns[places] - segments.start_ns[places]
    small = (length > 0) & (length < SMALL_BYTES)
    if not small.any():
        return None
    count, moved = int(small.sum()), float(length[small].sum())
    whole_s = float(duration[small].sum()) / 1e9
    large_s, large_bytes = float(duration[~small].sum()) / 1e9, float(length[~small].sum())
    per_byte = large_s / large_bytes if large_bytes > moved else S_PER_BYTE
    each_s = whole_s / count
    buffered = _by_buffers(segments.file[places], length, small)
    if count <= buffered:
        return None
    left_s = min(whole_s, moved * per_byte + buffered * each_s)
    saved = (whole_s - left_s) / measures.model.units
    beside = pace_beside(measures, segments.start_ns[places][small], segments.end_ns[places][small])
    most = (whole_s - buffered * each_s) / measures.model.units
    # What a few of them take beyond the others they wait for something else, which may not come again.
    usual = share_without_few(duration[small])
    stall_s = (0.6 * usual * saved, 0.95 * (1 - UNSHOWN * (1 - usual)) * saved, max(saved, most))
    assumed = Assumption(
        "a write costs what it does whatever its size",
        f"{human_seconds(each_s)} for {human_bytes(moved / count)}, {count:,} times",
        "larger writes take as many times longer",
    )
    gain = measures.gain(0, 0, 0, assumed=[assumed], stall_s=stall_s, beside=beside, reads_as_much=True)
    per_file = np.bincount(segments.file[places][small], duration[small], minlength=len(measures.files))
    order = np.argsort(-per_file, kind="stable")
    syncs = segments.file[output.chosen[output.within & output.sync]]
    synced = int(np.isin(syncs, segments.file[places][small]).sum())
    return Finding(
        name=NAME,
        kind="problem",
        title=f"{measures.loop} makes {count:,} writes of {human_bytes(moved / count)}",
        what=f"Writes of less than {human_bytes(SMALL_BYTES)} take {human_seconds(each_s)} each, "
        f"{human_seconds(whole_s)} in all; {buffered:,} of {human_bytes(BUFFER_BYTES)} at most would do.",
        evidence=(
            Evidence("small writes", f"{count:,}", count),
            Evidence("mean size", human_bytes(moved / count), moved / count),
            Evidence("time in them", human_seconds(whole_s), whole_s),
            Evidence("mean", human_seconds(each_s), each_s),
        ),
        files=measures.paths_of(order[per_file[order] > 0]),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=gain.saved_s,
        cure=SYNCED_CURE if synced >= EACH_SYNCED * count else CURE,
        gain=gain,
        not_worth="where each line has to be there when the job is killed",
    )


def _by_buffers(file: Array, length: Array, small: Array) -> int:
    """Gives how many writes of a full buffer, which each file has its own of, would do for small ones.

    A large write empties the buffer first: what is before it is not collected with what comes behind it.

    Args:
        file: What each write is to; writes are in order of time.
        length: Its bytes.
        small: Which are small, bool.
    """
    order = np.argsort(file, kind="stable")
    file, length, small = file[order], length[order], small[order]
    begins = small.copy()
    begins[1:] &= (file[1:] != file[:-1]) | ~small[:-1]
    moved = np.add.reduceat(length * small, np.flatnonzero(begins))
    return int(np.maximum(1, np.ceil(moved / BUFFER_BYTES)).sum())


def _buffered(moved: float) -> int:
    """Gives how many writes of a full buffer move so many bytes."""
    return max(1, math.ceil(moved / BUFFER_BYTES))


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    writes = data.posix.writes + data.stdio.writes
    moved = data.posix.bytes_written + data.stdio.bytes_written
    if not writes or moved >= SMALL_BYTES * writes or writes <= _buffered(moved):
        return None
    mean = moved / writes
    return counted_note(
        measures,
        NAME,
        unknown="what small writes cost",
        title=f"{writes:,} writes are of {human_bytes(mean)} on average",
        what=f"{_buffered(moved):,} of {human_bytes(BUFFER_BYTES)} at most would do.",
        evidence=(Evidence("writes", f"{writes:,}", writes), Evidence("mean size", human_bytes(mean), mean)),
        most_s=data.file_time.write_s,
        cure=CURE,
    )
