"""The table of promised and obtained gains: as text, as data, and in a page of the documentation."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.errors import ConfigurationError
from tfdarshan.terminal.columns import Columns

from ..machine import this_machine
from .names import NAMES

if TYPE_CHECKING:
    from .before_after import Outcome

MARKED = re.compile(r"(?<=<!-- gains:begin -->\n).*?(?=<!-- gains:end -->)", re.DOTALL)
GAINS = Columns(-28, " ", -20, " ", 9, " ", 9, "  ", -32, " ", 0)
HEAD = ("scenario", "cause", "first finding", "fix", "before", "after", "promised", "obtained")


def as_rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """Return the table's rows, as text."""
    return [_row(outcome) for outcome in outcomes]


def as_text(outcomes: Sequence[Outcome]) -> str:
    """Return the table for a terminal, and what is not as it must be."""
    lines = []
    for outcome in outcomes:
        name, _, found, _, before, after, promised, obtained = _row(outcome)
        lines.append(GAINS.row(name, found, before, after, promised, obtained))
        lines += [f"    WRONG: {problem}" for problem in outcome.problems]
        lines += [f"    {outcome.verdict}"]
    return "\n".join(lines)


def as_plain(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as data."""
    promise = outcome.promise
    return {
        "name": outcome.scenario.name,
        "expected": outcome.scenario.finding,
        "found": outcome.found,
        "verdict": outcome.verdict,
        "promised": None if promise is None else [promise.speedup, *promise.speedup_range],
        "obtained": outcome.obtained,
        "before_s": outcome.before_s,
        "after_s": outcome.after_s,
        "problems": outcome.problems,
        "disturbed": outcome.disturbed,
        "crowded": outcome.crowded,
    }


def fill_page(page: Path, outcomes: Sequence[Outcome]) -> None:
    """Put the table between the marks of a page; rows of scenarios that were not run stay.

    Raises:
        ConfigurationError: The page has none.
    """
    text = page.read_text(encoding="utf-8")
    marked = MARKED.search(text)
    if not marked:
        raise ConfigurationError(f"{page} has no <!-- gains:begin --> and <!-- gains:end --> to fill.")
    runs = max(len(outcome.before_s) for outcome in outcomes)
    rows = _rows_of(marked[0]) | {row[0]: row for row in as_rows(outcomes)}
    lines = [HEAD, tuple("---" for _ in HEAD), *(rows[name] for name in NAMES if name in rows)]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    machine = this_machine().line()
    note = (
        f"Medians of {runs} runs each, before and after in turn, by the wall clock; on {machine}.\n"
        "Runs for 2 % of which or more another virtual machine had a processor were made again.\n"
        "A promise is what the finding said of the run before: expected, and from lower to upper bound.\n"
    )
    page.write_text(MARKED.sub(lambda _: f"{note}\n{table}", text), encoding="utf-8")


def _rows_of(table: str) -> dict[str, tuple[str, ...]]:
    cells = [tuple(line.strip("|\n ").split(" | ")) for line in table.splitlines() if line.startswith("| ")]
    return {row[0]: row for row in cells if row[0] in NAMES}


def _row(outcome: Outcome) -> tuple[str, ...]:
    scenario = outcome.scenario
    found = _found(outcome)
    gain = outcome.promise
    promised = "-"
    if gain is not None:
        low, high = (_times(value) for value in gain.speedup_range)
        promised = f"{_times(gain.speedup)} ({low} to {high})"
    obtained = "-" if outcome.obtained is None else _times(outcome.obtained)
    return (
        scenario.name,
        scenario.cause,
        found,
        scenario.fix or "-",
        _seconds(outcome.before_s),
        _seconds(outcome.after_s),
        promised,
        obtained,
    )


def _found(outcome: Outcome) -> str:
    """Name what came first: of notes only the one that was to be found, for others say that all is well."""
    first = next(iter(outcome.found[0]), ("note", ""))
    if any(outcome.other_first):
        return f"{first[1]}, which gives more, then {outcome.scenario.finding}"
    if first[0] != "note":
        return first[1]
    wanted = ("note", outcome.scenario.finding)
    return f"{wanted[1]} (a note)" if wanted in outcome.found[0] else "none"


def _times(value: float) -> str:
    return "any" if math.isinf(value) else f"{value:.2f}x"


def _seconds(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} s" if values else "-"
