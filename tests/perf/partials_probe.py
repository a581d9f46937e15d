"""Makes a large session, or asks how long its calls took, and prints what that took as JSON."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import tfdarshan
from tests.integration.slurm_cluster import DASK_SETTINGS, slurm_cluster
from tests.perf.large_session import write_large_session
from tests.perf.peak_memory import peak_mib
from tfdarshan.analysis.time.latency import latency_by_windows
from tfdarshan.partials.dask_cluster import dask_cluster
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.partials.serial import SERIAL


def main() -> None:
    """Do the one or the other: `make FOLDER EVENTS`, or `answer FOLDER serial|pool:N|local:N|slurm:N`."""
    task, folder = sys.argv[1], Path(sys.argv[2])
    if task == "make":
        write_large_session(folder, int(sys.argv[3]))
        print("{}")
        return
    session = tfdarshan.open_session(folder)
    events = sum(int(meta["counts"]["segments"]) for meta in session.meta)
    before, cpu_before, own_before = time.perf_counter(), _cpu_s(), time.process_time()
    elsewhere_s = [0.0, 0.0]
    with _runner(sys.argv[3]) as runner:
        started_s = time.perf_counter() - before
        elsewhere_s[0] = _cpu_of_jobs_s(runner)
        found = latency_by_windows(session.processes, runner)
        elsewhere_s[1] = _cpu_of_jobs_s(runner)
        own_s = time.process_time() - own_before
    wall_s, cpu_s = time.perf_counter() - before, _cpu_s() - cpu_before + elsewhere_s[1]
    assert int(found["calls"].sum()) == events
    print(
        json.dumps(
            {
                "wall_s": wall_s,
                "answer_s": wall_s - started_s,
                "cpu_s": cpu_s,
                "own_cpu_s": own_s,
                "start_cpu_s": elsewhere_s[0],
                "ns_per_event": cpu_s / events * 1e9,
                "peak_mib": _peak_mib(),
            }
        )
    )


def _runner(name: str) -> Any:
    kind, _, count = name.partition(":")
    if kind == "local":
        return dask_cluster(name)
    if kind == "slurm":
        return _on_slurm(name)
    return ProcessPool(int(count)) if kind == "pool" else nullcontext(SERIAL)


@contextmanager
def _on_slurm(name: str) -> Iterator[Any]:
    """Yield workers that are jobs of a Slurm with two nodes on this machine."""
    with slurm_cluster() as variables:
        os.chdir(sys.argv[2])  # what its jobs print goes there
        os.environ.update({**variables, **DASK_SETTINGS})
        with dask_cluster(name) as cluster:
            cluster.slurm = True  # type: ignore[attr-defined]
            cluster._client.wait_for_workers(int(name.partition(":")[2]))
            yield cluster


def _cpu_of_jobs_s(runner: Any) -> float:
    """Return the processor time of workers that are no children of this process, and of their nannies."""
    if not hasattr(runner, "slurm"):
        return 0.0
    asked = [runner._client.run(time.process_time, nanny=nanny) for nanny in (False, True)]
    return float(sum(seconds for one in asked for seconds in one.values()))


def _cpu_s() -> float:
    """Return the processor time of this process and of all that it started and that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_mib() -> float:
    """Return the memory of the largest of them."""
    return max(peak_mib(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)


if __name__ == "__main__":
    main()
