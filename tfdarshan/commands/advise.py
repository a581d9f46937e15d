"""`tfdarshan advise`: what to stage, and what that gives."""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import DEFAULT_LOGDIR, add_json, overlap_of, overlap_text, print_json, say
from tfdarshan.commands.exit_codes import FAILURE
from tfdarshan.commands.workers import add_runner, check_runner, runner_of
from tfdarshan.errors import ConfigurationError, StorageError, reason
from tfdarshan.units import plural

if TYPE_CHECKING:
    from tfdarshan.session import Session
    from tfdarshan.staging.advice import Decision
    from tfdarshan.staging.plan_from_decision import Planned


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    from tfdarshan.staging.checksum import POLICIES
    from tfdarshan.staging.plan_formats import FORMATS
    from tfdarshan.staging.question import UNITS

    parser: argparse.ArgumentParser = verbs.add_parser(
        "advise",
        help="say which files to copy to a faster tier, and the speedup",
        description="Say which files to copy to a faster tier, what that gives, and whether it is worth it.",
    )
    parser.add_argument(
        "--logdir",
        action="append",
        metavar="L",
        default=[],
        help="a logdir (its newest session is read), a session's folder, or LOGDIR:RUN (may be repeated; "
        f"default: {DEFAULT_LOGDIR})",
    )
    parser.add_argument("--fast", metavar="DIR", help="folder on the fast tier that the copies go to")
    parser.add_argument("--capacity", metavar="SIZE", help="the most to use of the fast tier, such as 100G")
    parser.add_argument(
        "--reserve",
        metavar="SIZE",
        help="room that must stay free on the fast tier (default: a hundredth of its file system)",
    )
    parser.add_argument(
        "--slow", metavar="DIR", help="stage only files below this folder (default: all data files)"
    )
    parser.add_argument("--epochs", type=int, metavar="N", help="epochs that the job will run")
    parser.add_argument(
        "--session-epochs",
        type=float,
        metavar="N",
        help="epochs that the sessions recorded (default: the median of how often files were read)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        dest="everything",
        help="stage all files that fit, even if a few of them give nearly all of the gain",
    )
    parser.add_argument(
        "--unit", choices=UNITS, default="file", help="what is staged together (default: file)"
    )
    parser.add_argument(
        "--checksum", choices=POLICIES, default="blake2b", help="how copies are verified (default: blake2b)"
    )
    parser.add_argument(
        "-o", dest="output", type=Path, metavar="PLAN", help="write the plan for `tfdarshan stage`"
    )
    parser.add_argument(
        "--format", choices=tuple(FORMATS), help="write the plan for another copy program instead"
    )
    parser.add_argument("--plot", type=Path, metavar="HTML", help="write the capacity curve as a page")
    parser.add_argument(
        "--check",
        nargs=2,
        metavar=("BEFORE", "AFTER"),
        help="compare session AFTER, of the staged job, with what the plan promised; BEFORE is that plan, "
        "or, with --plan, the session that it was made from; exits with 1 if an epoch takes longer than was "
        "promised, and with 2 if there is nothing to check",
    )
    add_runner(parser, usual="1")
    parser.add_argument("--plan", type=Path, metavar="PLAN", help="the plan that was applied, for --check")
    add_json(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """Advise."""
    _refuse_wrong_numbers(arguments)
    check_runner(arguments)
    if arguments.check:
        return _check(arguments)
    from tfdarshan.reports.text.advice_text import render
    from tfdarshan.sessions.overlap import overlap_lines
    from tfdarshan.staging.plan_from_decision import make_plan
    from tfdarshan.terminal.paint import paint_for
    from tfdarshan.terminal.progress import Progress

    sessions = _sessions(arguments)
    decision, reserve = _decide(arguments, sessions)
    planned = None
    if arguments.output or arguments.format or arguments.json:
        with Progress("looking at the files") as progress:
            planned = make_plan(
                decision, reserve_bytes=reserve, checksum=arguments.checksum, progress=progress
            )
    if arguments.plot:
        from tfdarshan.reports.capacity_plot import write_plot

        write_plot(decision.advice, arguments.plot)
    if planned is not None and (arguments.output or arguments.format):
        job = sessions[-1].meta[0].get("command", "")
        _write(planned, arguments, job, mirrored=decision.advice.mirrored)
    if arguments.json:
        print_json(
            {"advice": _plain(decision), "plan": planned.plan.as_json() if planned else None}
            | {"overlapping_sessions": _overlapping(sessions)}
        )
    elif not arguments.format or arguments.output:
        sys.stdout.write(
            "\n".join(
                [*overlap_lines(_overlapping(sessions)), render(decision.advice, paint_for(sys.stdout).width)]
            )
        )
    return 0


def _refuse_wrong_numbers(arguments: argparse.Namespace) -> None:
    if arguments.json and arguments.format and not arguments.output:
        raise ConfigurationError(
            "--json and --format both write to stdout: name a file for the list with -o."
        )
    epochs, session_epochs = arguments.epochs, arguments.session_epochs
    if epochs is not None and epochs < 1:
        raise ConfigurationError(f"--epochs is how many the job will run, 1 or more, not {epochs}.")
    if session_epochs is not None and not 0 < session_epochs < math.inf:
        raise ConfigurationError(
            f"--session-epochs is how many the sessions have, more than 0, not {session_epochs:g}."
        )


def _check(arguments: argparse.Namespace) -> int:
    """Hold a session against a plan's promise."""
    from tfdarshan.reports.text.staging_check_text import render_check
    from tfdarshan.session import open_session
    from tfdarshan.staging.check import check_plan
    from tfdarshan.staging.plan_file import read_plan
    from tfdarshan.terminal.paint import paint_for

    before, after = arguments.check
    plan = read_plan(arguments.plan or Path(before))
    if arguments.plan:
        before_path = str(open_session(before).path.resolve())
        if before_path not in [str(Path(path).resolve()) for path in plan.sessions]:
            raise ConfigurationError(
                f"the plan {arguments.plan} was not made from {before} but from {', '.join(plan.sessions)}."
            )
    session = open_session(after)
    check = check_plan(plan, [session], arguments.session_epochs)
    if arguments.json:
        import dataclasses

        shown = ("promised_gain", "obtained_gain", "error", "kept", "missed")
        print_json(
            dataclasses.asdict(check) | {name: getattr(check, name) for name in shown} | overlap_of(session)
        )
    else:
        sys.stdout.write(overlap_text(session) + render_check(check, paint_for(sys.stdout).width))
    return FAILURE if check.missed else 0


def _sessions(arguments: argparse.Namespace) -> list[Session]:
    from tfdarshan.session import open_session

    if not arguments.fast:
        raise ConfigurationError(
            "advise needs --fast DIR: give a folder for the copies, on faster storage such as a local disk."
        )
    return [open_session(path) for path in arguments.logdir or [DEFAULT_LOGDIR]]


def _overlapping(sessions: list[Session]) -> list[Path]:
    """List the sessions that overlap those that were chosen, and are not among them."""
    own = {session.path for session in sessions}
    others = dict.fromkeys(path for session in sessions for path in session.overlapping)
    return [path for path in others if path not in own]


def _decide(arguments: argparse.Namespace, sessions: list[Session]) -> tuple[Decision, int]:
    """Return the decision and what must stay free on the fast tier."""
    from tfdarshan.staging.advice import decide_on
    from tfdarshan.staging.capacity import existing_parent, measure_room, parse_size
    from tfdarshan.staging.probe import probe_tier
    from tfdarshan.staging.question import Question
    from tfdarshan.staging.run_facts import measured_runs, newest_job, put_together

    fast = str(Path(arguments.fast).absolute())
    sizes = [None if size is None else parse_size(size) for size in (arguments.capacity, arguments.reserve)]
    room = measure_room(fast, *sizes)
    slow = os.path.abspath(arguments.slow) if arguments.slow else None  # noqa: PTH100 - without ".."
    with runner_of(arguments, processes=1) as runner:
        runs = measured_runs(sessions, slow=slow, runner=runner)
        use, facts = put_together(runs)
    question = Question(
        fast=fast,
        room_bytes=room.usable,
        slow=slow,
        epochs=arguments.epochs,
        session_epochs=arguments.session_epochs,
        unit=arguments.unit,
        block_bytes=room.block,
        everything=arguments.everything,
    )
    tier = probe_tier(existing_parent(fast), round(facts.readers))
    return decide_on(use, facts, question, tier, newest_job(runs)), room.reserve


def _write(planned: Planned, arguments: argparse.Namespace, job: str, *, mirrored: bool = False) -> None:
    """Write the plan, or its list for another mover, and say on stderr what is not in it."""
    from tfdarshan.staging.plan_file import write_plan
    from tfdarshan.staging.plan_formats import emit
    from tfdarshan.staging.staged_command import apply_and_run

    said = [f"no longer there: {plural(planned.gone, 'chosen file')}" if planned.gone else ""]
    said.append(f"grown so that they no longer fit: {planned.no_room:,}" if planned.no_room else "")
    if arguments.format:
        emitted = emit(planned.plan, arguments.format, str(arguments.output or "FILE"))
        _write_bytes(emitted.content, arguments.output)
        said.append(
            f"with a newline in the name, which this format cannot hold: {emitted.left_out:,}"
            if emitted.left_out
            else ""
        )
        said.append(f"use it with: {emitted.usage}" if emitted.usage else "")
    else:
        write_plan(planned.plan, arguments.output)
        plan = planned.plan
        output = str(arguments.output)
        copy, run = apply_and_run(job, plan.slow_root, plan.fast_root, output, mirrored=mirrored)
        there = f"the plan is in {arguments.output}"
        said.append(f"{there}; copy with: {copy}" if plan.files else f"{there}; it has no file")
        said.append(f"then run the job with the copies: {run}" if plan.files else "")
    for sentence in filter(None, said):
        say(f"tfdarshan: {sentence}", error=True)


def _write_bytes(content: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(content)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise StorageError(
            f"{output} cannot be written: {reason(error)}; name another file with -o."
        ) from error


def _plain(decision: Decision) -> dict[str, Any]:
    """Return the advice as data, with what its properties say."""
    import dataclasses

    advice = decision.advice
    data = dataclasses.asdict(advice)
    for plain, rule in zip(data["rules"], advice.rules, strict=True):
        low, high = rule.expected.gain_range
        plain["expected"] |= {"gain": rule.expected.gain, "gain_low": low, "gain_high": high}
    return data | {"helps": advice.helps}
