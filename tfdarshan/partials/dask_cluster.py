"""Runs tasks on a Dask cluster: one that is there, or workers of this machine. Needs the extra `dask`.

Tasks are futures of `dask.distributed`, so that a cluster of any kind will do.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic

from tfdarshan.errors import ConfigurationError, reason
from tfdarshan.partials.serial import Done, GivenT, Lost, ResultT

# Tasks that wait or are under way.
AHEAD = 256
# How long a cluster may be without workers before what is left counts as lost, and how often it is asked.
GRACE_S, ASK_EVERY_S = 60.0, 1.0
# How long a scheduler may take to answer at all.
CONNECT_S = 10.0
# Dask tells its workers' malloc to give memory back at once, which more than doubles their processor time:
# each task takes and frees arrays of megabytes.
DASKS_TRIM, OUR_TRIM = str(1 << 16), 1 << 30
TRIM, MMAP = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
LOCAL, SLURM, KUBERNETES = "local:", "slurm:", "k8s:"
KINDS = (
    "tcp://HOST:PORT, the address of a Dask scheduler, local:N, workers of this machine, "
    "slurm:N, jobs of Slurm, or k8s:N, pods of Kubernetes"
)
# What a job of Slurm asks for, unless dask-jobqueue's own configuration says it.
JOB = {"cores": 1, "processes": 1, "memory": "2GiB"}


@contextmanager
def dask_cluster(where: str) -> Iterator[DaskCluster]:
    """Connect to a cluster, or start one of this machine, and end what it started.

    Args:
        where: An address of a scheduler (`tcp://...`, `tls://...`), `local:N` for N workers, `slurm:N` for N
            jobs of Slurm, of a worker each, or `k8s:N` for as many pods of Kubernetes.

    Raises:
        ConfigurationError: It is none of these, it cannot be reached, it has no workers, or Dask is missing.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ConfigurationError(
            "--cluster needs dask.distributed: pip install 'tfdarshan[dask]'."
        ) from error
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if where.startswith(LOCAL):
        with _settings():
            started = LocalCluster(
                n_workers=_workers(where),
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.ERROR,
            )
        with started, Client(started) as client:
            yield DaskCluster(client)
        return
    kind = where[: where.find(":") + 1]
    if kind in STARTED:
        with STARTED[kind](_workers(where)) as started, Client(started) as client:
            cluster = DaskCluster(client)
            cluster.check_workers(where)
            yield cluster
        return
    if "://" not in where:
        raise ConfigurationError(f"--cluster {where} is not {KINDS}.")
    try:
        client = Client(where, timeout=CONNECT_S)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"no Dask scheduler answers at {where}: {reason(error)}; start it, or give its address."
        ) from error
    with client:
        cluster = DaskCluster(client)
        cluster.check_workers(where)
        yield cluster


def _workers(where: str) -> int:
    kind, _, count = where.partition(":")
    if not count.isdecimal() or int(count) < 1:
        raise ConfigurationError(f"--cluster {where}: {kind}:N takes a number of workers of at least 1.")
    return int(count)


@contextmanager
def _slurm_jobs(count: int) -> Iterator[Any]:
    """Yield workers that are jobs of Slurm, which end with it.

    Their partition, account and time are what dask-jobqueue's configuration says.
    """
    try:
        import dask
        from dask_jobqueue import SLURMCluster
    except ImportError as error:
        raise ConfigurationError(
            "--cluster slurm:N needs dask-jobqueue: pip install 'tfdarshan[dask]'."
        ) from error
    said = dask.config.get("jobqueue.slurm", {})
    wanted = {name: value for name, value in JOB.items() if said.get(name) is None or name == "processes"}
    exports = [f"export {name}={OUR_TRIM}" for name in (TRIM, MMAP)]
    with SLURMCluster(**wanted, job_script_prologue=exports, silence_logs=logging.ERROR) as started:
        started.scale(count)
        yield started


@contextmanager
def _pods(count: int) -> Iterator[Any]:
    """Yield workers that are pods of Kubernetes, which end with it.

    Their image, namespace and resources are what Dask's configuration says (`kubernetes`).
    """
    try:
        from dask_kubernetes.operator import KubeCluster
    except ImportError as error:
        raise ConfigurationError(
            "--cluster k8s:N needs dask-kubernetes: pip install dask-kubernetes."
        ) from error
    environ = {TRIM: str(OUR_TRIM), MMAP: str(OUR_TRIM)}
    with KubeCluster(name=f"tfdarshan-{os.getpid()}", n_workers=count, env=environ, quiet=True) as started:
        yield started


STARTED = {SLURM: _slurm_jobs, KUBERNETES: _pods}


