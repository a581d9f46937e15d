"""Fills the generated tables of docs/ from the declarations they document; needs the built extension.

A page marks such a table with `<!-- table: NAME -->` and `<!-- end -->`; TABLES lists the names.
`--check` writes nothing and fails where a table is out of date.
"""

import argparse
import dataclasses
import re
import sys
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path

from tfdarshan.comparison.metric import METRICS
from tfdarshan.native import _bridge
from tfdarshan.options import Options
from tfdarshan.sessions import schema
from tfdarshan.testing import BUDGETS

DOCS = Path(__file__).parent.parent / "docs"
MARK = re.compile(r"(?<=<!-- table: )([a-z-]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Returns a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


def columns(declared: Iterable[schema.Column]) -> str:
    """Returns the table of a table's columns."""
    return table(
        ("column", "dtype", "unit", "meaning"),
        ((f"`{c.name}`", c.dtype, c.unit, c.meaning) for c in declared),
    )


def counters(prefix: str) -> str:
    """Returns the table of the per-file counters whose names begin with `prefix`."""
    declared = (*schema.counter_columns(), *schema.f_counter_columns())
    return columns(c for c in declared if c.name.startswith(prefix))


def options() -> str:
    """Returns the table of a session's options and their defaults."""
    return table(
        ("option", "default", "meaning"),
        ((f"`{o.name}`", f"`{o.default!r}`", o.metadata["help"]) for o in dataclasses.fields(Options)),
    )


def budgets() -> str:
    """Returns the table of what `io_budget` limits."""
    chosen = [metric for metric in METRICS if metric.name in BUDGETS]
    return table(("budget", "unit", "meaning"), ((f"`{m.name}`", m.unit or "count", m.about) for m in chosen))


def metrics() -> str:
    """Returns the table of what sessions are compared by."""
    return table(
        ("metric", "unit", "meaning"), ((f"`{m.name}`", m.unit or "count", m.about) for m in METRICS)
    )


def hooks() -> str:
    """Returns the table of the hooked symbols by the operation they are recorded as."""
    rows = sorted((hook.operation or "(nothing)", hook.name) for hook in _bridge.hooks())
    return table(
        ("recorded as", "functions"),
        (
            (operation, ", ".join(f"`{name}`" for _, name in group))
            for operation, group in groupby(rows, key=lambda row: row[0])
        ),
    )


TABLES: dict[str, Callable[[], str]] = {
    "budgets": budgets,
    "event-columns": lambda: columns(schema.EVENT_COLUMNS),
    "file-columns": lambda: columns(schema.FILE_COLUMNS),
    "hooks": hooks,
    "metrics": metrics,
    "options": options,
    "overview-columns": lambda: columns(schema.OVERVIEW_COLUMNS),
    "own-counters": lambda: counters("TFD_"),
    "posix-counters": lambda: counters("POSIX_"),
    "step-columns": lambda: columns(schema.STEP_COLUMNS),
    "stdio-counters": lambda: counters("STDIO_"),
}


def filled(text: str) -> str:
    """Returns a page's text with every generated table as it should be."""
    return MARK.sub(lambda match: f"{match[1]}{match[2]}{TABLES[match[1]]()}", text)


def main() -> int:
    """Fills or checks every page of docs/; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing, fail where a table is out of date"
    )
    check = parser.parse_args().check
    stale = []
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if filled(text) != text:
            stale.append(page.name)
            if not check:
                page.write_text(filled(text), encoding="utf-8")
    if check and stale:
        print(f"out of date: {', '.join(stale)}", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
