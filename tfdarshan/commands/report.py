"""`tfdarshan report`: a session's views as one HTML file."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import (
    add_json,
    folder_of,
    overlap_of,
    overlap_text,
    print_json,
    say,
)
from tfdarshan.commands.several import LOG_SUFFIX, add_sessions, distinct, opened, plain, ranked
from tfdarshan.commands.workers import add_runner, check_runner, runner_of_session
from tfdarshan.errors import ConfigurationError
from tfdarshan.units import human_bytes

if TYPE_CHECKING:
    from tfdarshan.reports.html_report import Report
    from tfdarshan.session import Session
    from tfdarshan.staging.probe import TierProbe

KEY_VARIABLE = "TFDARSHAN_REDACT_KEY"


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "report",
        help="write a session as one HTML file",
        description="Write a session's charts and tables as one HTML file that opens without a network. Of "
        "several sessions or Darshan logs, write a file and print a line each, the worst first.",
    )
    add_sessions(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="the file to write, such as report.html; for several sessions the folder for their files",
    )
    parser.add_argument("--compare", metavar="LOGDIR", help="show another session beside this one")
    parser.add_argument(
        "--redact",
        action="store_true",
        help=f"replace paths by tokens, leave out host and command; {KEY_VARIABLE} keys the tokens, so "
        "that nobody can check a guessed name",
    )
    parser.add_argument(
        "--fast",
        metavar="DIR",
        help="measure this folder as the fast tier of the Staging view, which otherwise assumes one",
    )
    add_runner(parser, usual="1")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Write the report and say where it is."""
    check_runner(arguments)
    if len(arguments.paths) > 1:
        return _several(arguments)
    written, session = _write(arguments, arguments.paths[0], arguments.output)
    if arguments.json:
        print_json(dataclasses.asdict(written) | overlap_of(session))
    else:
        sys.stdout.write(overlap_text(session))
        _say_where(written)
    return 0


def _several(arguments: argparse.Namespace) -> int:
    """Write a file for each, and say a line of each."""
    from tfdarshan.reports.text.ranked_text import ranked_text
    from tfdarshan.terminal.paint import paint_for

    paths = distinct(arguments.paths)
    files = dict(zip(paths, _file_names(paths, arguments.output), strict=True))
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows = ranked(paths, skip_damaged=arguments.skip_damaged)
    written = {row.name: _write(arguments, row.name, files[row.name])[0] for row in rows}
    if arguments.json:
        print_json({"sessions": [row | {"report": str(files[row["name"]])} for row in plain(rows)]})
        return 0
    sys.stdout.write(f"{ranked_text(rows, paint_for(sys.stdout))}\n")
    for report in written.values():
        _say_where(report)
    return 0


def _file_names(paths: Sequence[str], folder: Path) -> list[Path]:
    """Name a file for each: what was given without its suffix, with the first number that is free.

    Raises:
        ConfigurationError: The folder is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(
            f"-o {folder} is a file: for several sessions, name a folder for their files."
        )
    names: dict[str, None] = {}
    for path in paths:
        stem = Path(path).name.removesuffix(LOG_SUFFIX) or "session"
        numbered = (f"{stem}-{number}" for number in count(2))
        names[next(name for name in chain([stem], numbered) if name not in names)] = None
    return [folder / f"{name}.html" for name in names]


def _say_where(written: Report) -> None:
    views, size = ", ".join(written.views), human_bytes(written.size_bytes)
    say(f"wrote {written.path}: {views}; {size}")


def _write(arguments: argparse.Namespace, path: str, output: Path) -> tuple[Report, Session]:
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
    with (
        opened(path, skip_damaged=arguments.skip_damaged) as session,
        runner_of_session(arguments, path, session) as runner,
    ):
        tier = None if folder is None else _measured(session, folder)
        source = Source(session, redaction=redaction, fast_tier=tier, runner=runner)
        return write_report(source, output, compare=other, force=arguments.force), session


def _measured(session: Session, folder: str) -> TierProbe:
    """Measure a folder at the session's own concurrency."""
    from tfdarshan.staging.probe import probe_tier
    from tfdarshan.staging.run_facts import run_facts

    readers = round(max(run_facts([session]).readers, 1))
    return probe_tier(folder, readers)
