"""Who reads: this process, several of this machine, or a Dask cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import check_least
from tfdarshan.errors import ConfigurationError

if TYPE_CHECKING:
    from tfdarshan.partials.serial import Runner
    from tfdarshan.sessions.session_data import SessionData

# How many processes read a session by default.
USUAL = "1; as many as there are processors for a large session of several processes"


def add_runner(parser: Any, usual: str = "one a processor") -> None:
    """Adds --processes and --cluster; `usual` says how many processes there are by default."""
    parser.add_argument(
        "--processes", type=int, metavar="N", help=f"how many processes read (default: {usual})"
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="let a Dask cluster read, whose workers see the same files: tcp://HOST:PORT, its scheduler, or "
        "local:N, workers of this machine, or slurm:N, jobs of Slurm, or k8s:N, pods of Kubernetes",
    )


def check_runner(arguments: argparse.Namespace) -> None:
    """Checks them.

    Raises:
        ConfigurationError: Both are given, there are less than one process, or workers do not see a copy.
    """
    if arguments.processes is not None:
        check_least("--processes", arguments.processes, 1)
        if arguments.cluster is not None:
            raise ConfigurationError("--processes and --cluster exclude each other: local:N is N processes.")
    if arguments.cluster is not None and not arguments.cluster.startswith("local:"):
        from tfdarshan.sessions.session_directory import REMOTE_URL

        for path in (*getattr(arguments, "paths", ()), *getattr(arguments, "logdir", ())):
            if REMOTE_URL.match(path):
                raise ConfigurationError(
                    f"{path} is copied to this machine, where workers of {arguments.cluster} do not see it."
                )


@contextmanager
def runner_of(arguments: argparse.Namespace, processes: int | None = None) -> Iterator[Runner]:
    """Gives what was asked for; a pool begins its processes when it has tasks, a cluster at once.

    Args:
        arguments: What was asked for.
        processes: How many processes there are by default; None for one a processor.

    Raises:
        ConfigurationError: There is no such cluster, or Dask is not installed.
    """
    if arguments.cluster is not None:
        from tfdarshan.notice import say
        from tfdarshan.partials.dask_cluster import dask_cluster

        with dask_cluster(arguments.cluster) as cluster:
            if cluster.hint:
                say(cluster.hint)
            yield cluster
        return
    from tfdarshan.partials.process_pool import ProcessPool, usable_processors
    from tfdarshan.partials.serial import SERIAL

    count = arguments.processes or processes or usable_processors()
    yield ProcessPool(count) if count > 1 else SERIAL


@contextmanager
def runner_of_calls(arguments: argparse.Namespace, session: SessionData) -> Iterator[Runner | None]:
    """Gives what reads the calls of one session, which shows its progress.

    That is who was asked for; else processes of this machine if there is more than one window to read, and
    None, for whoever reads the calls anyway, if not.

    Raises:
        ConfigurationError: As `runner_of`.
    """
    from tfdarshan.analysis.time_windows import WINDOW_CALLS
    from tfdarshan.partials.told_runner import ToldRunner
    from tfdarshan.terminal.progress import LONG_WORK_S, Progress

    calls = sum(int(meta["counts"]["segments"]) for meta in session.meta)
    asked_for = arguments.processes is not None or arguments.cluster is not None
    small = len(session.processes) < 2 or calls <= WINDOW_CALLS
    if arguments.processes == 1 or (small and not asked_for):
        yield None
        return
    with Progress("reading calls", after_s=LONG_WORK_S) as progress, runner_of(arguments) as runner:
        yield ToldRunner(runner, progress)
