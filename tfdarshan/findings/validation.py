"""Files that are read between the steps of two epochs: a validation set, which training waits for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array, union_ns
from tfdarshan.findings.finding import Assumption, Evidence, Finding
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import probe_evidence, serial_share, times_as_long
from tfdarshan.findings.pipeline_api import validation_cure
from tfdarshan.findings.reader_change import serves_more
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "validation"
# A pause between steps is one from so many times a step's length on, and of so many seconds at least.
LONGER, LEAST_S = 3.0, 0.02
# A file is read in pauses alone if so many of its calls are.
ALONE = 0.9
# Memory that these files may take to be kept there.
ROOM = 0.2
AGAIN = 1.5
MOST_READERS = 16
FEWEST_READS = 8


@dataclass(frozen=True)
class _Pauses:
    """Pauses between steps in which files are read that no step reads."""

    count: int
    reading_s: float
    thread_s: float
    reads: int
    rows: Array


def find(measures: Measures) -> Finding | None:
    """Finds it where reading such files takes long enough to matter."""
    if not measures.traced:
        return None
    pauses = _pauses(measures)
    if pauses is None:
        return None
    model, units = measures.model, measures.model.units
    sizes = np.where(measures.sizes > 0, measures.sizes, 0)[pauses.rows]
    # By the counters: what follows the last step is read, too.
    read = measures.files.rows["bytes_read"].to_numpy()[pauses.rows]
    passes = max(1.0, float(np.median(read / np.maximum(sizes, 1))))
    memory = measures.machine.memory_bytes
    fits = memory is not None and float(sizes.sum()) <= ROOM * memory and passes >= AGAIN
    depth = max(1.0, pauses.thread_s / pauses.reading_s)
    if fits:
        again = (passes - 1) / passes
        shares = [0.7 * again, 0.95 * again, again]
        assumed = Assumption(
            "these files stay in memory",
            f"{human_bytes(float(sizes.sum()))}, read {passes:.1f} times",
            "the job itself needs the memory",
        )
    else:
        assumed = serves_more(measures)
        serial = serial_share(measures)
        readers = min(MOST_READERS, max(serial.most_readers, depth))
        left = (
            times_as_long(serial.high, depth, readers),
            serial.times(depth, MOST_READERS),
            times_as_long(serial.low, depth, MOST_READERS),
        )
        shares = [max(0.0, 1 - part) for part in left]
    low, expected, high = (share * pauses.reading_s / units for share in shares)
    gain = measures.gain(0, 0, 0, assumed=[assumed], stall_s=(low, expected, high), beside=0.0)
    read = f"{plural(len(pauses.rows), 'file')} {'is' if len(pauses.rows) == 1 else 'are'} read"
    return Finding(
        name=NAME,
        kind="problem",
        title=f"training stands still {human_seconds(pauses.reading_s / pauses.count)} an epoch for reading "
        "other files",
        what=f"In {plural(pauses.count, 'pause')} between steps {read} that no step reads, "
        f"{human_bytes(float(sizes.sum()))} in all, {depth:.1f} calls at a time: as a validation set is.",
        evidence=(
            Evidence("pauses", f"{pauses.count:,}", pauses.count),
            Evidence("reading in them", human_seconds(pauses.reading_s), pauses.reading_s),
            Evidence(
                "of all time",
                percent(pauses.reading_s, model.unit_s * units),
                pauses.reading_s / (model.unit_s * units),
            ),
            Evidence("files", f"{len(pauses.rows):,}", len(pauses.rows)),
            Evidence("times read", f"{passes:.1f}", passes),
            *(() if fits else probe_evidence(measures)),
        ),
        files=measures.paths_of(pauses.rows),
        unit=model.unit,
        cost_s=gain.expected_s,
        stall_s=gain.expected_s,
        cure=validation_cure(measures, MOST_READERS, keep=fits),
        gain=gain,
        not_worth="where validating once in several epochs would do",
    )


def _pauses(measures: Measures) -> _Pauses | None:
    windows, segments = measures.windows, measures.segments
    if windows is None or len(windows.start_ns) < 2:
        return None
    begin, end = np.maximum.accumulate(windows.end_ns)[:-1], windows.start_ns[1:]
    typical_ns = float(np.median(windows.end_ns - windows.start_ns))
    long = end - begin >= max(LONGER * typical_ns, LEAST_S * 1e9)
    # The last epoch's is after the last step, where the session's steps do not say how long it was.
    begin, end = begin[long], end[long]
    if not len(begin):
        return None
    places = measures.places
    start = segments.start_ns[places]
    before = np.searchsorted(begin, start, side="right") - 1
    inside = (before >= 0) & (start < end[np.maximum(before, 0)])
    count = len(measures.files)
    file = segments.file[places]
    made = np.bincount(file, minlength=count)
    within = np.bincount(file, inside, minlength=count)
    alone = (made > 0) & (within >= ALONE * made)
    chosen = inside & alone[file]
    if int(chosen.sum()) < FEWEST_READS:
        return None
    found = places[chosen]
    taken_ns = segments.end_ns[found] - segments.start_ns[found]
    reading_ns = union_ns(segments.start_ns[found], segments.end_ns[found])
    rows = np.flatnonzero(np.bincount(file[chosen], minlength=count) > 0)
    return _Pauses(
        len(np.unique(before[chosen])), reading_ns / 1e9, float(taken_ns.sum()) / 1e9, int(chosen.sum()), rows
    )
