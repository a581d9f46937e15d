"""`tfdarshan fleet`: what thousands of sessions and Darshan logs say together."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, check_least, print_json
from tfdarshan.errors import ConfigurationError

if TYPE_CHECKING:
    from tfdarshan.fleet.catalogue_update import Update

TOP, FINDINGS = 10, 20
KINDS = ("user", "project", "application", "mount", "file-system")
SHOWN_BY = ("user", "mount")
KEY_VARIABLE = "TFDARSHAN_REDACT_KEY"
READING = "reading jobs"


def add_parser(verbs: Any) -> None:
    """Adds the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "fleet",
        help="say what thousands of sessions and Darshan logs lose to I/O, and where",
        description="Read sessions and Darshan logs, however many, into a catalogue, and say what is true of "
        "all of them: sums, how figures are spread, and the jobs that lose most. Only inputs that are new or "
        "have changed are read. What could not be read is said, and left out.",
    )
    parser.add_argument(
        "paths",
        metavar="DIR|GLOB",
        nargs="*",
        help="folders in which sessions and Darshan logs are, logs, or patterns of them in quotes; none: all "
        "that the catalogue has, as it has it",
    )
    _add_catalogue(parser)
    _add_views(parser)
    _add_output(parser)
    add_json(parser)
    parser.set_defaults(command=command)


def _add_catalogue(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("catalogue")
    group.add_argument(
        "--catalogue",
        type=Path,
        metavar="DIR",
        help="the folder of Parquet files that keeps what was read (default: in the user's cache folder)",
    )
    group.add_argument(
        "--processes", type=int, metavar="N", help="how many processes read (default: one a processor)"
    )
    group.add_argument(
        "--findings",
        type=int,
        default=FINDINGS,
        metavar="N",
        help=f"logs that are looked at for findings, those that lose most first (default: {FINDINGS}); "
        "sessions all are",
    )
    group.add_argument(
        "--with-vanished", action="store_true", help="also count jobs whose files are no longer there"
    )


def _add_views(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is shown")
    group.add_argument("--top", type=int, default=TOP, metavar="N", help=f"jobs to list (default: {TOP})")
    group.add_argument(
        "--by",
        action="append",
        choices=KINDS,
        help="group jobs so; may be given several times (default: user and mount)",
    )
    group.add_argument(
        "--processes-per-node",
        type=int,
        metavar="N",
        help="takes the nodes of jobs that do not say them from their processes (default: one node each)",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--csv", type=Path, metavar="OUT", help="also write the rows of the jobs as CSV")
    group.add_argument("--parquet", type=Path, metavar="OUT", help="also write them as Parquet")
    group.add_argument("--force", action="store_true", help="replace files that are there")
    group.add_argument(
        "--redact",
        action="store_true",
        help=f"tokens in place of users, programs, hosts and paths, keyed by {KEY_VARIABLE}",
    )


def command(arguments: argparse.Namespace) -> int:
    """Brings the catalogue up to date, and answers."""
    check_least("--top", arguments.top, 0)
    check_least("--findings", arguments.findings, 0)
    for option in ("processes", "processes_per_node"):
        if getattr(arguments, option) is not None:
            check_least(f"--{option.replace('_', '-')}", getattr(arguments, option), 1)
    done = _updated(arguments)
    if arguments.redact:
        done = _redacted(done)
    _export(done, arguments)
    return _overview(done, arguments)


def _updated(arguments: argparse.Namespace) -> Update:
    """Reads what is new; gives the rows that are asked about."""
    from tfdarshan.fleet.catalogue_folder import CatalogueFolder, default_folder
    from tfdarshan.fleet.catalogue_update import as_it_is, update
    from tfdarshan.fleet.input_list import find_inputs
    from tfdarshan.fleet.input_reading import usable_processors
    from tfdarshan.terminal.progress import LONG_WORK_S, Progress

    folder = arguments.catalogue or default_folder()
    if not arguments.paths:
        if not folder.is_dir():
            raise ConfigurationError(
                f"there is no catalogue {folder} yet: name folders with sessions or logs."
            )
        return as_it_is(CatalogueFolder(folder))
    found = find_inputs(arguments.paths)
    catalogue = CatalogueFolder(folder)
    processes = arguments.processes or usable_processors()
    with Progress(READING, after_s=LONG_WORK_S) as progress:
        done = update(catalogue, found, processes, progress)
    return _with_findings(catalogue, done, arguments, processes)


def _with_findings(catalogue: Any, done: Update, arguments: argparse.Namespace, processes: int) -> Update:
    """Looks for findings in the logs that lose most and that nobody has looked at yet."""
    from tfdarshan.fleet.catalogue_update import add_findings, rows_of
    from tfdarshan.fleet.job_table import job_table
    from tfdarshan.fleet.population import not_looked_at
    from tfdarshan.terminal.progress import LONG_WORK_S, Progress

    jobs = job_table(done.table, processes_per_node=arguments.processes_per_node)
    chosen = not_looked_at(jobs, arguments.findings)
    if not chosen:
        return done
    with Progress("looking for findings", after_s=LONG_WORK_S) as progress:
        add_findings(catalogue, chosen, processes, progress)
    return dataclasses.replace(done, table=rows_of(catalogue, done.table))


def _redacted(done: Update) -> Update:
    from tfdarshan.fleet.redacted import redacted
    from tfdarshan.reports.views.redaction import HIDDEN, Redaction

    table = redacted(done.table, Redaction(os.environ.get(KEY_VARIABLE, "")))
    notes = tuple(HIDDEN if "/" in note else note for note in done.notes)
    return dataclasses.replace(done, table=table, notes=notes)


def _export(done: Update, arguments: argparse.Namespace) -> None:
    from tfdarshan.fleet.job_export import write_csv, write_parquet

    for path, write in ((arguments.csv, write_csv), (arguments.parquet, write_parquet)):
        if path is not None:
            write(done.table, path, force=arguments.force)


def _overview(done: Update, arguments: argparse.Namespace) -> int:
    from tfdarshan.fleet.fleet_view import fleet_view
    from tfdarshan.fleet.job_table import job_table
    from tfdarshan.reports.text.fleet_text import overview_text
    from tfdarshan.terminal.paint import paint_for

    jobs = job_table(
        done.table,
        processes_per_node=arguments.processes_per_node,
        with_vanished=arguments.with_vanished,
    )
    view = fleet_view(jobs, arguments.top, arguments.by or (KINDS if arguments.json else SHOWN_BY))
    if arguments.json:
        said = {"inputs": done.inputs, "read": done.read, "vanished": done.vanished, "notes": done.notes}
        print_json(said | dataclasses.asdict(view))
    else:
        sys.stdout.write(overview_text(done, view, paint_for(sys.stdout)))
    return 0
