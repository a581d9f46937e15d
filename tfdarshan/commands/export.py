"""`tfdarshan export`: writes a session in another program's format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tfdarshan.commands.arguments import add_json, add_session, print_json, session_of
from tfdarshan.units import plural


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "export",
        help="write a session in another format",
        description="Write a session as a Darshan log, which PyDarshan reads.",
    )
    formats = parser.add_mutually_exclusive_group(required=True)
    formats.add_argument("--darshan", metavar="OUT", type=Path, help="write a Darshan log")
    add_session(parser)
    parser.add_argument("--process", type=int, metavar="PID", help="only this process (default: all)")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Writes the file and says what it has."""
    from tfdarshan.export.darshan_log import export_darshan

    exported = export_darshan(
        session_of(arguments), arguments.darshan, process=arguments.process, force=arguments.force
    )
    if arguments.json:
        print_json(exported)
    else:
        what = f"{plural(exported.processes, 'process', 'processes')}, {plural(exported.records, 'file')}"
        print(f"wrote {exported.path}: {what}; see it with: python -m darshan summary {exported.path}")
        for part in exported.left_out:
            print(f"  not in it: {part}")
    return 0
