"""`tfdarshan fleet`: what thousands of sessions and Darshan logs say together."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import add_json, check_least, print_json
from tfdarshan.commands.workers import add_runner, check_runner, runner_of
from tfdarshan.errors import ConfigurationError

if TYPE_CHECKING:
    from tfdarshan.fleet.catalogue_update import Update
    from tfdarshan.fleet.faster_parts import FasterPart
    from tfdarshan.fleet.job_models import Told
    from tfdarshan.fleet.job_table import JobTable
    from tfdarshan.partials.serial import Runner

TOP, FINDINGS, MODELS = 10, 20, 200
LEAST_ON_PAGE = 50
KINDS = ("user", "project", "application", "mount", "file-system")
SHOWN_BY = ("user", "mount")
WHATIF = "whatif"
QUESTIONS = ("storage_bandwidth", "stage_hot", "link")
FAST, LINK_NOW = "2G", "25Gb"
KEY_VARIABLE = "TFDARSHAN_REDACT_KEY"
READING = "reading jobs"


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "fleet",
        help="summarize I/O time lost across many sessions and Darshan logs",
        description="Read sessions and Darshan logs, however many, into a catalogue, and say what is true of "
        "all of them: sums, how figures are spread, and the jobs that lose most. Only inputs that are new or "
        "have changed are read. What could not be read is said, and left out. `tfdarshan fleet whatif` asks "
        "what a faster part of the machine would save.",
    )
    parser.add_argument(
        "paths",
        metavar="[whatif] DIR|GLOB",
        nargs="*",
        help="folders with sessions and Darshan logs, single logs, or quoted patterns of both (default: "
        "all jobs in the catalogue, without a look at their files)",
    )
    _add_catalogue(parser)
    _add_views(parser)
    _add_questions(parser)
    _add_output(parser)
    add_json(parser)
    parser.set_defaults(command=command)


def _add_catalogue(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("catalogue")
    group.add_argument(
        "--catalogue",
        type=Path,
        metavar="DIR",
        help="folder of Parquet files that keeps what was read (default: in the user's cache folder)",
    )
    add_runner(group)
    group.add_argument(
        "--findings",
        type=int,
        default=FINDINGS,
        metavar="N",
        help="number of logs to look for findings in, those that lose most first "
        f"(default: {FINDINGS}); sessions are all looked at",
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
        help="group jobs by this; may be given several times (default: user and mount)",
    )
    group.add_argument(
        "--processes-per-node",
        type=int,
        metavar="N",
        help="processes on each node of jobs that do not name their nodes (default: one node a job)",
    )


def _add_questions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fleet whatif", "one of these:")
    group.add_argument(
        "--storage-bandwidth",
        metavar="FACTOR",
        help="estimate another bandwidth of the storage, such as 2x: twice as fast",
    )
    group.add_argument(
        "--stage-hot",
        metavar="SIZE",
        help="estimate a fast tier of this size for the hottest folders, such as 10TB",
    )
    group.add_argument(
        "--link", metavar="SPEED", help="estimate another network link of the nodes, such as 100Gb"
    )
    group.add_argument(
        "--models",
        type=int,
        default=MODELS,
        metavar="N",
        help=f"number of sessions to simulate, those that may gain most first (default: {MODELS}); for the "
        "others the answer has bounds",
    )
    group.add_argument(
        "--fast-bandwidth",
        metavar="SIZE",
        default=FAST,
        help=f"bytes a second of a node's fast tier (default: {FAST})",
    )
    group.add_argument(
        "--link-now", metavar="SPEED", default=LINK_NOW, help=f"the nodes' link today (default: {LINK_NOW})"
    )
    group.add_argument(
        "--link-share",
        type=float,
        metavar="SHARE",
        default=1.0,
        help="share of communication time spent on the nodes' link, 0 to 1 (default: 1)",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--html", type=Path, metavar="OUT", help="also write one HTML file with all views")
    group.add_argument("--csv", type=Path, metavar="OUT", help="also write the rows of the jobs as CSV")
    group.add_argument(
        "--parquet", type=Path, metavar="OUT", help="also write the rows of the jobs as Parquet"
    )
    group.add_argument("--force", action="store_true", help="replace files that are there")
    group.add_argument(
        "--redact",
        action="store_true",
        help=f"put tokens in place of users, programs, hosts and paths, keyed by {KEY_VARIABLE}",
    )


def command(arguments: argparse.Namespace) -> int:
    """Bring the catalogue up to date, and answer."""
    check_least("--top", arguments.top, 0)
    check_least("--findings", arguments.findings, 0)
    check_least("--models", arguments.models, 0)
    check_runner(arguments)
    if arguments.processes_per_node is not None:
        check_least("--processes-per-node", arguments.processes_per_node, 1)
    part = _question(arguments)
    done = _updated(arguments)
    told = None if part is None else _told(part, done, arguments)
    if arguments.redact:
        done = _redacted(done)
    _export(done, arguments)
    if part is None or told is None:
        return _overview(done, arguments)
    return _answer(part, told, done, arguments)


def _question(arguments: argparse.Namespace) -> FasterPart | None:
    """Return the part that is asked about; None for the overview. Takes the word from the paths.

    Raises:
        ConfigurationError: A value cannot be used, or there is not exactly one question.
    """
    from tfdarshan.findings.whatif import parse_factor
    from tfdarshan.fleet.faster_parts import hot_tier, node_link, parse_link, storage_bandwidth
    from tfdarshan.staging.capacity import parse_size

    asked = [name for name in QUESTIONS if getattr(arguments, name) is not None]
    if arguments.paths[:1] == [WHATIF]:
        arguments.paths = arguments.paths[1:]
    elif not asked:
        return None
    if len(asked) != 1:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in QUESTIONS)
        raise ConfigurationError(f"fleet whatif takes one question: {options}.")
    if asked == ["storage_bandwidth"]:
        return storage_bandwidth(parse_factor(arguments.storage_bandwidth, "--storage-bandwidth"))
    if asked == ["stage_hot"]:
        size, speed = parse_size(arguments.stage_hot), parse_size(arguments.fast_bandwidth)
        check_least("--fast-bandwidth", speed, 1)
        return hot_tier(size, speed)
    then, now = parse_link(arguments.link, "--link"), parse_link(arguments.link_now, "--link-now")
    share = arguments.link_share
    if not 0 <= share <= 1:
        raise ConfigurationError(f"--link-share takes a number from 0 to 1, not {share:g}.")
    return node_link(then, now, share)


def _told(part: FasterPart, done: Update, arguments: argparse.Namespace) -> Told:
    """Ask the models of the sessions that may gain most."""
    from tfdarshan.fleet.job_models import ask_models
    from tfdarshan.terminal.progress import LONG_WORK_S, Progress

    with runner_of(arguments) as runner, Progress("asking models", after_s=LONG_WORK_S) as progress:
        return ask_models(_jobs(done, arguments), part, arguments.models, runner, progress)


def _answer(part: FasterPart, told: Told, done: Update, arguments: argparse.Namespace) -> int:
    from tfdarshan.fleet.attainable import attainable
    from tfdarshan.reports.text.attainable_text import attainable_text
    from tfdarshan.reports.text.fleet_text import notes_text
    from tfdarshan.terminal.paint import paint_for

    found = attainable(_jobs(done, arguments), part, told)
    if arguments.json:
        print_json(_said(done) | dataclasses.asdict(found))
    else:
        sys.stdout.write(notes_text(done) + attainable_text(found, paint_for(sys.stdout)))
    return 0


def _jobs(done: Update, arguments: argparse.Namespace) -> JobTable:
    from tfdarshan.fleet.job_table import job_table

    return job_table(
        done.table,
        processes_per_node=arguments.processes_per_node,
        with_vanished=arguments.with_vanished,
    )


def _said(done: Update) -> dict[str, Any]:
    return {"inputs": done.inputs, "read": done.read, "vanished": done.vanished, "notes": done.notes}


def _updated(arguments: argparse.Namespace) -> Update:
    """Read what is new; return the rows that are asked about."""
    from tfdarshan.fleet.catalogue_folder import CatalogueFolder, default_folder
    from tfdarshan.fleet.catalogue_update import as_it_is, update
    from tfdarshan.fleet.input_list import find_inputs
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
    with runner_of(arguments) as runner:
        with Progress(READING, after_s=LONG_WORK_S) as progress:
            done = update(catalogue, found, runner, progress)
        return _with_findings(catalogue, done, arguments, runner)


def _with_findings(catalogue: Any, done: Update, arguments: argparse.Namespace, runner: Runner) -> Update:
    """Look for findings in the logs that lose most and that nobody has looked at yet."""
    from tfdarshan.fleet.catalogue_update import add_findings, rows_of
    from tfdarshan.fleet.job_table import job_table
    from tfdarshan.fleet.population import not_looked_at
    from tfdarshan.terminal.progress import LONG_WORK_S, Progress

    jobs = job_table(done.table, processes_per_node=arguments.processes_per_node)
    chosen = not_looked_at(jobs, arguments.findings)
    if not chosen:
        return done
    with Progress("looking for findings", after_s=LONG_WORK_S) as progress:
        add_findings(catalogue, chosen, runner, progress)
    return dataclasses.replace(done, table=rows_of(catalogue, done.table))


def _redacted(done: Update) -> Update:
    from tfdarshan.fleet.redacted import redacted
    from tfdarshan.reports.views.redaction import HIDDEN, Redaction

    table = redacted(done.table, Redaction(os.environ.get(KEY_VARIABLE, "")))
    notes = tuple(HIDDEN if "/" in note else note for note in done.notes)
    return dataclasses.replace(done, table=table, notes=notes)


def _export(done: Update, arguments: argparse.Namespace) -> None:
    """Write the files that were asked for.

    Raises:
        StorageError: One is there, or cannot be written.
    """
    from tfdarshan.fleet.job_export import write_csv, write_parquet

    for path, write in ((arguments.csv, write_csv), (arguments.parquet, write_parquet)):
        if path is not None:
            write(done.table, path, force=arguments.force)
    if arguments.html is not None:
        from tfdarshan.fleet.faster_parts import parse_link
        from tfdarshan.reports.fleet_report import write_fleet_report
        from tfdarshan.staging.capacity import parse_size

        write_fleet_report(
            done,
            _jobs(done, arguments),
            arguments.html,
            top=max(arguments.top, LEAST_ON_PAGE),
            fast_bytes_per_s=max(parse_size(arguments.fast_bandwidth), 1),
            link_now=parse_link(arguments.link_now, "--link-now"),
            force=arguments.force,
        )


def _overview(done: Update, arguments: argparse.Namespace) -> int:
    from tfdarshan.fleet.fleet_view import fleet_view
    from tfdarshan.reports.text.fleet_text import overview_text
    from tfdarshan.terminal.paint import paint_for

    by = arguments.by or (KINDS if arguments.json else SHOWN_BY)
    view = fleet_view(_jobs(done, arguments), arguments.top, by)
    if arguments.json:
        print_json(_said(done) | dataclasses.asdict(view))
    else:
        sys.stdout.write(overview_text(done, view, paint_for(sys.stdout)))
    return 0
