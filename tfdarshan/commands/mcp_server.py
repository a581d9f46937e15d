"""`tfdarshan mcp`: lets a coding assistant ask about the sessions of one logdir."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_json, print_json, say
from tfdarshan.errors import ConfigurationError


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "mcp",
        help="let a coding assistant ask about the sessions of a logdir",
        description="Serve the Model Context Protocol on standard input and output, so that a coding "
        "assistant can ask about the sessions of one logdir: which there are, the verdict, findings, files, "
        "steps, comparisons and what-if. The answers are those of --json. Nothing is written into the "
        "logdir.",
    )
    parser.add_argument(
        "path",
        metavar="LOGDIR",
        nargs="?",
        default=DEFAULT_LOGDIR,
        help=f"the only folder that is read (default: {DEFAULT_LOGDIR})",
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Serve until standard input ends."""
    from tfdarshan.sessions.session_directory import no_logdir

    logdir = Path(arguments.path)
    if not logdir.is_dir():
        raise no_logdir(logdir)
    try:
        from tfdarshan.commands.mcp_tools import described, server_of
    except ImportError as error:
        if str(error.name).startswith("tfdarshan"):
            raise
        raise ConfigurationError(
            "mcp needs the package mcp, 2.3 or newer: run `pip install 'tfdarshan[mcp]'`."
        ) from error
    server = server_of(logdir)
    if arguments.json:
        print_json({"tools": described(server)})
        return 0
    if sys.stdin.isatty():
        say(
            "tfdarshan: waiting for an assistant on standard input: give `tfdarshan mcp LOGDIR` to it as the "
            "command of an MCP server. Ctrl-C ends this.",
            error=True,
        )
    with suppress(KeyboardInterrupt):
        server.run("stdio")
    return 0
