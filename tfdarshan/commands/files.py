"""`tfdarshan files`: a session's files as a table."""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfdarshan.analysis.files.counter_groups import (
    BYTES_READ,
    BYTES_WRITTEN,
    META_TIMES,
    NO_OPENS,
    OPENS,
    READ_TIMES,
    READS,
    WRITE_TIMES,
    WRITES,
)
from tfdarshan.analysis.files.mapped_reads import MODULE, mapped_file
from tfdarshan.commands.arguments import (
    add_json,
    add_session,
    check_least,
    overlap_of,
    overlap_text,
    print_json,
    step_range,
)
from tfdarshan.commands.several import opened
from tfdarshan.errors import ConfigurationError
from tfdarshan.file_name import exact_name, printable
from tfdarshan.sessions.schema import FILE_MODULES, LAYERS
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout
from tfdarshan.terminal.paint import paint_for
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds, plural

if TYPE_CHECKING:
    import pandas as pd

    from tfdarshan.analysis.steps.files_of_steps import FilesOfSteps
    from tfdarshan.session import Session

# Sums over a row that --sort knows besides the table's own columns, and what is taken off again.
SHORT_COLUMNS = {
    "time_s": READ_TIMES + WRITE_TIMES + META_TIMES,
    "opens": OPENS,
    "reads": READS,
    "zero_reads": ("TFD_ZERO_READS",),
    "bytes_read": BYTES_READ,
    "writes": WRITES,
    "bytes_written": BYTES_WRITTEN,
}
LESS = {"opens": NO_OPENS}
COUNTER = OPENS[0]
# The heads of the tables that are shown, and the columns that they are.
SHOWN = {
    "time": "time_s", "opens": "opens", "reads": "reads", "of 0 B": "zero_reads", "read": "bytes_read",
    "writes": "writes", "written": "bytes_written", "module": "module", "path": "path",
}  # fmt: skip
SHOWN_MAPPED = {
    "in faults": "MMAP_F_FAULT_TIME", "slowest": "MMAP_F_MAX_FAULT_TIME", "faults": "MMAP_FAULTS",
    "bytes in": "MMAP_BYTES_IN", "file size": "size_bytes",
}  # fmt: skip
IN_ORDER = ("path", "module")
TABLE = Columns(10, 9, 10, 9, 10, 10, 10, "  ", -6, " ", 0)


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "files",
        help="list a session's files",
        description="List a session's files, one row per process, file and module; of an imported Darshan "
        "log its MPI-IO, HDF5, PnetCDF and Lustre records after them. With --json: all counters of each. "
        "With --steps or --epoch: what the calls that began in these steps did.",
    )
    add_session(parser)
    parser.add_argument(
        "--sort",
        default="time_s",
        metavar="COLUMN",
        help=f"column to sort by, largest first: {', '.join(SHORT_COLUMNS)}, path or any counter (default: "
        "time_s)",
    )
    parser.add_argument(
        "--limit", type=int, default=20, metavar="N", help="rows to list, 0 for all (default: 20)"
    )
    parser.add_argument(
        "--filter", metavar="PATTERN", help="list only paths that match, such as '*.jpg'; * matches / too"
    )
    parser.add_argument(
        "--module",
        choices=(*FILE_MODULES, *LAYERS),
        metavar="MODULE",
        help=f"list only rows of one module: {', '.join((*FILE_MODULES, *LAYERS))} (all but the first three "
        "are only in imported Darshan logs)",
    )
    parser.add_argument(
        "--steps",
        metavar="FIRST-LAST",
        help="count only calls that began in these steps, such as 100-200, or 100",
    )
    parser.add_argument(
        "--epoch", type=int, metavar="N", help="count only calls that began in steps of this epoch, from 1 on"
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Print the table."""
    check_least("--limit", arguments.limit, 0)
    with opened(arguments.path, skip_damaged=arguments.skip_damaged) as session:
        return _list(session, arguments)


def _list(session: Session, arguments: argparse.Namespace) -> int:
    if arguments.steps is not None or arguments.epoch is not None:
        return _list_of_steps(session, arguments)
    table, layers = (_chosen(rows, arguments) for rows in (session.files, session.layers))
    matching = len(table)
    listed = _listed_layers(layers, arguments.limit)
    table = _sorted(table, arguments.sort)
    if arguments.limit > 0:
        table = table.head(arguments.limit)
    if arguments.json:
        rows = _plain_rows(table)
        found = {"matching": matching, "files": rows, "layers": _plain_rows(listed)}
        print_json(found | overlap_of(session))
        return 0
    sys.stdout.write(overlap_text(session))
    mapped = table["module"] == MODULE
    if matching and not mapped.all():
        _print(table[~mapped], _labels(session))
    elif not matching and not len(listed):
        print(_nothing(arguments))
    if mapped.any():
        _print_mapped(table[mapped], alone=bool(mapped.all()))
    if matching > len(table):
        print(f"{matching - len(table):,} more rows: see --limit")
    if len(listed):
        from tfdarshan.reports.text.layers_text import layer_rows

        print(*(["", "Other layers of the log"] if matching else []), sep="\n", end="\n" if matching else "")
        print(*layer_rows(listed.to_dict("records"), paint_for(sys.stdout).width), sep="\n")
        if len(layers) > len(listed):
            print(f"{len(layers) - len(listed):,} more rows: see --limit")
    return 0


def _list_of_steps(session: Session, arguments: argparse.Namespace) -> int:
    """Print the files that calls of some steps used."""
    from tfdarshan.analysis.steps.files_of_steps import files_of_steps

    steps = None if arguments.steps is None else step_range("--steps", arguments.steps)
    found = files_of_steps(session.processes, steps=steps, epoch=arguments.epoch)
    table = _chosen(found.rows, arguments)
    shown = _sorted(table, arguments.sort)
    shown = shown.head(arguments.limit) if arguments.limit else shown
    if arguments.json:
        of = {"steps": found.steps, "missing_calls": found.missing_calls}
        if found.ranks is not None:
            of["ranks"] = found.ranks
        print_json({"matching": len(table), **of, "files": _plain_rows(shown)} | overlap_of(session))
        return 0
    width = paint_for(sys.stdout).width
    sys.stdout.write(overlap_text(session))
    print(*wrap(_of_which_steps(found), width), "", sep="\n")
    if len(table):
        _print(shown)
    else:
        print(_nothing(arguments, "no call of these steps used a file"))
    if len(table) > len(shown):
        print(f"{len(table) - len(shown):,} more rows: see --limit")
    return 0


def _of_which_steps(found: FilesOfSteps) -> str:
    first, last = found.steps[0], found.steps[-1]
    which = f"Step {first:,}" if len(found.steps) == 1 else f"Steps {first:,} to {last:,}"
    began = "it" if len(found.steps) == 1 else "one of them"
    if found.ranks is not None:
        which += f" of {plural(found.ranks, 'rank')}"
        began = "such a step of its own rank"
    said = f"{which}: a call counts if it began in {began}."
    if found.missing_calls:
        lacks = plural(found.missing_calls, "call")
        said += f" The session's trace lacks {lacks}, which may be of these steps: record with more memory."
    return said


def _chosen(table: pd.DataFrame, arguments: argparse.Namespace) -> pd.DataFrame:
    """Return the rows that --module and --filter leave."""
    import pandas as pd

    if arguments.module:
        table = table[table["module"] == arguments.module]
    if arguments.filter:
        pattern = re.compile(fnmatch.translate(arguments.filter))
        # Of a table without rows, a list would choose columns.
        chosen = pd.Series([pattern.match(path) is not None for path in table["path"]], table.index, bool)
        table = table[chosen]
    return table


def _listed_layers(layers: pd.DataFrame, limit: int) -> pd.DataFrame:
    """Return as many rows of the other layers, those of most time first."""
    times = layers[["read_s", "write_s", "meta_s"]].astype(float).sum(axis=1)
    ordered = layers.loc[times.sort_values(ascending=False, kind="stable").index]
    return ordered.head(limit) if limit else ordered


def _plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    known = table.astype(object).where(table.notna(), None)
    return [row | {"path": exact_name(row["path"])} for row in known.to_dict("records")]


def _nothing(arguments: argparse.Namespace, otherwise: str = "the session has no files") -> str:
    names = ("filter", "module")
    given = [f"--{name} {printable(getattr(arguments, name))}" for name in names if getattr(arguments, name)]
    if not given:
        return otherwise
    options = " and ".join(given)
    return f"no file of the session matches {options}: leave {options} out to list all files."


def _sorted(table: pd.DataFrame, column: str) -> pd.DataFrame:
    column = (SHOWN | SHOWN_MAPPED).get(column, column)
    if column in table.columns:
        by = table[column]
    elif column in SHORT_COLUMNS:
        by = _sum(table, column)
    else:
        known = dict.fromkeys(["path", *SHORT_COLUMNS])
        if COUNTER not in table.columns:
            # What calls of steps are added up to are all columns there are.
            known |= dict.fromkeys(table.columns)
        or_counter = f" or a counter such as {COUNTER}" if COUNTER in table.columns else ""
        raise ConfigurationError(f"there is no column {column}: sort by {', '.join(known)}{or_counter}.")
    return table.loc[by.sort_values(ascending=column in IN_ORDER, kind="stable").index]


def _sum(table: pd.DataFrame, name: str) -> pd.Series[Any]:
    """Return the sums of SHORT_COLUMNS, without what a log has of a clock that was set back."""
    added = table[list(SHORT_COLUMNS[name])].clip(lower=0)
    # What a log does not count at all is not known.
    found = added.sum(axis=1) if len(added.columns) > 1 else added.iloc[:, 0]
    return found - table[list(LESS[name])].sum(axis=1) if name in LESS else found


def _figures(table: pd.DataFrame) -> pd.DataFrame:
    """Return what is shown of each row: sums of its counters, or what has been added up from calls."""
    if "opens" in table:
        return table
    figures = {name: _sum(table, name) for name in SHORT_COLUMNS}
    return table[["module", "path", "pid"]].assign(**figures)


def _labels(session: Session) -> Callable[[int], str]:
    """Return what words behind a path whose row it is, by the process's number; nothing if there is one."""
    from tfdarshan.analysis.ranks.process_list import labels_of
    from tfdarshan.reports.text.summary_text import process_words

    known = labels_of(session.processes)
    if len(session.processes) == 1:
        return lambda pid: ""
    return lambda pid: f" ({printable(known.get(pid) or process_words(pid))})"


def _print(table: pd.DataFrame, whose: Callable[[int], str] = lambda pid: "") -> None:
    rows = [
        tuple(SHOWN),
        *(
            (
                human_seconds(row.time_s),
                _count(row.opens),
                _count(row.reads),
                _count(row.zero_reads),
                human_bytes(row.bytes_read),
                _count(row.writes),
                human_bytes(row.bytes_written),
                row.module,
                printable(row.path) + (whose(row.pid) if "pid" in table else ""),
            )
            for row in _figures(table).itertuples()
        ),
    ]
    # A pipe, such as to grep, has each file on a line.
    width = paint_for(sys.stdout).width if sys.stdout.isatty() else sys.maxsize
    layout = Layout(TABLE, rows, width, least=(3, 7, 1, 5))
    print(*layout.all_lines(rows), *wrap(layout.note(), width), sep="\n")


def _print_mapped(table: pd.DataFrame, *, alone: bool) -> None:
    from tfdarshan.reports.text.mapped_text import mapped_rows

    print(f"{'' if alone else chr(10)}Mapped files (page faults that were seen)")
    rows = (mapped_file(row) for row in table.to_dict("records"))
    print(*mapped_rows(rows, paint_for(sys.stdout).width), sep="\n")


def _count(value: float) -> str:
    """Word a count; an imported log may lack one, which is NaN."""
    return "-" if value != value else f"{int(value):,}"
