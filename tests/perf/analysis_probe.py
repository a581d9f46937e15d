"""Makes a session of 10 events per file, or analyses one, and prints what that took as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import tfdarshan
from tests.joint_training import MadeUpRank, put_into_job
from tests.made_up_session import image_job, write_job, write_session
from tfdarshan.analysis import session_analysis

EPOCHS, THREADS = 2, 8


def _make(folder: Path, files: int, processes: int = 1) -> None:
    session = write_session(folder, image_job(files // processes, EPOCHS, THREADS))
    for place in range(1, processes):
        job = image_job(files // processes, EPOCHS, THREADS, seed=place)
        write_job(session.path, replace(job, pid=job.pid + place), owner=False)


def _make_ranks(folder: Path, files: int, ranks: int) -> None:
    """Writes the session of a job of as many calls and files, each rank on a host of its own."""
    for rank in range(ranks):
        job = image_job(files // ranks, EPOCHS, THREADS, seed=rank)
        part = write_session(folder / f"part-{rank}", job)
        put_into_job(folder, part.path, rank, ranks, MadeUpRank([], f"n{rank}"))


def main() -> None:
    """Does the one or the other."""
    task, folder = sys.argv[1], Path(sys.argv[2])
    if task == "make_ranks":
        _make_ranks(folder, *map(int, sys.argv[3:]))
        print("{}")
        return
    if task == "make":
        _make(folder, *map(int, sys.argv[3:]))
        print("{}")
        return
    taken: dict[str, float] = {}
    questions: dict[str, Any] = {
        name: _timed(name, value, taken)
        for name, value in vars(session_analysis).items()
        if getattr(value, "__module__", "").startswith("tfdarshan.")
        and name[0].islower()
        and name != "analyse"
    }
    session = tfdarshan.open_session(folder)
    before, cpu_before = time.perf_counter(), time.process_time()
    with mock.patch.multiple(session_analysis, **questions):
        session_analysis.analyse(session)
    wall_s, cpu_s = time.perf_counter() - before, time.process_time() - cpu_before
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall_s": wall_s, "cpu_s": cpu_s, "peak_mib": peak_mib, "steps_s": taken}))


def _timed(name: str, question: Callable[..., Any], taken: dict[str, float]) -> Callable[..., Any]:
    def ask(*arguments: Any) -> Any:
        before = time.perf_counter()
        answer = question(*arguments)
        taken[name] = time.perf_counter() - before
        return answer

    return ask


if __name__ == "__main__":
    main()
