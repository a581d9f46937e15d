"""One job from its draw to its judgement."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tfdarshan.staging.plan_file import read_plan

from .applied import (
    PLACEHOLDERS,
    CannotTypeError,
    apply_lines,
    copies_and_lines,
    filled_command,
    is_command,
    is_mirrored,
)
from .busy_processors import other_load
from .fix_pair import fix_pairs
from .job import Job
from .judgement import Judgement, judge, leaves_open
from .program import Program
from .program_source import source
from .said import Said, said_of
from .storage_kind import REAL
from .storage_room import BURST, StorageRoom
from .timed_run import Runner, TimedRun, run_commands
from .trial_record import Printed, Trial, save_trial
from .truth import LEAST_TRAINED_S, MOST_RUNS, TooShortError, Truth, agree, find_truth
from .warm_python import WarmPython

AS_PRINTED = "as printed"
PRINTED, PLAN = "printed", "plan.json"
NOT_RUN = "can be typed, not run"
DATA_FOLDERS = ("made", "backing", "slow", "fast", "device")
AIMED_S = 1.25 * LEAST_TRAINED_S  # what a job that was too short is to train for
STAGED_NOTHING = "typed, and changes nothing: advise measured the fast tier, and stages no file"
COMMAND_FAILS = "cannot be typed: the command fails: {}"


def run_job(
    job: Job,
    folder: Path,
    pool: Path,
    *,
    repeats: int,
    keep: bool = False,
    warm: WarmPython | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Judgement | None:
    """Run a job, its fixes, and the tool's fix as printed.

    Args:
        job: Which.
        folder: For its files and sessions; removed afterwards.
        pool: Of programs that all jobs need.
        repeats: Runs of the job and of its best fixes.
        keep: Leave the folder of runs, with a record to judge them again.
        warm: Runs programs that use TensorFlow.
        say: Takes a line of progress.

    Returns:
        The judgement; None where the job itself cannot run, which is said.
    """
    try:
        trial = _long_enough(job, folder, pool, repeats, warm, say)
        if trial is None:
            return None
        if keep:
            save_trial(trial, folder)
        return judged(trial, folder, say)
    finally:
        left = [folder / name for name in DATA_FOLDERS] if keep else [folder]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)


def _long_enough(
    job: Job,
    folder: Path,
    pool: Path,
    repeats: int,
    warm: WarmPython | None,
    say: Callable[[str], None],
) -> Trial | None:
    """Make all runs of a job, or of a longer one where it is over before anything can be told."""
    for longer in (True, True, False):
        try:
            with StorageRoom(job, folder, pool) as room:
                return _trial(job, Runner(room, warm), repeats, say, LEAST_TRAINED_S if longer else 0.0)
        except TooShortError as short:
            shutil.rmtree(folder)
            job = job.longer(AIMED_S / short.trained_s)
            say(f"  {short}: made longer, {job.words}")
    return None


def judged(
    trial: Trial, folder: Path, say: Callable[[str], None] = lambda line: None, said: Said | None = None
) -> Judgement:
    """Judge what the tool says of the sessions of a job.

    Args:
        trial: The job.
        folder: Its own.
        say: Takes a line of progress.
        said: What another version said; None asks today's tool.
    """
    asks, printed = said is None, trial.printed
    said = said_of(trial.truth.before[0].logdir) if said is None else said
    same = printed.is_of(said)
    typed = printed.typed if same else how_typed(trial.truth.program, said)
    runs, again = (printed.runs if same else ()), None
    if runs and _staged_nothing(folder):
        typed, runs = STAGED_NOTHING, ()
    if runs and asks:
        after = said_of(runs[0].logdir)
        again = after.offers(said) and not trial.more_is_worth_it(after)
    return judge(
        trial.seed, trial.words, said, trial.truth,
        real=trial.real, typed=typed, printed_runs=runs, again=again,
        pairs=fix_pairs(trial.truth, said, say),
    )  # fmt: skip


def _trial(
    job: Job, runner: Runner, repeats: int, say: Callable[[str], None], least_s: float
) -> Trial | None:
    """Make all runs of a job; None where it does not run."""
    program = job.program(runner.room.folder, runner.room.folders)
    heard: list[Said] = []

    def listen(run: TimedRun) -> tuple[str, ...]:
        heard.append(said_of(run.logdir))
        say(f"  before: {run.trained_s:.2f} s; {heard[0].sentence}")
        return (heard[0].first,)

    truth = find_truth(
        runner, program, repeats, keeps_pages=job.storage.keeps_pages, say=say, wanted=listen, least_s=least_s
    )
    if not heard:
        say(f"  the job does not run: {truth.before[0].failure}")
        return None
    printed = _as_printed(runner, heard[0], truth, repeats) if heard[0].first else Printed()
    return Trial(job.seed, job.words, job.storage.medium in REAL, truth, printed)


def _staged_nothing(folder: Path) -> bool:
    """Return whether the printed commands made a plan of no files: they measured, and nothing was applied."""
    plan = folder / PRINTED / PLAN
    return plan.exists() and not read_plan(plan).files


def how_typed(program: Program, said: Said) -> str:
    """Describe how a fix could be applied that was not run."""
    if not said.first:
        return ""
    if not said.line:
        return "cannot be typed: no line is printed"
    try:
        if is_command(said.line):
            filled_command(said.line, {})
        else:
            folders = dict.fromkeys(PLACEHOLDERS, "/d")
            _, lines = copies_and_lines(said.line, folders)
            apply_lines(source(program, Path("/logs")), lines, said.instead_of, folders)
    except CannotTypeError as why:
        return f"cannot be typed: {why}"
    return NOT_RUN


def _as_printed(runner: Runner, said: Said, truth: Truth, repeats: int) -> Printed:
    """Apply the headline's fix to the letter, and run it."""
    program = truth.program
    typed, runs, more = how_typed(program, said), [], []
    if typed == NOT_RUN:
        typed = AS_PRINTED
        folders = _places(runner, program, truth)
        if is_command(said.line):
            plan, failure = _by_command(runner, filled_command(said.line, folders))
            if failure:
                return Printed.of(said, COMMAND_FAILS.format(failure))
            mirror = folders["DIR"] if is_mirrored(said.line) else ""
            runs = _in_turn(
                runner, truth, repeats, said, lambda asked: _with_copies(runner, program, plan, mirror, asked)
            )
        else:
            copies, lines = copies_and_lines(said.line, folders)
            if copies and (failure := _by_shell(runner, copies)):
                return Printed.of(said, COMMAND_FAILS.format(failure))

            def run(asked: bool) -> TimedRun:
                text = source(program, runner.next_logdir())
                return runner.run(program, apply_lines(text, lines, said.instead_of, folders), asked=asked)

            runs = _in_turn(runner, truth, repeats, said, run)
            more = _more_of_it(runner, truth, said, runs, folders)
        failure = next((run.failure for run in runs if run.failure), "")
        if failure:
            return Printed.of(said, f"typed, but fails: {failure}")
    return Printed.of(said, typed, runs, more)


