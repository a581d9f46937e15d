"""Who reads: this process, several of this machine, or a Dask cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tfdarshan.commands.arguments import check_least
from tfdarshan.errors import ConfigurationError

if TYPE_CHECKING:
    from tfdarshan.partials.dask_cluster import DaskCluster
    from tfdarshan.partials.data_runner import Data
    from tfdarshan.partials.serial import Runner
    from tfdarshan.sessions.session_data import SessionData

# How many processes read a session by default.
USUAL = "1; as many as there are processors for a large session of several processes"


def add_runner(parser: Any, usual: str = "one per processor") -> None:
    """Add --processes and --cluster; `usual` says how many processes there are by default."""
    parser.add_argument(
        "--processes",
        type=int,
        metavar="N",
        help=f"number of processes that load sessions (default: {usual})",
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="read the data with a Dask cluster that sees the same files: tcp://HOST:PORT names its "
        "scheduler; "
        "local:N starts N workers on this machine, slurm:N as many Slurm jobs, k8s:N as many Kubernetes pods",
    )


def check_runner(arguments: argparse.Namespace) -> None:
    """Check them.

    Raises:
        ConfigurationError: Both are given, or there are less than one process.
    """
    if arguments.processes is not None:
        check_least("--processes", arguments.processes, 1)
        if arguments.cluster is not None:
            raise ConfigurationError("--processes and --cluster exclude each other: local:N is N processes.")


@contextmanager
def runner_of(
    arguments: argparse.Namespace, processes: int | None = None, data: Data | None = None
) -> Iterator[Runner]:
    """Yield what was asked for; a pool begins its processes when it has tasks, a cluster at once.

    Args:
        arguments: What was asked for.
        processes: How many processes there are by default; None for one a processor.
        data: What workers of a cluster may have to get first.

    Raises:
        ConfigurationError: There is no such cluster, or Dask is not installed.
    """
    if arguments.cluster is not None:
        from tfdarshan.notice import say
        from tfdarshan.partials.dask_cluster import dask_cluster

        with dask_cluster(arguments.cluster) as cluster:
            if cluster.hint:
                say(cluster.hint)
            yield from _with_data(cluster, data)
        return
    from tfdarshan.partials.process_pool import ProcessPool, usable_processors
    from tfdarshan.partials.serial import SERIAL

    count = arguments.processes or processes or usable_processors()
    if count == 1:
        yield SERIAL
        return
    with ProcessPool(count) as pool:
        yield pool


def _with_data(cluster: DaskCluster, data: Data | None) -> Iterator[Runner]:
    if data is None:
        yield cluster
        return
    from tfdarshan.partials.data_runner import DataRunner

    try:
        yield DataRunner(cluster, data)
    finally:
        cluster.on_each_worker(data.remove)


@contextmanager
def runner_of_session(arguments: argparse.Namespace, path: str, session: SessionData) -> Iterator[Runner]:
    """Yield what was asked for to read one session; this process by default.

    What a URL names was copied to this machine, and workers of a cluster copy it to theirs. A Darshan log was
    imported here, and is small: this process reads it.

    Args:
        arguments: What was asked for.
        path: The session, as it was given.
        session: The session.

    Raises:
        ConfigurationError: As `runner_of`.
    """
    from tfdarshan.partials.serial import SERIAL

    if _is_read_here(arguments, session):
        yield SERIAL
        return
    with runner_of(arguments, 1, _data_of(path, session)) as runner:
        yield runner


def _is_read_here(arguments: argparse.Namespace, session: SessionData) -> bool:
    """Return whether a session is that of a log: workers of a cluster do not see what was imported here."""
    from tfdarshan.sessions.session_directory import is_of_a_log

    return arguments.cluster is not None and is_of_a_log(session.path)


def _data_of(path: str, session: SessionData) -> Data | None:
    from tfdarshan.sessions.remote_session import is_url
    from tfdarshan.sessions.worker_copy import worker_copy

    return worker_copy(path, session.path) if is_url(path) else None


@contextmanager
def runner_of_calls(
    arguments: argparse.Namespace, session: SessionData, path: str = ""
) -> Iterator[Runner | None]:
    """Yield what reads the calls of one session, which shows its progress.

    That is who was asked for, as in `runner_of_session`; else processes of this machine if there is more than
    one window to read, and None, for whoever reads the calls anyway, if not.

    Args:
        arguments: What was asked for.
        session: The session.
        path: The session, as it was given, where that may be a URL.

    Raises:
        ConfigurationError: As `runner_of`.
    """
    from tfdarshan.analysis.calls.time_windows import WINDOW_CALLS
    from tfdarshan.partials.told_runner import ToldRunner
    from tfdarshan.terminal.progress import LONG_WORK_S, Progress

    calls = sum(int(meta["counts"]["segments"]) for meta in session.meta)
    asked_for = arguments.processes is not None or arguments.cluster is not None
    small = len(session.processes) < 2 or calls <= WINDOW_CALLS
    here = arguments.processes == 1 or _is_read_here(arguments, session)
    if here or (small and not asked_for):
        yield None
        return
    with (
        Progress("reading calls", after_s=LONG_WORK_S) as progress,
        runner_of(arguments, data=_data_of(path, session)) as runner,
    ):
        yield ToldRunner(runner, progress)
