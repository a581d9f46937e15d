"""The rows of the simulated axis: with every assumption, and both ways of waking readers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from ..result import ASSUMED, NO_FIGURE, Result
from .assumptions import Assumptions
from .scaling_model import ARMS, AXIS, LMDB, WAKES, Run, Wake, simulate

PAPER_FACTOR = "up to 65x"
FITTED = "a fitted model"
WORDS: dict[Wake, str] = {"all": "wake-all, 2019", "one": "wake-one, today"}
WITHOUT_SIMPY = "the axis of 1 to 9,216 processes was left out: pip install simpy"


def add_model_rows(result: Result, say: Callable[[str], None]) -> None:
    """Simulate all arms on the paper's axis and add rows; a note alone where SimPy is missing."""
    if importlib.util.find_spec("simpy") is None:
        result.notes.append(WITHOUT_SIMPY)
        say(WITHOUT_SIMPY)
        return
    assumed = Assumptions()
    result.legend.append(f"model: {FITTED}; all that follows is assumed")
    result.legend += [f"model: {line}" for line in assumed.worded()]
    processes = " / ".join(map(str, AXIS))
    result.row("model: processes", NO_FIGURE, processes, ASSUMED, "rows below have as many figures")
    for wake in WAKES:
        runs = {(arm, count): simulate(arm, count, wake, assumed) for arm in ARMS for count in AXIS}
        _add_arms(result, wake, runs)
        _add_whole(result, wake, runs)
        say(f"the model's axis is done ({WORDS[wake]})")


def _add_arms(result: Result, wake: Wake, runs: dict[tuple[str, int], Run]) -> None:
    usual = runs[LMDB, AXIS[-1]]
    for arm in ARMS:
        seconds = " / ".join(f"{runs[arm, count].reading_s:.3g}" for count in AXIS)
        times = usual.total_s / runs[arm, AXIS[-1]].total_s
        note = f"application {times:.3g}x at {AXIS[-1]:,}; {FITTED}" if arm != LMDB else FITTED
        result.row(f"model ({WORDS[wake]}): {arm}, s of reading", "-", seconds, ASSUMED, note)


def _add_whole(result: Result, wake: Wake, runs: dict[tuple[str, int], Run]) -> None:
    last, usual = AXIS[-1], runs[LMDB, AXIS[-1]]
    best = min(ARMS, key=lambda arm: runs[arm, last].total_s)
    gain = f"{usual.total_s / runs[best, last].total_s:.3g}x"
    share = f"{100 * usual.reading_s / usual.total_s:.0f} %"
    where = f"model ({WORDS[wake]}), {last:,} processes"
    note = f"{best}; {FITTED}"
    result.row(f"{where}: application, best arm by LMDB", PAPER_FACTOR, gain, ASSUMED, note)
    result.row(f"{where}: reading's share with LMDB", "up to 90 %", share, ASSUMED, FITTED)
