"""`tfdarshan export`: writes a session in another program's format."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import (
    add_json,
    add_session,
    overlap_of,
    overlap_text,
    print_json,
    say,
    session_of,
)
from tfdarshan.errors import ConfigurationError
from tfdarshan.file_name import shell_word
from tfdarshan.terminal.progress import LONG_WORK_S, Progress
from tfdarshan.units import plural

if TYPE_CHECKING:
    from tfdarshan.session import Session


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "export",
        help="write a session in another format",
        description="Write a session as a Darshan log for PyDarshan, as a Chrome trace for Perfetto, "
        "or as flat tables.",
    )
    formats = parser.add_mutually_exclusive_group(required=True)
    formats.add_argument("--darshan", metavar="OUT", type=Path, help="write a Darshan log")
    formats.add_argument(
        "--trace", metavar="OUT", type=Path, help="write Chrome trace JSON; compressed if OUT ends in .gz"
    )
    formats.add_argument(
        "--parquet", metavar="DIR", type=Path, help="write files.parquet and events.parquet into DIR"
    )
    formats.add_argument("--csv", metavar="DIR", type=Path, help="write files.csv and events.csv into DIR")
    add_session(parser)
    parser.add_argument(
        "--process",
        metavar="[HOST:]PID",
        help="with --darshan: only this process, by its host too if several have it (default: all)",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Write the file and say what it has."""
    if arguments.process is not None and arguments.darshan is None:
        raise ConfigurationError("--process goes with --darshan: other formats have all processes.")
    session = session_of(arguments)
    export = _darshan if arguments.darshan is not None else _trace if arguments.trace is not None else _tables
    with Progress("exporting, rows", after_s=LONG_WORK_S) as progress:
        exported, lines = export(session, arguments, progress)
    if arguments.json:
        print_json(dataclasses.asdict(exported) | overlap_of(session))
    else:
        sys.stdout.write(overlap_text(session))
        for line in lines:
            say(line)
    return 0


def _darshan(session: Session, arguments: argparse.Namespace, progress: Progress) -> tuple[Any, list[str]]:
    from tfdarshan.formats.export.darshan_log import export_darshan

    exported = export_darshan(
        session, arguments.darshan, process=arguments.process, force=arguments.force, progress=progress
    )
    what = f"{plural(exported.processes, 'process', 'processes')}, {plural(exported.records, 'file')}"
    see = f"see it with: python -m darshan summary {shell_word(exported.path)}"
    left_out = [f"  not in it: {part}" for part in exported.left_out]
    return exported, [f"wrote {exported.path}: {what}; {see}", *left_out]


def _trace(session: Session, arguments: argparse.Namespace, progress: Progress) -> tuple[Any, list[str]]:
    from tfdarshan.formats.export.chrome_trace import export_chrome_trace

    exported = export_chrome_trace(session, arguments.trace, force=arguments.force, progress=progress)
    calls = plural(exported.calls, "call")
    if exported.faults:
        calls += f" and {plural(exported.faults, 'page fault')}"
    what = f"{calls} of {plural(exported.threads, 'thread')}"
    lines = [f"wrote {exported.path}: {what}; open it at https://ui.perfetto.dev or in chrome://tracing"]
    if exported.sample:
        lines.append(f"  {exported.sample}")
    elif not exported.complete:
        lines.append("  not in it: calls whose segments a bound dropped")
    return exported, lines


def _tables(session: Session, arguments: argparse.Namespace, progress: Progress) -> tuple[Any, list[str]]:
    from tfdarshan.formats.export.flat_tables import export_tables

    folder, kind = (arguments.csv, "csv") if arguments.csv is not None else (arguments.parquet, "parquet")
    exported = export_tables(session, folder, kind, force=arguments.force, progress=progress)
    rows = ", ".join(f"{name} with {plural(count, 'row')}" for name, count in exported.rows.items())
    return exported, [f"wrote {exported.folder}: {rows}"]
