"""Made-up sessions of ranks, and of a mapped file whose faults nobody saw."""

from __future__ import annotations

from pathlib import Path

from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings.made_up_mapped import PATH, loop_faults, mapped_training
from tests.unit.findings.made_up_ranks import shards
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tests.unit.sentences.counters_only import with_counters
from tests.unit.sentences.rows import Maker
from tests.unit.sentences.sessions import KB, MB, SESSIONS
from tfdarshan.session import Session


def ranks(folder: Path, *, marked: bool) -> Session:
    """Return a job of three ranks, the last of which reads five times as slowly."""
    dealt = shards(3, 4)
    made = [MadeUpRank(steps, "n0", times) for steps, times in zip(dealt, (1, 1, 5), strict=True)]
    return joint_training(folder, made, noise=0.0, marked=marked)


def looked_at(folder: Path, *, looks: int) -> Session:
    """Return a mapped file whose faults the kernel did not show; looks at threads, if any, show 0.5 s."""
    block = {"watch": "no events", "error": 13, "faults_kept": 0} | ({"looks": looks} if looks else {})
    faults = loop_faults(50, 20.0, 2.5, 4, jump=MB)
    session = mapped_training(folder, faults, epochs_of_steps(50, 20.0, 10.0), kept=False, block=block)
    seconds = 0.5 if looks else -1.0
    return with_counters(session, PATH, "MMAP", MMAP_F_FAULT_TIME=seconds, MMAP_F_WAIT_TIME=seconds)


LONG_STEPS = epochs_of_steps(40, 1000, 0)


def saved(
    folder: Path, *, every: int = 4, tid: int = LOOP, marked: bool = True, name: str = "out"
) -> Session:
    """Return 40 steps of a second, every so many of which end with 0.6 s of writes of 4 MB each."""
    calls: list[tuple] = []
    for step in range(every - 1, 40, every):
        at = 1000 * step + 400
        calls += [(at + 120 * n, at + 120 * (n + 1), tid, "write", 0, 4 * MB) for n in range(5)]
    steps = LONG_STEPS if marked else ()
    return training(folder, calls, steps, paths=[f"/data/{name}"], sizes=[100 * MB], duration_ms=40_000)


def poor(folder: Path) -> Session:
    """Return a job that writes alone, and has no steps."""
    return SESSIONS["only writes"](folder)


def slow(times: float) -> Maker:
    """Return what makes a job whose steps take so many times as long."""
    calls = [(10 * n * times, (10 * n + 5) * times, 1, "pread", 0, 10 * KB, 10 * KB * n) for n in range(100)]
    return lambda folder: training(folder, calls, epochs_of_steps(100, 10 * times, 5 * times), sizes=[MB])


MIB, STEPS = 1 << 20, epochs_of_steps(50, 20.0, 10.0)


def mapped(folder: Path, **more) -> Session:
    """Return four faults of the loop's a step, a MiB apart, or other ones."""
    faults = more.pop("faults", loop_faults(50, 20.0, 2.5, 4, jump=MIB))
    return mapped_training(folder, faults, more.pop("steps", STEPS), **more)


QUICK = loop_faults(50, 20.0, 0.01, 40, jump=4096)


def mapped_from_memory(
    folder: Path, *, stages: tuple = (), kind: str = "npy", faults: list[tuple] = QUICK
) -> Session:
    """Return 40 faults a step that find their page in memory, and steps that wait for something else."""
    found = [{"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 1}] if stages else []
    meta = {"pipelines": {"found": found, "left_out": 0}}
    steps = epochs_of_steps(50, 20.0, 15.0)
    return mapped_training(folder, faults, steps, formats={PATH: kind}, meta=meta)
