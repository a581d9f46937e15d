"""Tasks of questions about what ran at a time: windows of time over all processes, of about as many calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.sessions.event_groups import GroupSpan
from tfdarshan.sessions.process_data import ProcessData

# Calls in a window, as far as the statistics of row groups tell; one that windows share is read in each.
WINDOW_CALLS = 1 << 24
EVER_NS = 1 << 62
# What a worker needs of a process's metadata to read its calls.
NEEDED = ("pid", "host", "counts", "tables", "operations")


@dataclass(frozen=True)
class TimeWindow:
    """The calls that were running from one moment, in ns, until before another.

    `processes` are those that may have made some, with no more of their metadata than reading takes, and
    `places` is where they stand among all of the session.
    """

    from_ns: int
    until_ns: int
    processes: tuple[ProcessData, ...]
    places: tuple[int, ...]

    @property
    def name(self) -> str:
        """What it is of."""
        first = "the start" if self.from_ns == -EVER_NS else f"{self.from_ns / 1e9:.3f} s"
        last = "the end" if self.until_ns == EVER_NS else f"{self.until_ns / 1e9:.3f} s"
        return f"calls from {first} to {last}"

    def halves(self, at_ns: int) -> Iterator[TimeWindow]:
        """Yield the parts before and after a moment."""
        yield dataclasses.replace(self, until_ns=at_ns)
        yield dataclasses.replace(self, from_ns=at_ns)


def time_windows(processes: Sequence[ProcessData], calls: int = WINDOW_CALLS) -> list[TimeWindow]:
    """Divide all time into windows.

    Args:
        processes: The processes.
        calls: How many calls a window has at most, about: more where it has many row groups of one time.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    small = _without_details(processes)
    everyone = tuple(range(len(small)))
    if sum(int(process.meta["counts"]["segments"]) for process in processes) <= calls:
        return [TimeWindow(-EVER_NS, EVER_NS, tuple(small), everyone)]
    spans = [process.event_group_spans() for process in processes]
    cuts = _cuts([span for of_one in spans for span in of_one], calls)
    windows = []
    for from_ns, until_ns in zip([-EVER_NS, *cuts], [*cuts, EVER_NS], strict=True):
        within = tuple(
            place
            for place in everyone
            if any(span.first_ns < until_ns and span.last_ns >= from_ns for span in spans[place])
        )
        if within:
            windows.append(TimeWindow(from_ns, until_ns, tuple(small[place] for place in within), within))
    return windows


def _without_details(processes: Sequence[ProcessData]) -> list[ProcessData]:
    """Return the processes as small as they can be; kinds of call that are the same are one object."""
    kinds: list[object] = []
    small = []
    for process in processes:
        meta = {name: process.meta[name] for name in NEEDED if name in process.meta}
        if "operations" in meta:
            if meta["operations"] not in kinds:
                kinds.append(meta["operations"])
            meta["operations"] = kinds[kinds.index(meta["operations"])]
        small.append(dataclasses.replace(process, meta=meta))
    return small


def _cuts(spans: Sequence[GroupSpan], calls: int) -> list[int]:
    """Return the moments between windows, as if a row group's calls began evenly from first to last start."""
    if not spans:
        return []
    first = np.array([span.first_ns for span in spans], np.float64)
    last = np.maximum(np.array([span.last_start_ns for span in spans], np.float64), first + 1)
    rate = np.array([span.calls for span in spans], np.float64) / (last - first)
    at, change = np.concatenate([first, last]), np.concatenate([rate, -rate])
    order = np.argsort(at, kind="stable")
    at, change = at[order], change[order]
    begun: Array = np.concatenate([[0.0], np.cumsum(np.cumsum(change)[:-1] * np.diff(at))])
    wanted = np.arange(calls, begun[-1], calls)
    return sorted({int(moment) for moment in np.interp(wanted, begun, at)})
