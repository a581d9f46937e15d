"""Who did what when: threads, processes, directories or kinds of call against time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.overview_rows import OverviewPart, overview_parts
from tfdarshan.analysis.calls.segments import Blocks, Segments, Thread
from tfdarshan.analysis.time.untraced import UntracedSums
from tfdarshan.native.call_sums import BIN_BUSY_NS, BIN_CALLS
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.writing.time_bins import TimeBins, bins_over, bytes_in

# Rows, and parts of time, that a figure has room for.
ROWS, PARTS = 32, 512
OTHERS = "others"


@dataclass(frozen=True)
class Activity:
    """Each array has one row per name and one column per part of time, float64.

    `calls` started in the part; `bytes_moved` are spread over each call's duration; `busy_ns` is thread time
    in calls, which divided by the part's length is the mean queue depth.
    """

    bins: TimeBins
    names: list[str]
    calls: Array
    bytes_moved: Array
    busy_ns: Array

    def rows(self, places: Array | Sequence[int]) -> Activity:
        """Return the rows at some places, in that order."""
        names = [self.names[place] for place in places]
        kept = (rows[places] for rows in (self.calls, self.bytes_moved, self.busy_ns))
        return Activity(self.bins, names, *kept)


def activity(
    blocks: Blocks,
    group_of: Callable[[Segments], Array],
    names: Sequence[str],
    bins: TimeBins,
    most: int = ROWS,
    sample: Blocks = lambda: iter(()),
) -> Activity:
    """Return the activity of groups of calls; those beyond the `most` busiest are added up as "others".

    Args:
        blocks: Gives the calls block by block, each time that it is called.
        group_of: Gives the group of each call of a block, an index into `names`.
        names: The groups' names.
        bins: The parts of time.
        most: How many groups are told apart.
        sample: Further calls, that stand for the time of others: their bytes and number mean nothing.
    """
    busy, calls_of = np.zeros(len(names)), np.zeros(len(names))
    for part in chain(blocks(), sample()):
        group = group_of(part)
        inside_ns = np.minimum(part.end_ns, bins.end_ns) - np.maximum(part.start_ns, bins.start_ns)
        busy += np.bincount(group, np.maximum(inside_ns, 0), minlength=len(names))
        calls_of += np.bincount(group, minlength=len(names))
    code, shown = _busiest(busy, calls_of, names, most)
    sums, sampled = bins.no_sums(len(shown)), bins.no_sums(len(shown))
    for into, source in ((sums, blocks), (sampled, sample)):
        for part in source():
            bins.add(into, part.calls, code[group_of(part)])
    busy = (sums + sampled)[..., BIN_BUSY_NS].astype(np.float64)
    return Activity(bins, shown, sums[..., BIN_CALLS].astype(np.float64), bytes_in(sums), busy)


def activity_by_name(
    segments: Segments,
    named: Callable[[Thread], str],
    bins: TimeBins,
    most: int = ROWS,
    sample: Blocks = lambda: iter(()),
) -> Activity:
    """Return the activity of the threads of one name together, in their natural order."""
    names = [named(thread) for thread in segments.threads]
    in_order = sorted(segments.threads, key=lambda thread: thread.place)
    unique = natural_order(named(thread) for thread in in_order)
    of_thread = np.array([unique.index(name) for name in names] or [0], np.int32)
    found = activity(segments.blocks, lambda block: of_thread[block.thread], unique, bins, most, sample)
    return _ordered(found, unique)


def activity_of_overview(
    processes: Sequence[ProcessData],
    count: int = PARTS,
    most: int = ROWS,
    named: Callable[[Thread], str] | None = None,
    beside: Callable[[OverviewPart], None] | None = None,
    later: Iterable[tuple[int, OverviewPart]] = (),
) -> Activity:
    """Return the activity over the whole session from the overview tables.

    Args:
        processes: The processes.
        count: Parts of time.
        most: How many names are told apart.
        named: Names the row that a thread belongs to, in natural order; without, a kind of call has a row,
            the busiest first.
        beside: Is given each process's rows, too: tables that are read for one question are not for another.
        later: More rows, each part with its process's place: of calls that are in no overview table.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    bins = overview_bins(processes, count)
    rows: dict[str, Array] = {}
    for number, part in chain(_told(overview_parts(processes), beside), later):
        place = part.places(bins)
        found = _rows_of_kinds(part) if named is None else _rows_of_threads(part, number, named)
        for name, chosen in found:
            sums = rows.setdefault(name, np.zeros((3, count)))
            for measure, values in enumerate((part.count, part.bytes_moved, part.busy_ns)):
                sums[measure] += np.bincount(place[chosen], values[chosen], minlength=count)
    found_rows = _of_rows(bins, rows, most)
    return found_rows if named is None else _ordered(found_rows, natural_order(rows))


