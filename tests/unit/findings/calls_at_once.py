"""What findings ask of calls, answered with all of them in memory: block by block it has to be the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array, group_order
from tfdarshan.analysis.calls.read_pieces import (
    FEWEST_READS,
    READ_AHEAD_BYTES,
    SCATTERED,
    ScatteredReads,
)
from tfdarshan.analysis.calls.segments import Segments, load_segments
from tfdarshan.analysis.steps.input_pipeline import input_calls
from tfdarshan.analysis.storage.outlier_calls import slow_moments, usual_s
from tfdarshan.analysis.storage.serialization import depth_at_start
from tfdarshan.analysis.storage.storage_passes import from_storage
from tfdarshan.native.read_order import SIDE_BY_SIDE


@dataclass(frozen=True)
class AtOnce:
    """The calls of what was measured: `places` are those on input within the steps, `kinds` what they are."""

    segments: Segments
    places: Array
    kinds: Array
    loop: int

    @property
    def reads(self) -> Array:
        """Places of reads with data."""
        return self.places[self.kinds == KIND["read"]]

    def column(self, name: str, places: Array) -> Array:
        """Return a column of some calls."""
        return getattr(self.segments, name)[places]

    def taken_s(self, places: Array) -> Array:
        """Return their durations."""
        return (self.segments.end_ns[places] - self.segments.start_ns[places]) / 1e9


def at_once(session, measures) -> AtOnce:
    """Load all calls of what was measured."""
    segments = load_segments(session.processes, measures.files.index)
    places, kinds = input_calls(segments, measures.is_input, measures.windows)
    loop = next((place for place, one in enumerate(segments.threads) if measures.measured.is_loop(one)), -1)
    return AtOnce(segments, places, kinds, loop)


def scattered_reads(segments: Segments, places: Array, sizes: Array) -> ScatteredReads:
    """Find them.

    Args:
        segments: The session's calls.
        places: The reads with data to look at, in order of start.
        sizes: Of the rows of the file table.
    """
    files = len(sizes)
    count = np.bincount(segments.file[places], minlength=files)
    places = places[count[segments.file[places]] >= FEWEST_READS]
    places = places[segments.offset[places] >= 0]
    if len(places) == 0:
        return ScatteredReads(places, 0, 0, 0, 0.0)
    places = places[group_order(segments.file[places], files)]
    file, offset, length = (column[places] for column in (segments.file, segments.offset, segments.length))
    jumps = _jumps(file, offset, length)
    share = np.bincount(file, jumps, minlength=files) / np.maximum(np.bincount(file, minlength=files), 1)
    lasted = (segments.end_ns - segments.start_ns)[places]
    pieces, in_parts = np.bincount(file, minlength=files), np.zeros(files, bool)
    for one in np.unique(file[share[file] < SCATTERED]).tolist():
        mine, size = file == one, int(sizes[one])
        made, moved = int(jumps[mine].sum()), int(length[mine].sum())
        in_parts[one] = (
            size > 0
            and made >= FEWEST_READS * max(1, moved / size)
            and moved <= READ_AHEAD_BYTES * made
            and int(lasted[mine & jumps].sum()) >= SCATTERED * int(lasted[mine].sum())
        )
        pieces[one] = made + 1
    kept = (share[file] >= SCATTERED) | in_parts[file]
    duration = lasted[kept]
    per_file = np.bincount(file[kept], minlength=files)
    order = np.argsort(-per_file, kind="stable")
    return ScatteredReads(
        order[: int(np.count_nonzero(per_file))],
        int(kept.sum()),
        int(pieces[np.unique(file[kept])].sum()),
        int(length[kept].sum()),
        float(duration.sum()) / 1e9,
    )


def _jumps(file: Array, offset: Array, length: Array) -> Array:
    """Return which reads go on after none of the reads before them in their file, by file in order of time.

    A step of less than a read is none: a record's header and body, or a part that was read ahead.
    """
    jumps: Array = np.ones(len(file), bool)
    end = offset + length
    for back in range(1, min(SIDE_BY_SIDE, len(file) - 1) + 1):
        near = np.abs(offset[back:] - end[:-back]) <= length[:-back]
        jumps[back:] &= ~(near & (file[back:] == file[:-back]))
    jumps[np.concatenate([[True], file[1:] != file[:-1]])] = False
    return jumps


def asked(calls: AtOnce) -> Array:
    """Return `InputFacts.asked` of them."""
    sums = np.zeros((2, 2, 2))
    for place, kind in zip(calls.places.tolist(), calls.kinds.tolist(), strict=True):
        if kind in (KIND["stat"], KIND["fstat"], KIND["open"]):
            by_loop, by_name = calls.segments.thread[place] == calls.loop, kind == KIND["stat"]
            sums[int(kind == KIND["open"]), int(by_loop), int(by_name)] += 1
    return sums


def slow_sums(calls: AtOnce, model, count: int, times: float) -> list[Array]:
    """Return the columns of `SlowCalls`."""
    file, taken_s = calls.column("file", calls.reads), calls.taken_s(calls.reads)
    usual = usual_s(model, calls.column("length", calls.reads))
    slow = taken_s / usual >= times
    moment = slow_moments(file, slow)
    alone = slow & ~moment
    begins = alone & ~np.append(False, slow[:-1])
    weights = (None, slow, alone, begins, moment * (taken_s - usual))
    return [np.bincount(file, weight, minlength=count) for weight in weights]


def compared(calls: AtOnce, model, files: Array):
    """Return the fields of `ComparedReads`."""
    places = calls.reads
    taken_s, length = calls.taken_s(places), calls.column("length", places)
    times, stored = taken_s / usual_s(model, length), from_storage(np.ones(len(places)), length, taken_s)
    depth = depth_at_start(calls.column("start_ns", places), calls.column("end_ns", places))
    chosen = files[calls.column("file", places)]
    parts = [chosen, ~chosen]
    return (
        tuple(int(part.sum()) for part in parts),
        tuple(float(depth[part].mean()) if part.any() else 0.0 for part in parts),
        tuple(float(np.median(times[part & stored])) if (part & stored).any() else None for part in parts),
    )
