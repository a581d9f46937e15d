"""`tfdarshan import`: makes a session of a Darshan log."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_json, print_json, say
from tfdarshan.file_name import shell_word
from tfdarshan.units import plural


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "import",
        help="make a session of a Darshan log",
        description="Make a session of a Darshan log, through PyDarshan (pip install 'tfdarshan[darshan]').",
    )
    parser.add_argument("log", metavar="LOG", type=Path, help="the Darshan log")
    parser.add_argument(
        "--logdir",
        default=DEFAULT_LOGDIR,
        metavar="DIR",
        type=Path,
        help=f"where the session goes (default: {DEFAULT_LOGDIR})",
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Make the session and say where it is."""
    from tfdarshan.formats.importing.darshan_log import import_darshan
    from tfdarshan.reports.text.layers_text import not_known_line

    imported = import_darshan(arguments.log, arguments.logdir)
    if arguments.json:
        print_json(imported)
    else:
        what = ", ".join(
            (
                plural(imported.processes, "process", "processes"),
                plural(imported.files, "file"),
                plural(imported.segments, "segment"),
            )
        )
        see = f"tfdarshan summary {shell_word(imported.path)}"
        say(f"imported {arguments.log}: {what}; see it with: {see}")
        if imported.notes:
            say(f"  {not_known_line(imported.notes)}")
    return 0
