"""`tfdarshan summary`: the verdict on a session, and what its I/O was, on one screen."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, add_session, check_least, print_json, session_of
from tfdarshan.file_name import exact_name

if TYPE_CHECKING:
    from tfdarshan.analysis.summary_data import SummaryData


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "summary",
        help="print a session's summary",
        description="Print what a session's file I/O was, the verdict on it first.",
    )
    add_session(parser)
    parser.add_argument("--top", type=int, default=5, metavar="N", help="files to list (default: 5)")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Prints the summary."""
    from tfdarshan.findings.diagnosis import diagnosis_of
    from tfdarshan.findings.measures import measure
    from tfdarshan.findings.plain import plain_diagnosis
    from tfdarshan.reports.text.findings_text import verdict_text
    from tfdarshan.reports.text.summary_text import render

    check_least("--top", arguments.top, 0)
    session = session_of(arguments)
    measures = measure(session, arguments.top)
    data, diagnosis = measures.summary, diagnosis_of(measures)
    if arguments.json:
        print_json(plain_diagnosis(diagnosis) | _plain(data))
    else:
        sys.stdout.write(render(data, verdict_text(diagnosis)))
    return 0


def _plain(data: SummaryData) -> dict[str, Any]:
    plain = dataclasses.asdict(data)
    for entry in (*plain["slowest_files"], *plain["most_read_files"]):
        entry["path"] = exact_name(entry["path"])
    return plain