def _settings() -> Any:
    import dask

    environ = dask.config.get("distributed.nanny.pre-spawn-environ", {})
    return dask.config.set(
        {"distributed.nanny.pre-spawn-environ": environ | {TRIM: OUR_TRIM, MMAP: OUR_TRIM}}
    )


class DaskCluster:
    """Runs tasks on the workers of a cluster.

    The scheduler gives a task of a worker that ended to others; one that several in a row ended over is lost,
    and so is all that is left if no worker is there any more.

    Args:
        client: The `distributed.Client`.
        grace_s: How long to wait for workers where there are none.
    """

    few = 1

    def __init__(self, client: Any, grace_s: float = GRACE_S) -> None:
        self._client = client
        self._grace_s = grace_s

    def check_workers(self, where: str) -> None:
        """Wait for the first worker.

        Raises:
            ConfigurationError: None comes.
        """
        try:
            self._client.wait_for_workers(1, timeout=self._grace_s)
        except Exception as error:  # which one depends on Dask's version
            raise ConfigurationError(f"the Dask cluster {where} has no workers: start some.") from error

    def on_each_worker(self, work: Callable[[], None]) -> None:
        """Have all workers that are there do something; what goes wrong with one is passed over."""
        with suppress(Exception):  # which ones there are depends on Dask's version
            self._client.run(work, on_error="ignore")

    @property
    def hint(self) -> str:
        """Describe what would make workers that somebody else started quicker; "" if nothing would."""
        found = self._client.run(_trim_threshold)
        slow = sum(threshold == DASKS_TRIM for threshold in found.values())
        if not slow:
            return ""
        return (
            f"{slow} of {len(found)} workers give memory back at once, which doubles their processor time: "
            f"start them with {TRIM} and {MMAP} of {OUR_TRIM} in their environment."
        )

    def each(
        self, work: Callable[[GivenT], ResultT], tasks: Sequence[GivenT]
    ) -> Iterator[Done[GivenT, ResultT] | Lost[GivenT]]:
        """See `Runner.each`."""
        to_come = deque(tasks)
        with _flight(self._client, self._grace_s) as flight:
            while to_come or flight.pending:
                while to_come and len(flight.pending) < AHEAD:
                    task = to_come.popleft()
                    flight.submit(task, work, task)
                for landed in flight.landed():
                    yield Lost(landed.given) if landed.lost else Done(landed.given, landed.result)


@dataclass(frozen=True)
class _Landed(Generic[GivenT]):
    """A future that is done; `lost` if each worker that had it ended."""

    given: GivenT
    future: Any

    @property
    def lost(self) -> bool:
        from distributed.scheduler import KilledWorker

        if self.future.status == "error" and not isinstance(self.future.exception(), KilledWorker):
            self.future.result()  # raises
        return bool(self.future.status != "finished")

    @property
    def result(self) -> Any:
        return self.future.result()


class _Flight:
    """Futures that are under way."""

    def __init__(self, client: Any, grace_s: float) -> None:
        self._client = client
        self._grace_s = grace_s
        self.pending: dict[Any, _Landed[Any]] = {}

    def submit(self, given: Any, work: Callable[..., Any], argument: Any) -> None:
        """Submit a call; `given` is what it is known by."""
        future = self._client.submit(work, argument, pure=False)
        self.pending[future] = _Landed(given, future)

    def landed(self) -> list[_Landed[Any]]:
        """Wait until some are done, and take these; all of them if no worker is there any more."""
        from distributed import wait

        alone_since_s: float | None = None
        while True:
            with suppress(TimeoutError, asyncio.TimeoutError):
                wait(list(self.pending), timeout=ASK_EVERY_S, return_when="FIRST_COMPLETED")
            done = [future for future in self.pending if future.done()]
            if done:
                return [self.pending.pop(future) for future in done]
            if self._has_workers():
                alone_since_s = None
            else:
                alone_since_s = time.monotonic() if alone_since_s is None else alone_since_s
                if time.monotonic() - alone_since_s > self._grace_s:
                    return self.give_up()

    def give_up(self) -> list[_Landed[Any]]:
        """Cancel all, and return them."""
        left = list(self.pending.values())
        self.pending.clear()
        if self._client.status == "running":
            self._client.cancel([landed.future for landed in left], force=True)
        return left

    def _has_workers(self) -> bool:
        return self._client.status == "running" and bool(self._client.scheduler_info()["workers"])


@contextmanager
def _flight(client: Any, grace_s: float) -> Iterator[_Flight]:
    flight = _Flight(client, grace_s)
    try:
        yield flight
    finally:
        flight.give_up()


def _trim_threshold() -> str:
    return os.environ.get(TRIM, "")
