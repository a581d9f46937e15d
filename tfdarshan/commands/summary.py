"""`tfdarshan summary`: the verdict on a session, its fix, and what its I/O was, on one screen."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, check_least, print_json
from tfdarshan.commands.several import add_sessions, is_copy, opened, plain, ranked
from tfdarshan.commands.workers import USUAL, add_runner, check_runner, runner_of, runner_of_calls
from tfdarshan.file_name import exact_name

if TYPE_CHECKING:
    from tfdarshan.analysis.summary_data import SummaryData
    from tfdarshan.partials.serial import Runner
    from tfdarshan.session import Session

MOST_FILES = 5


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "summary",
        help="print a session's summary",
        description="Print the verdict on a session, and its file I/O. A Darshan log need not be imported. "
        "Of several sessions or logs, print a line each, the worst first.",
    )
    add_sessions(parser)
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print all figures: calls, time, sizes, patterns, coverage",
    )
    add_runner(parser, usual=USUAL)
    listed = f"files to list (default: {MOST_FILES}); implies -v"
    parser.add_argument("--top", type=int, metavar="N", help=listed)
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Print the summary."""
    top = MOST_FILES if arguments.top is None else arguments.top
    check_least("--top", top, 0)
    check_runner(arguments)
    if len(arguments.paths) > 1:
        with runner_of(arguments, processes=1) as runner:
            return _several(arguments, runner)
    with (
        opened(arguments.paths[0], skip_damaged=arguments.skip_damaged) as session,
        runner_of_calls(arguments, session, arguments.paths[0]) as runner,
    ):
        _print(session, arguments, top, runner)
    return 0


def _several(arguments: argparse.Namespace, runner: Runner) -> int:
    """Print a line for each."""
    from tfdarshan.reports.text.ranked_text import ranked_text
    from tfdarshan.terminal.paint import paint_for
    from tfdarshan.terminal.progress import LONG_WORK_S, Progress

    with Progress("reading sessions", after_s=LONG_WORK_S) as progress:
        rows = ranked(arguments.paths, skip_damaged=arguments.skip_damaged, runner=runner, progress=progress)
    if arguments.json:
        print_json({"sessions": plain(rows)})
    else:
        sys.stdout.write(ranked_text(rows, paint_for(sys.stdout)))
    return 0


def _print(session: Session, arguments: argparse.Namespace, top: int, runner: Runner | None) -> None:
    from tfdarshan.findings.diagnosis import summary_and_diagnosis
    from tfdarshan.findings.plain import plain_diagnosis
    from tfdarshan.reports.text.answer_text import answer_text
    from tfdarshan.reports.text.brief_text import brief_text
    from tfdarshan.reports.text.summary_text import render
    from tfdarshan.terminal.fitting import write_whole
    from tfdarshan.terminal.paint import paint_for

    data, diagnosis = summary_and_diagnosis(session, top, runner)
    if is_copy(arguments.paths[0]):
        # Where it was imported or copied to is removed in the end.
        data = dataclasses.replace(data, path=arguments.paths[0])
    paint = paint_for(sys.stdout)
    if arguments.json:
        print_json(plain_diagnosis(diagnosis) | _plain(data))
    elif arguments.verbose or arguments.top is not None:
        write_whole("\n".join([*answer_text(diagnosis, paint), "", ""]))
        sys.stdout.write(render(data, width=paint.width))
    else:
        write_whole(brief_text(data, diagnosis, paint))


def _plain(data: SummaryData) -> dict[str, Any]:
    plain = dataclasses.asdict(data)
    for entry in (*plain["slowest_files"], *plain["most_read_files"]):
        entry["path"] = exact_name(entry["path"])
    return plain