def with_untraced(found: Activity, untraced: Iterable[tuple[str, UntracedSums]], most: int) -> Activity:
    """Return an activity with what calls without a segment did.

    Args:
        found: That of the segments.
        untraced: Names of rows, which may be new, and what to add to each.
        most: How many rows are told apart.
    """
    kept = (found.calls, found.bytes_moved, found.busy_ns)
    rows = dict(zip(found.names, np.stack(kept, axis=1), strict=True))
    nothing = np.zeros((3, found.bins.count))
    for name, sums in untraced:
        added = np.stack([sums.calls, sums.bytes_read + sums.bytes_written, sums.busy_ns])
        rows[name] = rows.get(name, nothing) + added
    return _ordered(_of_rows(found.bins, rows, most), list(rows))


def _of_rows(bins: TimeBins, rows: dict[str, Array], most: int) -> Activity:
    """Return the activity of named rows, the busiest first; each has calls, bytes and time of each part."""
    names = list(rows)
    stacked = np.stack([rows[name] for name in names]) if names else np.zeros((0, 3, bins.count))
    code, shown = _busiest(stacked[:, 2].sum(axis=1), stacked[:, 0].sum(axis=1), names, most)
    summed = np.zeros((len(shown), 3, bins.count))
    np.add.at(summed, code[: len(names)], stacked)
    return Activity(bins, shown, summed[:, 0], summed[:, 1], summed[:, 2])


def _told(
    parts: Iterable[OverviewPart], beside: Callable[[OverviewPart], None] | None
) -> Iterator[tuple[int, OverviewPart]]:
    for number, part in enumerate(parts):
        if beside is not None:
            beside(part)
        yield number, part


def _ordered(found: Activity, names: Sequence[str]) -> Activity:
    """Return the rows in the order of `names`, "others" last: the busiest first is hard to read."""
    order = sorted(
        range(len(found.names)),
        key=lambda row: names.index(found.names[row]) if found.names[row] in names else len(names),
    )
    return found.rows(order)


def overview_bins(processes: Sequence[ProcessData], count: int) -> TimeBins:
    """Divide the time from the first process's start to the last one's end."""
    metas = [process.meta for process in processes]
    start_ns = min(meta["start_ns"] for meta in metas)
    end_ns = max(meta["start_ns"] + meta["duration_ns"] for meta in metas)
    return bins_over(start_ns, max(end_ns, start_ns + 1), count)


def _rows_of_kinds(part: OverviewPart) -> Iterator[tuple[str, Array]]:
    # The dictionary names every kind of call there is.
    for code in np.unique(part.operation_code).tolist():
        yield part.operation[code], np.flatnonzero(part.operation_code == code)


def _rows_of_threads(
    part: OverviewPart, process: int, named: Callable[[Thread], str]
) -> Iterator[tuple[str, Array]]:
    meta = part.process.meta
    names = {thread["tid"]: thread["name"] for thread in meta.get("threads", ())}
    for tid in np.unique(part.tid).tolist():
        thread = Thread(meta["host"], meta["pid"], tid, names.get(tid, ""), process)
        yield named(thread), np.flatnonzero(part.tid == tid)


def _busiest(busy: Array, calls: Array, names: Sequence[str], most: int) -> tuple[Array, list[str]]:
    """Return each group's row, and the rows' names: the busiest first, "others" last."""
    order = np.lexsort((np.arange(len(names)), -busy))
    order = order[(calls[order] > 0) | (busy[order] > 0)]
    shown = [names[place] for place in order[:most]]
    code = np.full(max(len(names), 1), len(shown), np.int64)
    code[order[:most]] = np.arange(len(shown))
    if len(order) > most:
        shown.append(OTHERS)
    return code, shown


NUMBERED = re.compile(r"(.*?)(\d*)$", re.DOTALL)


def natural_order(names: Iterable[str]) -> list[str]:
    """Return each name once: kinds as they first appear, those of a kind by the numbers that they end in."""
    kinds: dict[str, int] = {}
    keys: dict[str, tuple[int, int]] = {}
    for name in names:
        kind, number = NUMBERED.fullmatch(name).groups()  # type: ignore[union-attr]
        keys.setdefault(name, (kinds.setdefault(kind, len(kinds)), int(number or 0)))
    return sorted(keys, key=lambda name: keys[name])
