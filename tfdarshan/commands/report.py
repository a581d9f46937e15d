"""`tfdarshan report`: a session's views as one HTML file."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import (
    add_json,
    add_session,
    folder_of,
    overlap_of,
    overlap_text,
    print_json,
    say,
    session_of,
)
from tfdarshan.units import human_bytes

if TYPE_CHECKING:
    from tfdarshan.session import Session
    from tfdarshan.staging.probe import TierProbe

KEY_VARIABLE = "TFDARSHAN_REDACT_KEY"


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "report",
        help="write a session as one HTML file",
        description="Write a session's charts and tables as one HTML file that opens without a network.",
    )
    add_session(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="the file to write, such as report.html",
    )
    parser.add_argument("--compare", metavar="LOGDIR", help="set another session beside it")
    parser.add_argument(
        "--redact",
        action="store_true",
        help=f"replace paths by tokens, leave out host and command; {KEY_VARIABLE} keys the tokens, so "
        "that nobody can check a guessed name",
    )
    parser.add_argument(
        "--fast",
        metavar="DIR",
        help="measure this folder as the fast tier of the Staging view, which else assumes one",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Writes the report and says where it is."""
    from tfdarshan.reports.html_report import write_report
    from tfdarshan.reports.views.redaction import Redaction
    from tfdarshan.reports.views.view_source import Source
    from tfdarshan.session import open_session

    folder = None if arguments.fast is None else folder_of("--fast", arguments.fast)
    redaction = Redaction(os.environ.get(KEY_VARIABLE, "")) if arguments.redact else None
    other = None
    if arguments.compare is not None:
        second = open_session(arguments.compare, skip_damaged=arguments.skip_damaged)
        other = Source(second, redaction=redaction)
    session = session_of(arguments)
    tier = None if folder is None else _measured(session, folder)
    source = Source(session, redaction=redaction, fast_tier=tier)
    written = write_report(source, arguments.output, compare=other, force=arguments.force)
    if arguments.json:
        print_json(dataclasses.asdict(written) | overlap_of(session))
    else:
        sys.stdout.write(overlap_text(session))
        views, size = ", ".join(written.views), human_bytes(written.size_bytes)
        say(f"wrote {written.path}: {views}; {size}")
    return 0


def _measured(session: Session, folder: str) -> TierProbe:
    """Measures a folder at the session's own concurrency."""
    from tfdarshan.staging.probe import probe_tier
    from tfdarshan.staging.run_facts import run_facts

    readers = round(max(run_facts([session]).readers, 1))
    return probe_tier(folder, readers)
