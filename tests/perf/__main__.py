"""`python -m tests.perf`: measures what recording costs on this machine, and prints tables."""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.perf import progress
from tests.perf.advise_cost import advise_cost
from tests.perf.attach_cost import attach_cost
from tests.perf.bounds_cost import bounds_cost
from tests.perf.call_cost import call_cost
from tests.perf.checkpoint_cost import CheckpointJob, checkpoint_cost
from tests.perf.detached_cost import detached_cost
from tests.perf.disk_cost import disk_cost
from tests.perf.findings_cost import findings_cost
from tests.perf.list_cost import list_cost
from tests.perf.lmdb_cost import STORAGE, kind_of, lmdb_cost
from tests.perf.lmdb_tensorflow_cost import lmdb_tensorflow_cost
from tests.perf.mapped_cost import mapped_cost
from tests.perf.partials_cost import partials_cost
from tests.perf.readers_cost import readers_cost
from tests.perf.redirect_cost import redirect_cost
from tests.perf.row import Row
from tests.perf.start_cost import start_cost
from tests.perf.stop_cost import stop_cost
from tests.perf.summary_cost import summary_cost
from tests.perf.tab_cost import tab_cost
from tests.perf.table import page_tables, replace_measured, tables
from tests.perf.tf_profiler_cost import tf_profiler_cost
from tests.perf.trace_cost import trace_cost
from tfdarshan.workloads.machine import this_machine

PART_NAMES = (
    "calls",
    "starts",
    "attach",
    "detached",
    "stop",
    "profiler",
    "disk",
    "partials",
    "summaries",
    "readers",
    "findings",
    "list",
    "tab",
    "traces",
    "advise",
    "staged",
    "checkpoint",
    "lmdb",
    "lmdb-tensorflow",
    "mapped",
    "bounds",
)
FULL_JOB = CheckpointJob()


@dataclass(frozen=True)
class Repetitions:
    """How often things are measured, and how much there is of them."""

    pairs: int = 45
    starts: int = 40
    processes: int = 7
    control_pairs: int = 11
    stops: int = 5
    stops_at_once: int = 64
    stop_reads: int = 1_000_000
    epochs: int = 20
    analysed_files: int = 1_000_000
    added_up_events: tuple[int, ...] = (10_000_000,)
    summarized_ranks: int = 1_024
    profiler_rounds: int = 15
    advised_files: int = 1_000_000
    advice_runs: int = 3
    redirect_rounds: int = 11
    mapped_pairs: int = 12
    checkpoint_job: CheckpointJob = FULL_JOB
    lmdb_runs: int = 5
    lmdb_megabytes: int = 240
    lmdb_storage: tuple[str, ...] = ()


FULL_ADVISED_FILES = 10_000_000
FULL_EVENTS = (10_000_000, 100_000_000, 640_000_000)
QUICK = Repetitions(
    pairs=3,
    starts=1,
    processes=2,
    control_pairs=2,
    stops=1,
    stops_at_once=8,
    stop_reads=200_000,
    epochs=3,
    analysed_files=20_000,
    added_up_events=(500_000,),
    summarized_ranks=16,
    profiler_rounds=3,
    advised_files=50_000,
    advice_runs=1,
    redirect_rounds=2,
    mapped_pairs=2,
    checkpoint_job=CheckpointJob(steps=20, every=5, pause_s=0.05, scale=20),
    lmdb_runs=1,
    lmdb_megabytes=20,
)

Part = Callable[[Path], tuple[list[Row], list[str]]]


