"""`tfdarshan burst`: makes the checkpoints of a job durable on slower storage, without touching its code."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.burst_options import WHEN_FULL, BurstOptions
from tfdarshan.commands.arguments import add_json, print_json, say
from tfdarshan.commands.exit_codes import FAILURE
from tfdarshan.errors import ConfigurationError, reason
from tfdarshan.terminal.columns import Columns
from tfdarshan.units import exact_bytes, human_bytes, human_seconds, plural

if TYPE_CHECKING:
    from tfdarshan.checkpoint.burst_status import TierStatus
    from tfdarshan.checkpoint.pipeline import Pipeline
    from tfdarshan.checkpoint.slow_tier import Publication
    from tfdarshan.checkpoint.watch import Watch

POLL_S = 0.5
LEDGER = Columns("    ", -24, " ", -13, " ", 9, "  blocked ", 9, "  durable after ", 0)


def add_parser(verbs: Any) -> None:
    """Add the verb and its own verbs."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "burst",
        help="copy a job's checkpoints to lasting storage while it runs",
        description="Make the checkpoints that a job writes to a fast folder durable on a slow one. "
        "At any instant the slow folder holds a complete checkpoint. Each verb has --json.",
    )
    inner = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    run = inner.add_parser(
        "run",
        help="watch a job's folder until stopped",
        description="Watch the folder a job writes its checkpoints to, until SIGINT or SIGTERM; "
        "then take over the last one and wait until all are durable. A second signal ends at once.",
    )
    _add_tiers(run)
    _add_options(run)
    add_json(run)
    run.set_defaults(command=run_command)
    drain = inner.add_parser(
        "drain",
        help="finish what an ended job left waiting",
        description="Make durable what waits on the fast tier of a job that has ended, and what it saved "
        "last.",
    )
    _add_tiers(drain)
    _add_options(drain)
    add_json(drain)
    drain.set_defaults(command=drain_command)
    status = inner.add_parser(
        "status",
        help="what waits, what is durable, what it cost",
        description="List the checkpoints that wait on the fast tier to be copied and those that are durable "
        "on the slow one, and say how long saving them took.",
    )
    status.add_argument("folder", metavar="DIR", type=Path, help="the fast or the slow folder")
    status.add_argument(
        "--verify", action="store_true", help="read all durable checkpoints back and compare their digests"
    )
    add_json(status)
    status.set_defaults(command=status_command)


def run_command(arguments: argparse.Namespace) -> int:
    """Watch until a signal comes, then drain."""
    stop = threading.Event()
    previous = {
        number: signal.signal(number, _stopper(stop, number)) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        pipeline = _pipeline(arguments)
        done = _watch(pipeline, stop)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return _ended(pipeline, done)


def _watch(pipeline: Pipeline, stop: threading.Event) -> bool:
    """Take over what the job saves until told to stop; return whether all is durable."""
    from tfdarshan.checkpoint.watch import Watch

    try:
        watch = Watch(pipeline)
        told = ""
        while not stop.wait(POLL_S):
            told = _look(watch, pipeline, told)
        _take_last(watch, pipeline, told)
    finally:
        done = pipeline.close()
    return done


def _take_last(watch: Watch, pipeline: Pipeline, told: str) -> None:
    """Look once more, and again once files that were saved just now have had the time to settle.

    Raises:
        BurstBufferError: The job was still writing one.
    """
    from tfdarshan.checkpoint.watch import SETTLED_S

    _look(watch, pipeline, told)
    if watch.unsettled:
        time.sleep(SETTLED_S)
        _look(watch, pipeline, told)
    if written := watch.unsettled:
        what = plural(len(written), "file")
        raise BurstBufferError(
            f"the job was still writing {what} in {pipeline.fast.folder}, and {written[0]} was not copied: "
            f"run `{pipeline.drain_command}` once the job has saved it."
        )


def drain_command(arguments: argparse.Namespace) -> int:
    """Drain what waits, then what the job saved after that, as where a watch was killed with it."""
    from tfdarshan.checkpoint.watch import Watch

    pipeline = _pipeline(arguments)
    try:
        pipeline.drain.wait_patiently(pipeline.options.wait_limit_s)
        if not pipeline.status().pending:
            _take_last(Watch(pipeline), pipeline, "")
    finally:
        done = pipeline.close()
    if done and pipeline.status().durable is None and not arguments.json:
        say(f"nothing waits in {arguments.fast}")
    return _ended(pipeline, done)


def status_command(arguments: argparse.Namespace) -> int:
    """Describe how a tier stands."""
    from tfdarshan.checkpoint.burst_status import burst_status

    try:
        status = burst_status(arguments.folder, verify=arguments.verify)
    except BurstBufferError:
        raise
    except OSError as error:
        raise BurstBufferError(
            f"{arguments.folder} cannot be read: {reason(error)}; name the fast or the slow folder."
        ) from error
    if arguments.json:
        print_json(status)
    else:
        _print_status(status)
    return 1 if status.damaged else 0


def _add_tiers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fast", metavar="FAST", type=Path, help="the folder that the job writes to")
    parser.add_argument("slow", metavar="SLOW", type=Path, help="the folder where checkpoints are to last")


def _add_options(parser: argparse.ArgumentParser) -> None:
    defaults = BurstOptions()
    parser.add_argument(
        "--max-to-keep",
        type=int,
        metavar="N",
        default=defaults.max_to_keep,
        help=f"checkpoints that stay in SLOW, 0 for all (default: {defaults.max_to_keep})",
    )
    parser.add_argument(
        "--keep-checkpoint-every-n-hours",
        type=float,
        metavar="HOURS",
        help="also keep, for ever, one checkpoint of every so many hours",
    )
    parser.add_argument(
        "--max-pending",
        type=int,
        metavar="N",
        default=defaults.max_pending,
        help=f"checkpoints in FAST that may wait to be copied, at most (default: {defaults.max_pending})",
    )
    parser.add_argument(
        "--when-full",
        choices=WHEN_FULL,
        default="newest",
        help="what to do with a new checkpoint while --max-pending others wait to be copied: newest drops "
        "those, skip drops the new one, wait lets the job wait (default: newest)",
    )
    parser.add_argument(
        "--bandwidth-mb-s",
        type=float,
        metavar="MB",
        help="write at most this many MB a second (default: no limit)",
    )
    parser.add_argument(
        "--buffer-mb",
        type=int,
        metavar="MIB",
        default=defaults.buffer_mb,
        help=f"memory for copying, in MB (default: {defaults.buffer_mb})",
    )
    parser.add_argument(
        "--wait-limit-s",
        type=float,
        metavar="S",
        default=defaults.wait_limit_s,
        help=f"how long to try a failing SLOW at the end (default: {defaults.wait_limit_s:g})",
    )
    parser.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=defaults.verify,
        help="read every copy back before it counts (default: yes)",
    )


