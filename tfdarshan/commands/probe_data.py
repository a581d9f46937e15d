"""`tfdarshan probe`: measures the storage under data, by reading a little of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, overlap_of, overlap_text, print_json, say
from tfdarshan.errors import ConfigurationError, StorageError, TfdarshanError
from tfdarshan.file_name import shell_word

if TYPE_CHECKING:
    from tfdarshan.session import Session
    from tfdarshan.storage_probe.probe_result import StorageProbe
    from tfdarshan.storage_probe.prober import Bounds


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "probe",
        help="measure the storage under data: latency, bandwidth, and what more readers get",
        description="Measure the storage under the files of a folder: the latency of a read and of an open, "
        "bandwidth, operations a second, what 1 to 16 readers get, and whether slowness goes with files or "
        "with times. It reads a little of some files, each part once and only what is not in the page cache, "
        "at idle priority, and writes nothing there (docs/reference/probe.md).",
    )
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the folder to probe, or a file in it")
    parser.add_argument(
        "--logdir",
        metavar="L",
        help="probe the folders of a session's input instead, and keep the result in the session, so that "
        "its findings use it: a logdir, of which the newest session is taken, a session, or LOGDIR:RUN",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        default=5.0,
        help="the longest that the probe takes (default: 5)",
    )
    parser.add_argument(
        "--bytes",
        metavar="SIZE",
        default="64M",
        help="the most that the probe reads, such as 64M (default: 64M)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="seed that chooses files and parts (default: another one each time)",
    )
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Probe, and print what was found."""
    from tfdarshan.reports.text.probe_text import probe_text
    from tfdarshan.session import open_session
    from tfdarshan.staging.capacity import parse_size
    from tfdarshan.storage_probe.prober import Bounds
    from tfdarshan.terminal.paint import paint_for

    if (arguments.folder is None) == (arguments.logdir is None):
        raise ConfigurationError(
            "probe needs one of two: a folder, or --logdir L for the folders of a session's input."
        )
    bounds = Bounds(arguments.seconds, parse_size(arguments.bytes))
    session = None if arguments.logdir is None else open_session(arguments.logdir)
    probes = _probe(arguments, session, bounds)
    unkept = None if session is None else _keep(session, probes)
    if arguments.json:
        kept = session.path if session is not None and unkept is None else None
        overlap = {} if session is None else overlap_of(session)
        print_json({"probes": [_plain(probe) for probe in probes], "kept_in": kept} | overlap)
    else:
        head = "" if session is None else overlap_text(session)
        sys.stdout.write(head + "\n".join(probe_text(probe, paint_for(sys.stdout).width) for probe in probes))
        if session is not None and unkept is None:
            see = f"tfdarshan findings {shell_word(session.path)}"
            say(f"kept in {session.path}; see what it changes with: {see}")
    if unkept is not None:
        raise unkept
    return 0


def _probe(arguments: argparse.Namespace, session: Session | None, bounds: Bounds) -> list[StorageProbe]:
    """Return the probes that measured something. Say why others did not.

    Raises:
        StorageError: None did.
    """
    from tfdarshan.storage_probe.folder_probe import probe_folder
    from tfdarshan.storage_probe.session_probes import probe_session

    lost: list[str] = []
    if session is None:
        probes = [probe_folder(str(Path(arguments.folder).absolute()), bounds, arguments.seed)]
    else:
        probes, lost = probe_session(session, bounds, arguments.seed)
    unmeasured = [
        f"the storage under {probe.folder} was not measured: {probe.note}." for probe in probes if probe.note
    ]
    lost = [*lost, *unmeasured]
    measured = [probe for probe in probes if not probe.note]
    if not measured:
        raise StorageError(" ".join(lost))
    for sentence in lost:
        say(f"tfdarshan: {sentence}", error=True)
    return measured


def _keep(session: Session, probes: list[StorageProbe]) -> TfdarshanError | None:
    """Keep probes in a session; return the error where that cannot be, to be said after what was found."""
    from tfdarshan.storage_probe.session_probes import keep_probes

    try:
        keep_probes(session, probes)
    except StorageError as error:
        return error
    return None


def _plain(probe: StorageProbe) -> dict[str, Any]:
    return probe.as_dict() | {"latency_s": probe.latency_s}
