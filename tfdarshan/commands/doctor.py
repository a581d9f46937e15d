"""`tfdarshan doctor`: does it work here?"""

from __future__ import annotations

import argparse
from typing import Any

from tfdarshan.commands.arguments import add_json, print_json
from tfdarshan.self_check import Check, run_checks


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "doctor",
        help="check that tfdarshan works here",
        description="Check the platform, attach to this process, make known calls and compare the counts.",
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Runs the checks; the exit code is 1 if one fails."""
    checks = run_checks()
    if arguments.json:
        print_json({"ok": all(check.ok for check in checks), "checks": checks})
    else:
        for check in checks:
            print(_line(check))
    return 0 if all(check.ok for check in checks) else 1


def _line(check: Check) -> str:
    return f"{'ok    ' if check.ok else 'FAILED'}  {check.name:<22} {check.finding}"
