"""What recording cost the job: a call is written down between its end and the next call of its thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.units import human_seconds, percent, plural

COLUMNS = ("start_ns", "end_ns", "tid")


@dataclass(frozen=True)
class OwnCost:
    """What recording took of the thread that made most calls.

    Attributes:
        calls: Calls of that thread.
        call_s: Seconds that a call took to be written down, at most: the shortest pause of its process
            between two calls of one thread, of which the program took a part itself.
        share: Of the time in which that thread's process was recorded, at most, 0 to 1.
    """

    calls: int
    call_s: float
    share: float

    @property
    def words(self) -> str:
        """Word it: "at most 0.4 % of the session: 12,000 calls of one thread, 90 ns each"."""
        of = percent(self.share, 1)
        bound = f"less than {of.removeprefix('< ')}" if of.startswith("<") else f"at most {of}"
        calls = plural(self.calls, "call")
        return f"{bound} of the session: {calls} of one thread, {human_seconds(self.call_s)} each"


def own_cost(processes: Sequence[ProcessData]) -> OwnCost | None:
    """Return it; None if another program recorded the session, or it has no single calls to tell by.

    Times of calls that go through libdarshan have a part of its cost in them: of these nothing is said.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    if any(process.meta.get("engine", {}).get("name") != "builtin" for process in processes):
        return None
    made = [(thread["events"], one) for one in processes for thread in one.meta.get("threads", ())]
    calls, process = max(made, key=lambda pair: pair[0], default=(0, processes[0]))
    batch = next(process.event_batches(COLUMNS), None) if calls else None
    call_ns = 0 if batch is None else _shortest_pause_ns(batch)
    if not call_ns:
        return None
    share = min(calls * call_ns / max(process.meta["duration_ns"], 1), 1.0)
    return OwnCost(int(calls), call_ns / 1e9, share)


def _shortest_pause_ns(batch: Any) -> int:
    """Return the shortest pause between two calls of one thread; 0 if no thread has two."""
    start, end, tid = (batch.column(name).to_numpy() for name in COLUMNS)
    order = np.lexsort((start, tid))
    start, end, tid = start[order], end[order], tid[order]
    pause = start[1:] - end[:-1]
    # Calls within others, as of a library that reads for the C library, have none.
    pauses = pause[(tid[1:] == tid[:-1]) & (pause >= 0)]
    return int(pauses.min()) if len(pauses) else 0