def _with_copies(runner: Runner, program: Program, plan: Path, mirror: str, asked: bool) -> TimedRun:
    """Run the job with a plan's copies: led to them, or with their folder in place of the data's."""
    if not mirror:
        return runner.run(program, plan=plan, asked=asked)
    text = source(program, runner.next_logdir()).replace(read_plan(plan).slow_root, mirror)
    return runner.run(program, text, asked=asked)


def _places(runner: Runner, program: Program, truth: Truth) -> dict[str, str]:
    """Describe what the placeholders of a printed line stand for."""
    fast = runner.room.folder / "fast"
    return {"FAST": str(fast / BURST), "SLOW": str(program.folders.out), "DIR": str(fast / "staged"),
            "LOGDIR": str(truth.before[0].logdir)}  # fmt: skip


def _more_of_it(
    runner: Runner, truth: Truth, said: Said, runs: list[TimedRun], folders: dict[str, str]
) -> list[TimedRun]:
    """Run what the fixed job is told next, if it is the same fix with another number."""
    after = said_of(runs[0].logdir)
    if not after.offers(said) or after.line == said.line or after.first != said.first:
        return []
    (_, first), (_, more) = (copies_and_lines(one.line, folders) for one in (said, after))
    try:
        once = apply_lines(source(truth.program, runner.next_logdir()), first, said.instead_of, folders)
        return [runner.run(truth.program, apply_lines(once, more, after.instead_of, folders))]
    except CannotTypeError:
        return []


def _in_turn(
    runner: Runner, truth: Truth, repeats: int, said: Said, typed: Callable[[bool], TimedRun]
) -> list[TimedRun]:
    """Run the fixed job, and the job itself between: the machine is another one some minutes later.

    It is run again until the runs agree, or agree with those of the same fix written by hand; and if it is
    short, until the runs tell whether the promise was kept.
    """
    by_hand = truth.tried_for(said.first)
    known = by_hand.runs if by_hand is not None and not by_hand.failure else []
    runs = [typed(True)]
    while not runs[-1].failure:
        truth.before.append(runner.run(truth.program))
        open_still = truth.short and leaves_open(said, truth.times(runs, unit=said.unit))
        if len(runs) >= (MOST_RUNS if open_still else repeats):
            break
        if not open_still and (agree([*known, *runs]) or agree(runs)):
            break
        runs.append(typed(False))
    return runs


def _by_command(runner: Runner, line: str) -> tuple[Path, str]:
    """Run a printed command where the storage is; return the plan that it carried out, and why it did not."""
    failure = _by_shell(runner, line)
    plan = runner.room.folder / PRINTED / PLAN
    return plan, failure or ("" if plan.exists() else "there is no plan")


def _by_shell(runner: Runner, line: str) -> str:
    """Run printed commands where the storage is; return why they fail, "" where they do not."""
    folder = runner.room.folder / PRINTED
    folder.mkdir(exist_ok=True)
    (runner.room.folder / "fast" / "staged").mkdir(exist_ok=True)
    with runner.room.ready(), other_load(runner.room.job.load):
        return run_commands(line, folder)
