"""`tfdarshan summary`: what a session's I/O was, on one screen."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from tfdarshan.commands.arguments import add_json, add_session, print_json, session_of
from tfdarshan.summary import render
from tfdarshan.summary_data import summarize


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "summary", help="print a session's summary", description="Print what a session's file I/O was."
    )
    add_session(parser)
    parser.add_argument("--top", type=int, default=5, metavar="N", help="files to list (default: 5)")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Prints the summary."""
    data = summarize(session_of(arguments), max(arguments.top, 0))
    if arguments.json:
        print_json(data)
    else:
        sys.stdout.write(render(data))
    return 0