def _pipeline(arguments: argparse.Namespace) -> Pipeline:
    from tfdarshan.checkpoint.pipeline import Pipeline

    if not arguments.fast.is_dir():
        raise ConfigurationError(f"{arguments.fast} is not a folder: name the one that the job writes to.")
    options = BurstOptions(
        max_to_keep=arguments.max_to_keep or None,
        keep_checkpoint_every_n_hours=arguments.keep_checkpoint_every_n_hours,
        max_pending=arguments.max_pending,
        when_full=arguments.when_full,
        wait_limit_s=arguments.wait_limit_s,
        bandwidth_mb_s=arguments.bandwidth_mb_s,
        buffer_mb=arguments.buffer_mb,
        verify=arguments.verify,
    )

    def tell(publication: Publication) -> None:
        published = publication.published
        if arguments.json:
            print(json.dumps({"durable": published.target, "bytes": published.entry.size_bytes}), flush=True)
        else:
            size, took = human_bytes(published.entry.size_bytes), human_seconds(publication.copy_s)
            say(f"durable: {arguments.slow / published.target}, {size} copied in {took}")
            sys.stdout.flush()

    return Pipeline(arguments.fast, arguments.slow, options, on_durable=tell)


def _stopper(stop: threading.Event, number: int) -> Any:
    def handle(_signal: int, _frame: Any) -> None:
        if stop.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stop.set()

    return handle


def _look(watch: Watch, pipeline: Pipeline, told: str) -> str:
    """Take what is new, and say what is wrong, once for each thing that is."""
    problem = pipeline.status().problem
    try:
        watch.take_new()
    except OSError as error:
        problem = f"{pipeline.fast.folder}: {reason(error)}"
    if problem and problem != told:
        with suppress(OSError):
            say(f"tfdarshan: {problem.rstrip('.')}; trying again", error=True)
    return problem


def _ended(pipeline: Pipeline, done: bool) -> int:
    if undone := pipeline.undone:
        raise BurstBufferError(undone)
    # What was set aside was said when it was.
    return 0 if done else FAILURE


def _print_status(status: TierStatus) -> None:
    owner = status.owner
    say(f"{status.folder}: {status.tier} tier, " + (f"in use by {owner}" if owner else "in use by nobody"))
    if status.tier == "fast":
        say(f"  drains to    {status.slow_folder or '(not known yet)'}")
        waiting = f"{plural(len(status.pending), 'checkpoint')}, {exact_bytes(status.pending_bytes)}"
        say(f"  waiting      {waiting if status.pending else 'nothing'}")
        for entry in status.pending:
            say(f"    {entry.name}  {human_bytes(entry.size_bytes)}")
    else:
        say(f"  durable      {status.durable or 'no TensorFlow checkpoint'}")
        say(f"  kept         {', '.join(status.kept) or 'none'}")
    for name, problem in status.damaged.items():
        say(f"  damaged      {name}: {problem}")
    if status.verified is not None and not status.damaged:
        verified = f"{plural(status.verified, 'checkpoint')}, all as written"
        say(f"  verified     {verified if status.verified else 'nothing: no checkpoint is there'}")
    if status.interval_cost:
        say(f"  saving       {status.interval_cost}")
    for row in status.ledger[-10:]:
        blocked = "-" if row.blocked_s is None else human_seconds(row.blocked_s)
        lag = "-"
        if row.slow_durable_at is not None and row.saved_at is not None:
            lag = human_seconds(row.slow_durable_at - row.saved_at)
        size = "-" if row.size_bytes is None else human_bytes(row.size_bytes)
        name = row.checkpoint or "-"
        say(LEDGER.row(name, row.outcome, size, blocked, lag))
