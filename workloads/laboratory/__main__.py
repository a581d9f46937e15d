"""Draws jobs, finds their best fixes by trying all, and holds the findings against them."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from tfdarshan import __version__
from tfdarshan.commands.exit_codes import WRONG_USE
from tfdarshan.errors import ConfigurationError, StorageError, TfdarshanError

from .draw import DEVELOPMENT_SEEDS, TENSORFLOW, draw
from .drawn_framework import FRAMEWORKS
from .storage_kind import MEDIA, Medium

if TYPE_CHECKING:
    from .job import Job
    from .judgement import Judgement
    from .said import Said
    from .warm_python import WarmPython


def main() -> int:
    """Run them; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tfdarshan.workloads.laboratory", description=__doc__)
    parser.add_argument(
        "--seeds", metavar="A-B", type=_range, help=f"development seeds, below {DEVELOPMENT_SEEDS}"
    )
    parser.add_argument(
        "--framework",
        choices=FRAMEWORKS,
        default=TENSORFLOW,
        help=f"whose jobs are drawn (default: {TENSORFLOW}, and plain Python)",
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
        "--repeats", type=int, default=3, help="runs of a job and of its best fixes (default: 3)"
    )
    parser.add_argument("--page", type=Path, help="fill the table of this page")
    parser.add_argument("--json", type=Path, help="write the outcomes here")
    parser.add_argument(
        "--go-on",
        type=Path,
        metavar="FILE",
        help="go on with a draw that was stopped, whose --json this is, up to --fresh jobs",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the jobs, and run nothing")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep programs, sessions and the truth in this folder"
    )
    parser.add_argument(
        "--judge-again",
        type=Path,
        metavar="DIR",
        help="run nothing: judge by today's code what was kept there",
    )
    parser.add_argument(
        "--said",
        type=Path,
        metavar="FILE",
        help="with --judge-again: set what another version said, written by said.py, beside today's",
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no job later than that (default: no limit)"
    )
    parser.add_argument(
        "--cold", action="store_true", help="import the framework anew for each run; slower by some hours"
    )
    arguments = parser.parse_args()
    if (arguments.page or arguments.go_on) and arguments.seeds:
        parser.error("--page and --go-on are for fresh draws: leave --seeds out")
    if arguments.said and not arguments.judge_again:
        parser.error("--said is what another version says of kept jobs: name their folder by --judge-again")
    if arguments.judge_again and (arguments.go_on or (arguments.page and not arguments.said)):
        parser.error("--judge-again draws nothing: --page goes with --said then, and --go-on not at all")
    # What is mounted is taken down whichever way it ends.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(128 + signal.SIGTERM))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if arguments.judge_again:
        try:
            return _compared(arguments) if arguments.said else _ended(_judge_again(arguments), arguments, "")
        except ConfigurationError as error:
            _say(f"laboratory: {error}")
            return WRONG_USE
    try:
        before = _drawn_before(arguments.go_on)
    except ConfigurationError as error:
        _say(f"laboratory: {error}")
        return WRONG_USE
    first = before[-1].seed + 1 if before else DEVELOPMENT_SEEDS + time.time_ns() // 1000 % 10**9
    seeds = arguments.seeds or range(first, first + arguments.fresh - len(before))
    media = _media(parser, arguments.kinds)
    if arguments.dry_run:
        for seed in seeds:
            print(f"seed {seed}: {draw(seed, media, arguments.framework).words}")
        return 0
    print(f"seeds {seeds[0]}-{seeds[-1]} on {', '.join(media)}", flush=True)
    drawn = _drawn() if not before else f"in parts, the last of {len(seeds)} {_drawn()}"
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="tfdarshan-laboratory-"))
        warm = None if arguments.cold else _warm(stack, arguments.framework)
        folder = (arguments.keep or Path(scratch)).absolute()
        outcomes = _run(seeds, media, folder, arguments, warm, before)
    return _ended(outcomes, arguments, drawn)


def _warm(stack: ExitStack, framework: str) -> WarmPython | None:
    from .timed_run import environment
    from .warm_python import warm_python

    try:
        return stack.enter_context(warm_python(framework, environment()))
    except StorageError as error:
        _say(f"each run imports {framework}: {error}")
        return None


