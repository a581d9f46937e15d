"""Runs workloads on tiers, and takes back what they leave behind."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tfdarshan.errors import ConfigurationError, StorageError, reason

from .catalogue import WORKLOADS, Workload
from .experiment import Experiment
from .fuse_mount import check_fuse
from .place import DIRECTORY, EMULATION, FUSE, Place
from .result import Result, write_result
from .throttled_device import TIERS, clean_tiers
from .tiers import is_model, open_tier, shm_folder

QUICK_REPEATS, PUBLISHED_REPEATS = 1, 5


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be run."""

    names: tuple[str, ...]
    tiers: tuple[str, ...]
    work_dir: Path
    backend: str = EMULATION
    quick: bool = False
    repeats: int | None = None
    seed: int = 0
    files: int | None = None
    size_scale: float = 1.0
    data_dir: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def run_plan(plan: Plan, say: Callable[[str], None] = print) -> list[Result]:
    """Run every workload on every tier and write one JSON file for each.

    Raises:
        TfdarshanError: A name, a tier, the data or a package cannot be used.
    """
    chosen = [find_workload(name) for name in plan.names]
    _need_packages(chosen)
    # Before the first import of TensorFlow.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    make_work_dir(plan.work_dir)
    results = []
    with _ended_by_sigterm():
        for workload in chosen:
            for tier in plan.tiers if workload.name != "pai" else plan.tiers[:1]:
                results.append(_run_one(plan, workload, tier, say))
    return results


def find_workload(name: str) -> Workload:
    """Return the workload of that name.

    Raises:
        ConfigurationError: There is none.
    """
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    names = ", ".join(workload.name for workload in WORKLOADS)
    raise ConfigurationError(f"there is no workload {name!r}: there are {names}.")


def make_work_dir(work_dir: Path) -> None:
    """Make the work directory.

    Raises:
        StorageError: It cannot be made.
    """
    try:
        work_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"the work directory {work_dir} was not made: {reason(error)}.") from error


def clean(work_dir: Path, *, everything: bool = False) -> list[str]:
    """Take back what runs left behind, also killed ones; return a sentence for each thing done.

    Args:
        work_dir: Of these runs.
        everything: Also remove generated data, sessions and results.
    """
    done = clean_tiers(work_dir / TIERS)
    if shm_folder().exists():
        shutil.rmtree(shm_folder())
        done.append(f"removed {shm_folder()}")
    for name in ("data", "logs", "results", TIERS) if everything else ():
        if (work_dir / name).is_dir():
            shutil.rmtree(work_dir / name)
            done.append(f"removed {work_dir / name}")
    return done


def _run_one(plan: Plan, workload: Workload, tier: str, say: Callable[[str], None]) -> Result:
    with _place(plan, workload, tier) as place:
        say(f"{workload.name}{f' on {tier}: {place.said}' if place.said else ''}")
        experiment = Experiment(
            workload=workload.name,
            place=place,
            work_dir=plan.work_dir,
            quick=plan.quick,
            repeats=plan.repeats or (QUICK_REPEATS if plan.quick else PUBLISHED_REPEATS),
            seed=plan.seed,
            files=plan.files,
            size_scale=plan.size_scale,
            data_dir=plan.data_dir,
            settings=plan.settings,
            say=say,
        )
        try:
            result = workload.run(experiment)
        except OSError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(
                f"{workload.name} stopped at {error.filename or place.directory}: {reason(error)}."
            ) from error
    say(f"result in {write_result(result, plan.work_dir)}")
    return result


@contextmanager
def _place(plan: Plan, workload: Workload, tier: str) -> Iterator[Place]:
    if workload.name == "pai":
        yield Place("", DIRECTORY, plan.work_dir)
        return
    backend = plan.backend
    if workload.maps and backend == EMULATION and is_model(tier):
        try:
            check_fuse()
        except ConfigurationError as error:
            why = f"nothing is read, as no emulation slows page faults, and {error}"
            yield Place(tier, DIRECTORY, plan.work_dir, said=why, usable=False)
            return
        backend = FUSE
    with open_tier(tier, plan.work_dir, backend=backend) as place:
        yield place


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the run as an exception would: what is mounted is unmounted."""

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _need_packages(chosen: list[Workload]) -> None:
    modules = {"pillow": "PIL"}
    wanted = dict.fromkeys(package for workload in chosen for package in workload.packages)
    missing = [
        package for package in wanted if importlib.util.find_spec(modules.get(package, package)) is None
    ]
    if missing:
        extras = dict.fromkeys(extra for workload in chosen for extra in workload.extras)
        raise ConfigurationError(
            f"workloads need {' and '.join(missing)}: pip install 'tfdarshan[{','.join(extras)}]'."
        )
