"""Draws jobs, finds their best cures by trying all, and holds the findings against them."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tfdarshan.errors import TfdarshanError

from .draw import DEVELOPMENT_SEEDS, draw
from .storage_kind import MEDIA, Medium

if TYPE_CHECKING:
    from .job import Job
    from .judgement import Judgement


def main() -> int:
    """Runs them; 0 whatever they show."""
    parser = argparse.ArgumentParser(prog="python -m tfdarshan.workloads.laboratory", description=__doc__)
    parser.add_argument(
        "--seeds", metavar="A-B", type=_range, help=f"development seeds, below {DEVELOPMENT_SEEDS}"
    )
    parser.add_argument(
        "--fresh",
        metavar="N",
        type=int,
        default=20,
        help="so many seeds never used before, from the clock (default: 20, if no --seeds are given)",
    )
    parser.add_argument(
        "--kinds", metavar="KIND,...", help=f"of {', '.join(MEDIA)} (default: what this machine has)"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of a job and of its best cures (default: 3)"
    )
    parser.add_argument("--page", type=Path, help="fill the table of this page")
    parser.add_argument("--json", type=Path, help="write the outcomes here")
    parser.add_argument("--dry-run", action="store_true", help="print the jobs, and run nothing")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep programs and sessions in this folder")
    arguments = parser.parse_args()
    if arguments.page and arguments.seeds:
        parser.error("--page is for fresh draws: leave --seeds out")
    # What is mounted is taken down whichever way it ends.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(128 + signal.SIGTERM))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    first = DEVELOPMENT_SEEDS + time.time_ns() // 1000 % 10**9
    seeds = arguments.seeds or range(first, first + arguments.fresh)
    media = _media(parser, arguments.kinds)
    if arguments.dry_run:
        for seed in seeds:
            print(f"seed {seed}: {draw(seed, media).words}")
        return 0
    print(f"seeds {seeds[0]}-{seeds[-1]} on {', '.join(media)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="tfdarshan-laboratory-") as scratch:
        outcomes = _run(seeds, media, (arguments.keep or Path(scratch)).absolute(), arguments)
    from .laboratory_table import as_text, fill_page

    print(as_text(outcomes))
    if arguments.page and outcomes:
        fill_page(arguments.page, outcomes, f"{seeds[0]} to {seeds[-1]}")
    return 0


def _run(seeds: range, media: list[Medium], folder: Path, arguments: argparse.Namespace) -> list[Judgement]:
    from .laboratory_table import job_line

    outcomes: list[Judgement] = []
    for seed in seeds:
        job = draw(seed, media)
        _say(f"seed {seed}: {job.words}")
        outcome = _outcome(job, folder, arguments)
        if outcome is None:
            continue
        outcomes.append(outcome)
        print(job_line(outcome), flush=True)
        if arguments.json:
            plain = [dataclasses.asdict(one) for one in outcomes]
            arguments.json.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    return outcomes


def _outcome(job: Job, folder: Path, arguments: argparse.Namespace) -> Judgement | None:
    """Runs a job; one that this machine cannot run is said, and the others go on."""
    from .trial import run_job

    room = folder / f"seed-{job.seed}"
    kept = arguments.keep is not None
    try:
        return run_job(job, room, folder / "pool", repeats=arguments.repeats, keep=kept, say=_say)
    except TfdarshanError as error:
        _say(f"  left out: {error}")
        return None


def _media(parser: argparse.ArgumentParser, wanted: str | None) -> list[Medium]:
    from .storage_room import media_here

    there, lacking = media_here()
    for line in lacking:
        _say(line)
    if wanted is None:
        return there
    names = wanted.split(",")
    unknown = [name for name in names if name not in MEDIA]
    if unknown:
        parser.error(f"no such kind: {', '.join(unknown)}; there are {', '.join(MEDIA)}")
    chosen = [name for name in there if name in names]
    if not chosen:
        parser.error(f"this machine has none of {wanted}")
    return chosen


def _range(text: str) -> range:
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if not found or int(found[2] or found[1]) < int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no range of seeds such as 0-19")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