def _ended(outcomes: list[Judgement], arguments: argparse.Namespace, drawn: str) -> int:
    from .laboratory_table import as_text, fill_page
    from .laboratory_totals import missed

    print(as_text(outcomes))
    if arguments.page and outcomes:
        fill_page(arguments.page, outcomes, drawn, arguments.framework)
    return 1 if missed(outcomes) else 0


def _drawn() -> str:
    """Return when, where and by which code: the commit that is checked out, if it is a checkout."""
    from ..machine import this_machine

    git = [
        "git",
        "-C",
        str(Path(__file__).resolve().parent),
        "describe",
        "--always",
        "--dirty",
        "--abbrev=10",
    ]
    try:
        commit = f"commit {subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()}"
    except (OSError, subprocess.CalledProcessError):
        commit = f"tfdarshan {__version__}"
    return f"on {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC by {commit}; on {this_machine().line()}"


def _compared(arguments: argparse.Namespace) -> int:
    """Judge jobs that were kept by what today's tool says of them, and by what another version said."""
    from .laboratory_table import beside, fill_beside

    today = _judge_again(arguments)
    other = _judge_again(arguments, _said_elsewhere(arguments.said))
    name = arguments.said.stem
    print(beside(today, other, name))
    if arguments.page:
        fill_beside(arguments.page, today, other, name)
    return 0


def _judge_again(arguments: argparse.Namespace, said: dict[int, Said] | None = None) -> list[Judgement]:
    """Judge jobs that were kept."""
    from .laboratory_table import job_line
    from .trial import judged
    from .trial_record import RECORD, load_trial

    folders = sorted(path.parent for path in arguments.judge_again.glob(f"*/{RECORD}"))
    if not folders:
        raise ConfigurationError(f"{arguments.judge_again} holds no jobs that were kept.")
    outcomes = []
    for folder in folders:
        trial = load_trial(folder)
        outcomes.append(judged(trial, folder, _say, None if said is None else said[trial.seed]))
        print(job_line(outcomes[-1]), flush=True)
        _write_json(outcomes, arguments.json)
    return outcomes


def _said_elsewhere(path: Path) -> dict[int, Said]:
    """Read what another version said."""
    from .said import read_said

    try:
        return read_said(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{path} is not what said.py writes: {error!r}") from error


def _write_json(outcomes: list[Judgement], path: Path | None) -> None:
    from .outcome_file import write_outcomes

    if path is not None:
        write_outcomes(outcomes, path)


def _drawn_before(path: Path | None) -> list[Judgement]:
    """Return the outcomes of the draw that goes on, none of a new one."""
    from .outcome_file import read_outcomes

    return [] if path is None else read_outcomes(path)


def _run(
    seeds: range,
    media: list[Medium],
    folder: Path,
    arguments: argparse.Namespace,
    warm: WarmPython | None,
    before: list[Judgement],
) -> list[Judgement]:
    from .laboratory_table import job_line

    outcomes = list(before)
    until_s = time.monotonic() + 60 * arguments.minutes
    for seed in seeds:
        if time.monotonic() >= until_s:
            _say(f"{arguments.minutes:g} minutes are over before seed {seed}")
            break
        job = draw(seed, media, arguments.framework)
        _say(f"seed {seed}: {job.words}")
        outcome = run_one(job, folder, arguments, warm)
        if outcome is None:
            continue
        outcomes.append(outcome)
        print(job_line(outcome), flush=True)
        _write_json(outcomes, arguments.json)
    return outcomes


def run_one(
    job: Job, folder: Path, arguments: argparse.Namespace, warm: WarmPython | None
) -> Judgement | None:
    """Run a job; one that this machine cannot run is said, and the others go on."""
    from .trial import run_job

    room = folder / f"seed-{job.seed}"
    kept = arguments.keep is not None
    # What a draw that was stopped in the middle of this job has left of it.
    shutil.rmtree(room, ignore_errors=True)
    try:
        return run_job(job, room, folder / "pool", repeats=arguments.repeats, keep=kept, warm=warm, say=_say)
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
