"""`tfdarshan steps`: a session's training steps as a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfdarshan.analysis.calls.trace_span import trace_span
from tfdarshan.commands.arguments import (
    add_json,
    add_session,
    check_least,
    overlap_of,
    overlap_text,
    print_json,
    session_of,
)
from tfdarshan.errors import ConfigurationError
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout
from tfdarshan.terminal.paint import paint_for
from tfdarshan.terminal.wrapping import wrap
from tfdarshan.units import human_bytes, human_seconds

if TYPE_CHECKING:
    import pandas as pd

    from tfdarshan.session import Session

# The length of a step, which the table of steps has as a beginning and an end.
DURATION = "duration_ns"
IN_ORDER = "step"
# The column of exposed waits, in sessions that have any.
EXPOSED = "GPU wait"
WIDTHS = (10, 8, 12, 12, 12, 12, 12, 12, 12, 10)
# What is shown, and the columns that these are.
SHOWN = {
    IN_ORDER: IN_ORDER, "epoch": "epoch", "start": "start_ns", "time": DURATION,
    "input wait": "input_wait_ns", EXPOSED: "exposed_wait_ns", "I/O": "io_ns", "read": "bytes_read",
    "written": "bytes_written", "calls": "operations",
}  # fmt: skip
HEADS = tuple(SHOWN)
# Columns that are left out first on a narrow terminal.
LEAST = ("written", "epoch", "I/O", "calls")
NO_STEPS = (
    "the session has no steps: go over the input with `for batch in tfdarshan.steps(loader):`, and record "
    "again"
)
NO_TRACE = (
    "The session has no trace, so what the calls of each step did is not known: record with trace=True."
)


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "steps",
        help="list a session's training steps, the longest first",
        description="List a session's training steps, the longest first: how long each took, how long it "
        "waited for its input, and what its file calls moved. A call counts in the step that it began in. Of "
        "several ranks, the steps and calls are those of the rank that findings are about.",
    )
    add_session(parser)
    parser.add_argument(
        "--sort",
        default=DURATION,
        metavar="COLUMN",
        help=f"column to sort by, largest first: {DURATION}, or another of --json such as input_wait_ns; "
        f"{IN_ORDER} lists them in their order (default: {DURATION})",
    )
    parser.add_argument(
        "--limit", type=int, default=20, metavar="N", help="rows to list, 0 for all (default: 20)"
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Print the table."""
    check_least("--limit", arguments.limit, 0)
    session = session_of(arguments)
    steps = session.steps
    table = _sorted(steps.assign(**{DURATION: steps["end_ns"] - steps["start_ns"]}), arguments.sort)
    shown = table.head(arguments.limit) if arguments.limit else table
    if arguments.json:
        rows = shown.to_dict("records")
        rank = {} if session.joint is None else {"rank": session.joint.leading.rank}
        print_json({"matching": len(table), **rank, "steps": rows} | overlap_of(session))
        return 0
    sys.stdout.write(overlap_text(session))
    for line in wrap(_of_which_rank(session), paint_for(sys.stdout).width):
        print(line)
    if len(table):
        _print(shown)
    else:
        print(*wrap(f"{NO_STEPS}.", paint_for(sys.stdout).width), sep="\n")
    if len(table) > len(shown):
        print(f"{len(table) - len(shown):,} more rows: see --limit")
    for line in wrap(_about_calls(session, table), paint_for(sys.stdout).width):
        print(line)
    return 0


def _of_which_rank(session: Session) -> str:
    """Say whose steps are listed, "" without ranks."""
    if session.joint is None:
        return ""
    rank, name = session.joint.leading.rank, session.joint.ranks[0].directory.name
    return (
        f"The steps and their calls are those of rank {rank}, which findings are about. To list another "
        f"rank's steps, name its folder in the session's folder, such as {name}."
    )


def _about_calls(session: Session, table: pd.DataFrame) -> str:
    """Say why figures of calls are not known, "" if they are."""
    if (table["operations"] >= 0).all():
        return ""
    span = trace_span([one.meta for one in session.processes if one.rank == session.processes[0].rank])
    return NO_TRACE if span is None else span.sentence


def _sorted(table: pd.DataFrame, column: str) -> pd.DataFrame:
    column = SHOWN.get(column, column)
    if column not in table.columns or column == "source":
        names = ", ".join(name for name in table.columns if name != "source")
        raise ConfigurationError(f"there is no column {column} to sort by: take one of {names}.")
    return table.sort_values(column, ascending=column == IN_ORDER, kind="stable")


def _print(table: pd.DataFrame) -> None:
    known = (table["exposed_wait_ns"] >= 0).any()
    places = [place for place, head in enumerate(HEADS) if known or head != EXPOSED]
    whole = [HEADS, *(_cells(row) for row in table.itertuples())]
    rows = [[cells[place] for place in places] for cells in whole]
    columns = Columns(*(WIDTHS[place] for place in places))
    layout = Layout(columns, rows, paint_for(sys.stdout).width, least=[rows[0].index(head) for head in LEAST])
    print(*layout.all_lines(rows), *wrap(layout.note(), paint_for(sys.stdout).width), sep="\n")


def _cells(row: Any) -> tuple[str, ...]:
    return (
        f"{row.step:,}",
        _known("{:,}".format, row.epoch),
        _seconds(row.start_ns),
        _seconds(row.duration_ns),
        *(_known(_seconds, time) for time in (row.input_wait_ns, row.exposed_wait_ns, row.io_ns)),
        *(_known(human_bytes, moved) for moved in (row.bytes_read, row.bytes_written)),
        _known("{:,}".format, row.operations),
    )


def _known(worded: Callable[[int], str], figure: int) -> str:
    return worded(figure) if figure >= 0 else "-"


def _seconds(time_ns: int) -> str:
    return human_seconds(time_ns / 1e9)
