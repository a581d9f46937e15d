"""The table: paper, here, and how the two compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tfdarshan.errors import StorageError, reason
from tfdarshan.terminal.columns import fitted

from .catalogue import WORKLOADS
from .result import ASSUMED, EXACT, NO_FIGURE, SCALE, SHAPE, Result, Row

KINDS = {
    EXACT: "must be equal",
    SHAPE: "the form of the curve",
    ASSUMED: "an input of the emulation or of the model, no finding",
    SCALE: "smaller here, or another machine",
}
HEAD = ("what", "paper", "here", "kind", "note")
BEGIN, END = "<!-- begin of measured -->\n", "<!-- end of measured -->\n"


def as_text(results: list[Result]) -> str:
    """Return the table for a terminal."""
    parts = []
    for result in _without_repeats(_ordered(results)):
        parts += [_title(result), *(f"  {line}" for line in _about(result)), ""]
        parts += [f"  {line}" for line in fitted([HEAD, *map(_cells, result.rows)])]
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def as_markdown(results: list[Result]) -> str:
    """Return the table for a page, one part per workload and tier: what can be held against the paper.

    Figures that the paper lacks, or that are of another machine, are in the table for a terminal.
    """
    ordered = _ordered(results)
    parts = [*_machines(ordered), "", "| kind | meaning |", "| --- | --- |"]
    parts += [f"| {kind} | {meaning} |" for kind, meaning in KINDS.items() if kind != SCALE]
    for result in filter(_comparable, _without_repeats(ordered)):
        parts += ["", f"### {_title(result)}", "", *(f"- {line}" for line in _settings(result)), ""]
        rows = [_line(_cells(row)) for row in _comparable(result)]
        parts += [_line(HEAD), _line(["---"] * len(HEAD)), *rows]
    return "\n".join(parts) + "\n"


def fill_page(page: Path, results: list[Result]) -> None:
    """Put the table between the marks of a page.

    Raises:
        StorageError: The page cannot be read or written, or has no marks.
    """
    try:
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        _, mark, after = rest.partition(END)
        if not mark:
            raise StorageError(f"{page} has no lines {BEGIN.strip()} and {END.strip()}: add them.")
        page.write_text(f"{before}{BEGIN}{as_markdown(results)}{END}{after}", encoding="utf-8")
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"the page {page} was not filled: {reason(error)}.") from error


def _machines(results: list[Result]) -> list[str]:
    """Name the machine, or each of several with its workloads."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        found.setdefault(result.machine.split("; load")[0], {})[result.workload] = None
    if len(found) == 1:
        return [f"Machine: {machine}." for machine in found]
    return [f"- Machine of {', '.join(names)}: {machine}." for machine, names in found.items()]


def _comparable(result: Result) -> list[Row]:
    return [row for row in result.rows if row.paper != NO_FIGURE and row.kind != SCALE]


def _ordered(results: list[Result]) -> list[Result]:
    names = [workload.name for workload in WORKLOADS]
    return sorted(results, key=lambda result: (names.index(result.workload), result.tier))


def _without_repeats(results: list[Result]) -> Iterator[Result]:
    """Leave out what a workload's earlier result has said: its legend, and rows of what is assumed."""
    said: set[object] = set()
    for result in results:
        legend = [line for line in result.legend if (result.workload, line) not in said]
        rows = [row for row in result.rows if row.kind != ASSUMED or (result.workload, row) not in said]
        yield replace(result, legend=legend, rows=rows)
        said.update((result.workload, what) for what in (*legend, *rows))


def _title(result: Result) -> str:
    paper = next(workload.paper for workload in WORKLOADS if workload.name == result.workload)
    return f"{result.workload} on {result.tier} ({paper})" if result.tier else f"{result.workload} ({paper})"


def _about(result: Result) -> list[str]:
    tier = [result.tier_said] if result.tier_said else []
    return [*_settings(result), *tier, *dict.fromkeys(result.notes), *result.legend]


def _settings(result: Result) -> list[str]:
    size = "quick" if result.quick else "published settings"
    runs = f"medians of {result.repeats} runs" if result.repeats > 1 else "1 run"
    wrong = [check for check in result.checks if not check.ok]
    checks = f"{len(result.checks)} exact checks, {len(wrong)} wrong"
    load = result.machine.partition("; ")[2]
    lines = [f"{size}, {runs}; {checks}", *([load] if load else [])]
    lines += [f"WRONG: {check.what}: {check.counted:,}, not {check.expected:,}" for check in wrong]
    if "files" in result.settings:
        lines.append(f"{result.settings['files']:,} files, {result.settings['megabytes']:,} MB")
    return lines


def _cells(row: Row) -> tuple[str, ...]:
    return (row.what, row.paper, row.here, row.kind, row.note)


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
