"""`tfdarshan view`: shows sessions in a browser without TensorBoard."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_json, print_json, say


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "view",
        help="show the sessions of a logdir in a browser",
        description="Serve the I/O tab of TensorBoard without TensorBoard, and print its address. Only "
        "browsers of this machine reach it, and only with the token in the address. Ctrl-C ends it.",
    )
    parser.add_argument(
        "path",
        metavar="LOGDIR",
        nargs="?",
        default=DEFAULT_LOGDIR,
        help=f"the folder whose sessions are shown (default: {DEFAULT_LOGDIR})",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="where to listen (default: a free port)"
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    with suppress(KeyboardInterrupt):
        _serve(arguments)
    return 0


def _serve(arguments: argparse.Namespace) -> None:
    from tfdarshan.sessions.session_directory import no_logdir

    logdir = Path(arguments.path)
    if not logdir.is_dir():
        raise no_logdir(logdir)
    from tfdarshan.tensorboard_plugin.logdirs import Logdir
    from tfdarshan.tensorboard_plugin.standalone import listen

    server, address = listen(Logdir(logdir.absolute()), arguments.port)
    _say_where(address, server.server_address[1], as_json=arguments.json)
    signal.signal(signal.SIGTERM, _interrupt)
    server.serve_forever()


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _say_where(address: str, port: int, *, as_json: bool) -> None:
    """Print the address, and over ssh the command that makes it one of the user's own machine."""
    if as_json:
        print_json({"address": address, "port": port})
    else:
        say("Open this address in a browser. Ctrl-C ends the server.")
        say(address)
        if "SSH_CONNECTION" in os.environ:
            say(f"On your own machine, first run: ssh -N -L {port}:localhost:{port} {os.uname().nodename}")
    sys.stdout.flush()
