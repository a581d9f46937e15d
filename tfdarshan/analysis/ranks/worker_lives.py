"""Workers of a session that run at a time: a loader may start new ones for each epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.reader_count import ThreadLives, threads_alive
from tfdarshan.sessions.process_role import WORKER, session_roles


@dataclass(frozen=True)
class WorkerLives:
    """Worker processes of a session.

    Attributes:
        started: How many were started in all.
        at_a_time: How many run at a time, the median over the time in which some do; 0 without workers.
    """

    started: int
    at_a_time: int

    @property
    def started_anew(self) -> bool:
        """Whether workers were started in place of others, as for each epoch."""
        return self.started > self.at_a_time


def worker_lives(meta: Sequence[dict[str, Any]]) -> WorkerLives:
    """Return how many workers were started, and how many run at a time.

    Args:
        meta: Metadata of a session's processes.
    """
    workers = [one for one, role in zip(meta, session_roles(meta), strict=True) if role.kind == WORKER]
    if not workers:
        return WorkerLives(0, 0)
    first_ns = np.array([one["start_ns"] for one in workers], np.int64)
    last_ns = first_ns + np.array([one["duration_ns"] for one in workers], np.int64)
    alive = threads_alive(np.ones(len(workers)), ThreadLives(first_ns, last_ns))
    return WorkerLives(len(workers), round(alive))
