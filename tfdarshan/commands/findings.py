"""`tfdarshan findings`: what makes a job slow, what each cause costs, and what its fix gives."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from tfdarshan.commands.arguments import (
    add_json,
    add_session,
    overlap_of,
    overlap_text,
    print_json,
    session_of,
)
from tfdarshan.commands.workers import USUAL, add_runner, check_runner, runner_of_calls


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "findings",
        help="say why a job is slow, and what each fix gives",
        description="Say what makes a job slow: the causes by the seconds they cost, the line to change, the "
        "speedup to expect as a range, and when to ignore the cause (docs/reference/findings.md).",
    )
    add_session(parser)
    add_runner(parser, usual=USUAL)
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Print the findings."""
    from tfdarshan.findings.diagnosis import diagnose
    from tfdarshan.findings.plain import plain_diagnosis
    from tfdarshan.reports.text.findings_text import findings_text
    from tfdarshan.terminal.fitting import write_whole
    from tfdarshan.terminal.paint import paint_for

    check_runner(arguments)
    session = session_of(arguments)
    with runner_of_calls(arguments, session) as runner:
        diagnosis = diagnose(session, runner)
    if arguments.json:
        print_json(plain_diagnosis(diagnosis) | overlap_of(session))
    else:
        width = paint_for(sys.stdout).width
        write_whole(overlap_text(session) + findings_text(diagnosis, width))
    return 0
