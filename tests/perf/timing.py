"""The timing of one run of a hot loop."""

from __future__ import annotations

from typing import NamedTuple


class Timing(NamedTuple):
    """Means per call over the threads of a run: wall-clock time and the threads' CPU time, in ns.

    `beside_ns` is the CPU time of the process's other threads meanwhile, for each call. `tail_ns` is the
    longest time of 99.9 % of the calls, from loops that time each call.
    """

    wall_ns: float
    cpu_ns: float
    beside_ns: float = 0.0
    tail_ns: float = 0.0