def parts(repetitions: Repetitions) -> dict[str, Part]:
    """Return the parts of a run by the name that --only takes."""
    lmdb: dict[str, Any] = {
        "runs": repetitions.lmdb_runs,
        "megabytes": repetitions.lmdb_megabytes,
        "kinds": repetitions.lmdb_storage,
    }
    return {
        "calls": partial(call_cost, pairs=repetitions.pairs),
        "starts": partial(start_cost, runs=repetitions.starts),
        "attach": partial(attach_cost, processes=repetitions.processes),
        "detached": partial(detached_cost, pairs=repetitions.control_pairs),
        "stop": partial(
            stop_cost,
            processes=repetitions.stops,
            at_once=repetitions.stops_at_once,
            reads=repetitions.stop_reads,
        ),
        "profiler": partial(
            tf_profiler_cost,
            rounds=repetitions.profiler_rounds,
            tails=repetitions.stops,
            reads=repetitions.stop_reads,
        ),
        "disk": partial(disk_cost, epochs=repetitions.epochs),
        "partials": partial(
            partials_cost, events=repetitions.added_up_events, compared=repetitions.added_up_events[0]
        ),
        "summaries": partial(
            summary_cost, events=repetitions.added_up_events, ranks=repetitions.summarized_ranks
        ),
        "readers": partial(readers_cost, events=repetitions.added_up_events[0]),
        "findings": partial(findings_cost, files=repetitions.analysed_files),
        "list": partial(list_cost, rounds=repetitions.processes),
        "tab": partial(tab_cost, files=repetitions.analysed_files),
        "traces": partial(trace_cost, processes=repetitions.processes),
        "advise": partial(advise_cost, files=repetitions.advised_files, runs=repetitions.advice_runs),
        "staged": partial(redirect_cost, rounds=repetitions.redirect_rounds),
        "checkpoint": partial(checkpoint_cost, job=repetitions.checkpoint_job),
        "lmdb": partial(lmdb_cost, **lmdb),
        "lmdb-tensorflow": partial(lmdb_tensorflow_cost, **lmdb),
        "mapped": partial(mapped_cost, pairs=repetitions.mapped_pairs),
        "bounds": bounds_cost,
    }


def measure(names: list[str], repetitions: Repetitions) -> tuple[list[Row], list[str]]:
    """Run the named parts; return the rows, and a sentence for each thing left out."""
    rows, missing = [], []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="tfdarshan-bench-") as folder:
            found, left_out = parts(repetitions)[name](Path(folder))
        rows += found
        missing += left_out
    progress.show("")
    return rows, missing


def main() -> None:
    """Parse the command line, measure, print, and write what was asked for."""
    arguments = _parser().parse_args()
    names = arguments.only or [name for name in PART_NAMES if name != "bounds" or arguments.full]
    machine = this_machine()
    print(f"{machine.line()}\n", flush=True)
    rows, missing = measure(names, _repetitions(arguments))
    text = "\n".join([tables(rows), *missing])
    print(text)
    if arguments.json:
        report = {
            "machine": dataclasses.asdict(machine),
            "rows": list(map(dataclasses.asdict, rows)),
            "missing": missing,
        }
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if arguments.docs:
        page = "\n".join([page_tables(rows), *missing])
        replace_measured(arguments.docs, f"{machine.line()}.\n\n{page}")


def _repetitions(arguments: argparse.Namespace) -> Repetitions:
    chosen = QUICK if arguments.quick else Repetitions()
    if arguments.full and not arguments.quick:
        chosen = Repetitions(advised_files=FULL_ADVISED_FILES, added_up_events=FULL_EVENTS)
    return dataclasses.replace(chosen, lmdb_storage=tuple(arguments.lmdb_storage or ()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.perf", description="What recording costs here.")
    parser.add_argument("--quick", action="store_true", help="few repetitions: shows that everything runs")
    parser.add_argument("--full", action="store_true", help="also millions of files and operations")
    parser.add_argument("--only", action="append", choices=PART_NAMES, help="measure this part (repeatable)")
    parser.add_argument(
        "--lmdb-storage", action="append", choices=list(map(kind_of, STORAGE)),
        help="measure reading LMDB on this storage alone (repeatable)",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="also put the tables into a page of docs/")
    return parser


if __name__ == "__main__":
    main()
