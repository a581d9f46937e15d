"""How long the tab's routes take for a large session, and what the server's memory grows by."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "the I/O tab"
EVENTS_PER_FILE = 10
PROCESSES = 64
FIRST = "beginning of the overview"
WORDS = "words of overview"
PAINT_ROUNDS = 3
EMPTY = "empty tab"
WANTED_S = {
    FIRST: 1.0,
    WORDS: 1.0,
    "overview": 1.0,
    "timeline": 1.0,
    "zoom to 1 %": 0.25,
    "file search, sort and page": 0.15,
}
WANTED_GROWTH_MIB = 300.0


def tab_cost(folder: Path, *, files: int) -> tuple[list[Row], list[str]]:
    """Return the rows, or a sentence where TensorBoard is not installed."""
    if find_spec("tensorboard") is None:
        return [], ["the I/O tab is left out: TensorBoard is not installed."]
    label = f"{files * EVENTS_PER_FILE / 1e6:g} M events, {files:,} files"
    progress.show(f"asking the tab for {label}")
    run_child("image_session_probe", "make", folder, files)
    found = run_child("tab_probe", folder)
    rows = [
        single_row(GROUP, f"{name}, {when}", "s", [taken], wanted=WANTED_S.get(name), note=label)
        for when, times in (("first", found["first_s"]), ("again", found["again_s"]))
        for name, taken in times.items()
    ]
    painted, missing = _painted(folder)
    rows += painted
    for name, key, wanted in (
        ("memory of the server, growth", "growth_mib", WANTED_GROWTH_MIB),
        ("the same at its peak", "peak_growth_mib", None),
    ):
        rows.append(single_row(GROUP, name, "MiB", [found[key]], wanted=wanted, note=label))
    for what, task in (("processes", "make"), ("ranks", "make_ranks")):
        rows += _of_many(folder / what, files, what, task)
    return rows, missing


def _of_many(folder: Path, files: int, what: str, task: str) -> list[Row]:
    """Return how long the overview takes of as many calls and files in many processes, and to paint."""
    label = f"{PROCESSES} {what} with as many calls and files together"
    progress.show(f"asking the tab for {label}")
    run_child("image_session_probe", task, folder, files, PROCESSES)
    found = run_child("tab_probe", folder)
    rows = [
        single_row(
            GROUP, f"{name}, {PROCESSES} {what}", "s", [found["first_s"][name]], wanted=wanted, note=label
        )
        for name, wanted in ((FIRST, WANTED_S[FIRST]), ("overview", None))
    ]
    return rows + _painted(folder, f", {PROCESSES} {what}")[0]


def _painted(folder: Path, of: str = "") -> tuple[list[Row], list[str]]:
    """Return how long the first views take in a browser, from the tab's frame being there on."""
    if find_spec("playwright") is None or shutil.which("chromium") is None:
        return [], ["first paint is left out: playwright or chromium is not installed."]
    found = run_child("paint_probe", folder, PAINT_ROUNDS)
    rows = [
        single_row(
            GROUP,
            f"paint of {name}{of} in chromium, {when}",
            "s",
            [taken],
            wanted=WANTED_S.get(name),
            note="" if name == EMPTY else f"{taken / times[EMPTY]:.1f} times the empty tab",
        )
        for when, times in found.items()
        for name, taken in times.items()
    ]
    return rows, []
