"""One job from its draw to its judgement."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tfdarshan.errors import TfdarshanError
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import open_session

from .applied import CannotTypeError, apply_lines, filled_command, is_command
from .contradiction import contradictions
from .job import Job
from .judgement import Judgement, Said, judge, said_in
from .program import Program
from .program_source import source
from .storage_kind import REAL
from .storage_room import StorageRoom
from .timed_run import Runner, TimedRun, run_commands
from .truth import STAGING, Truth, find_truth

AS_PRINTED = "as printed"
COMMAND_FAILS = "cannot be typed: the command fails: {}"


def run_job(
    job: Job,
    folder: Path,
    pool: Path,
    *,
    repeats: int,
    keep: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> Judgement | None:
    """Runs a job, its cures, and the tool's cure as printed.

    Args:
        job: Which.
        folder: For its files and sessions; removed afterwards.
        pool: Of data, shared by all jobs.
        repeats: Runs of the job and of its best cures.
        keep: Leave the folder of runs.
        say: Takes a line of progress.

    Returns:
        The judgement; None where the job itself cannot run, which is said.
    """
    try:
        with StorageRoom(job, folder, pool) as room:
            return _trial(job, room, repeats, say)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _trial(job: Job, room: StorageRoom, repeats: int, say: Callable[[str], None]) -> Judgement | None:
    program = job.program(room.folder, room.folders)
    runner = Runner(room)
    heard: list[Said] = []

    def listen(run: TimedRun) -> tuple[str, ...]:
        heard.append(said_of(run))
        say(f"  before: {run.seconds:.2f} s; {heard[0].sentence}")
        return (heard[0].first,)

    truth = find_truth(runner, program, repeats, keeps_pages=job.storage.keeps_pages, say=say, wanted=listen)
    if not heard:
        say(f"  the job does not run: {truth.before[0].failure}")
        return None
    said = heard[0]
    typed, runs = _as_printed(runner, program, said, truth, repeats) if said.first else ("", [])
    gain = None
    again = None
    if runs:
        gain = truth.times(runs, staged=said.first == STAGING)
        again = said_of(runs[0]).offers(said)
    return judge(
        job.seed, job.words, said, truth,
        real=job.storage.medium in REAL, typed=typed, typed_gain=gain, again=again,
        contradictions=tuple(contradictions_of(runner.room.folder / "runs", say)),
    )  # fmt: skip


def contradictions_of(runs: Path, say: Callable[[str], None] = lambda line: None) -> list[str]:
    """Gives the contradictions in all sessions of a job, each with the run that it is of."""
    found: list[str] = []
    for logdir in sorted(runs.glob("*/logs")):
        try:
            sentences = contradictions(open_session(logdir))
        except TfdarshanError:
            continue
        found += [f"run {logdir.parent.name}: {sentence}" for sentence in sentences]
    for sentence in found:
        say(f"  contradiction in {sentence}")
    return found


def said_of(run: TimedRun) -> Said:
    """Asks the tool about a run."""
    try:
        return said_in(diagnose(open_session(run.logdir)))
    except TfdarshanError as error:
        return Said("unknown", str(error), "", None, ())


def _as_printed(
    runner: Runner, program: Program, said: Said, truth: Truth, repeats: int
) -> tuple[str, list[TimedRun]]:
    """Applies the headline's cure to the letter, and runs it; says how, and gives the runs."""
    fast = runner.room.folder / "fast"
    folders = {"FAST": str(fast / "burst"), "SLOW": str(program.folders.out), "DIR": str(fast / "staged"),
               "LOGDIR": str(truth.before[0].logdir)}  # fmt: skip
    if not said.line:
        return "cannot be typed: no line is printed", []
    try:
        if is_command(said.line):
            plan, failure = _by_command(runner, filled_command(said.line, folders))
            if failure:
                return COMMAND_FAILS.format(failure), []
            runs = _in_turn(runner, truth, repeats, lambda: runner.run(program, plan=plan))
        else:

            def typed() -> TimedRun:
                text = source(program, runner.next_logdir())
                return runner.run(program, apply_lines(text, said.line, said.instead_of, folders))

            runs = _in_turn(runner, truth, repeats, typed)
    except CannotTypeError as why:
        return f"cannot be typed: {why}", []
    failure = next((run.failure for run in runs if run.failure), "")
    return (f"typed, but fails: {failure}", []) if failure else (AS_PRINTED, runs)


def _in_turn(runner: Runner, truth: Truth, repeats: int, typed: Callable[[], TimedRun]) -> list[TimedRun]:
    """Runs the cured job, and the job itself between: the machine is another one some minutes later."""
    runs = [typed()]
    while not runs[-1].failure and len(runs) < repeats:
        truth.before.append(runner.run(truth.program))
        runs.append(typed())
    if not runs[-1].failure:
        truth.before.append(runner.run(truth.program))
    return runs


def _by_command(runner: Runner, line: str) -> tuple[Path, str]:
    """Runs a printed command where the storage is; gives the plan that it carried out, and why it did not."""
    folder = runner.room.folder / "printed"
    folder.mkdir(exist_ok=True)
    (runner.room.folder / "fast" / "staged").mkdir(exist_ok=True)
    with runner.room.ready():
        failure = run_commands(line, folder)
    plan = folder / "plan.json"
    return plan, failure or ("" if plan.exists() else "there is no plan")
