"""Fills the generated tables of docs/ from the declarations they document; needs the built extension.

A page marks such a table with `<!-- table: NAME -->` and `<!-- end -->`; TABLES lists the names. What
commands print comes from golden files, as tools/printed_samples.py says. What `io_budget` limits is filled
into its docstring. Each finding has a page of its own. `--check` writes nothing and fails where a table or a
page is out of date.
"""

import argparse
import dataclasses
import functools
import json
import re
import sys
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from tfdarshan.comparison.metric import METRICS
from tfdarshan.findings.all_findings import CAUSES
from tfdarshan.native import _bridge
from tfdarshan.options import Options
from tfdarshan.recording.keyword_options import argument_lines
from tfdarshan.sessions import schema
from tfdarshan.testing import BUDGETS
from tools.api_page import api_rows
from tools.command_pages import verb_rows
from tools.finding_pages import finding_page, finding_rows
from tools.printed_samples import with_samples

DOCS = Path(__file__).parent.parent / "docs"
PACKAGE = DOCS.parent / "tfdarshan"
# As tools/version_pins.py names them.
SETS = ("oldest", "resolved", "newest")
# What io_budget limits comes before `logdir` in its docstring.
LIMITS_OF_DOCSTRING = re.compile(r"^( +)bytes_read: [A-Z].*?(?=\n +logdir: )", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"(?<=<!-- table: )([a-z-]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


def columns(declared: Iterable[schema.Column]) -> str:
    """Return the table of a table's columns."""
    return table(
        ("column", "dtype", "unit", "meaning"),
        ((f"`{c.name}`", c.dtype, c.unit, c.meaning) for c in declared),
    )


def counters(prefix: str) -> str:
    """Return the table of the per-file counters whose names begin with `prefix`."""
    declared = (*schema.counter_columns(), *schema.f_counter_columns())
    rows = ((f"`{c.name}`", c.unit, c.meaning) for c in declared if c.name.startswith(prefix))
    return table(("counter", "unit", "meaning"), rows)


def options() -> str:
    """Return the table of a session's options and their defaults."""
    return table(
        ("option", "default", "meaning", "values"),
        (
            (f"`{o.name}`", f"`{o.default!r}`", o.metadata["help"], o.metadata["allowed"])
            for o in dataclasses.fields(Options)
        ),
    )


def metrics() -> str:
    """Return the table of what sessions are compared by, and what of it `io_budget` limits."""
    rows = ((f"`{m.name}`", m.unit or "count", m.about, "yes" if m.name in BUDGETS else "") for m in METRICS)
    return table(("metric", "unit", "meaning", "budget"), rows)


def hooks() -> str:
    """Return the table of the hooked symbols by the operation they are recorded as."""
    rows = sorted((hook.operation or "(nothing)", hook.name) for hook in _bridge.hooks())
    return table(
        ("recorded as", "functions"),
        (
            (operation, ", ".join(f"`{name}`" for _, name in group))
            for operation, group in groupby(rows, key=lambda row: row[0])
        ),
    )


def versions() -> str:
    """Return the table of the versions that `make test-versions` tried."""
    known = json.loads((DOCS / "versions.json").read_text(encoding="utf-8"))
    rows = []
    for python, tensorflows in sorted(known.items(), key=lambda item: _numbers(item[0])):
        for tensorflow, pins in sorted(tensorflows.items(), key=lambda item: _numbers(item[0])):
            cells = (tried_version(pins.get(name, pins.get("", "not tried"))) for name in SETS)
            rows.append((python, tensorflow or ("any" if "" in pins else "has no wheel"), *cells))
    return table(("Python", "TensorFlow", "oldest packages", "as pip resolves", "newest packages"), rows)


def tried_version(result: Any) -> str:
    """Return what came of one environment as a cell, * if it works once it was mended."""
    if isinstance(result, str):
        return result
    packages = ", ".join(result["versions"][name] for name in ("numpy", "pandas", "pyarrow"))
    return f"{'' if result['ok'] else 'fails: '}{packages}{' *' if result['mends'] else ''}"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".") if number]


TABLES: dict[str, Callable[[], str]] = {
    "api": lambda: table(("name", "what it is"), api_rows()),
    "batch-columns": lambda: columns(schema.BATCH_COLUMNS),
    "event-columns": lambda: columns(schema.EVENT_COLUMNS),
    "file-columns": lambda: columns(schema.FILE_COLUMNS),
    "findings": lambda: table(("finding", "title"), finding_rows()),
    "layer-columns": lambda: columns(schema.LAYER_COLUMNS),
    "mapped-counters": lambda: counters("MMAP_"),
    "metrics": metrics,
    "options": options,
    "overview-columns": lambda: columns(schema.OVERVIEW_COLUMNS),
    "own-counters": lambda: counters("TFD_"),
    "posix-counters": lambda: counters("POSIX_"),
    "step-columns": lambda: columns(schema.STEP_COLUMNS),
    "stdio-counters": lambda: counters("STDIO_"),
    "verbs": lambda: table(("to", "command", "what it does"), verb_rows()),
    "versions": versions,
}


def filled(text: str) -> str:
    """Return a page's text with every generated table and sample as it should be."""
    return with_samples(MARK.sub(lambda match: f"{match[1]}{match[2]}{TABLES[match[1]]()}", text))


def filled_limits(text: str) -> str:
    """Return a module's text with the limits in its docstring as they should be."""
    return LIMITS_OF_DOCSTRING.sub(lambda match: "\n".join(limit_lines(match[1])), text)


def limit_lines(indent: str) -> list[str]:
    """Return what `io_budget` limits as lines of a docstring."""
    abouts = {metric.name: (metric.about, metric.unit or "a count") for metric in METRICS}
    arguments = ((name, f"Limit on {abouts[name][0]}; {abouts[name][1]}.") for name in BUDGETS)
    return [line for name, about in arguments for line in argument_lines(indent, name, about)]


def pages() -> dict[Path, Callable[[str], str]]:
    """Return the files that hold something generated, and what fills each."""
    filling: dict[Path, Callable[[str], str]] = dict.fromkeys(
        (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))), filled
    )
    filling[PACKAGE / "testing.py"] = filled_limits
    for path, text in finding_pages().items():
        filling[path] = functools.partial(lambda text, _: text, text)
    return filling


def finding_pages() -> dict[Path, str]:
    """Return the page of each finding, and "" for a page whose finding is gone."""
    folder = DOCS / "reference" / "findings"
    wanted = {folder / f"{cause.NAME}.md": finding_page(cause.NAME, cause.ABOUT) for cause in CAUSES}
    return dict.fromkeys(sorted(folder.glob("*.md")), "") | wanted


def _write(page: Path, text: str) -> None:
    """Write a page; one of no text is of a finding that is gone."""
    if not text:
        page.unlink()
        return
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, encoding="utf-8")


def main() -> int:
    """Fill or check every page and docstring; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing, fail where a table is out of date"
    )
    check = parser.parse_args().check
    stale = []
    for page, fill in pages().items():
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        if fill(text) != text or not fill(text):
            stale.append(page.name)
            if not check:
                _write(page, fill(text))
    if check and stale:
        print(f"out of date: {', '.join(stale)}", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
