"""Makes a session of 10 events per file, of one process, many processes or many ranks."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from tests.joint_training import MadeUpRank, put_into_job
from tests.made_up_session import image_job, write_job, write_session

EPOCHS, THREADS = 2, 8


def _make(folder: Path, files: int, processes: int = 1) -> None:
    session = write_session(folder, image_job(files // processes, EPOCHS, THREADS))
    for place in range(1, processes):
        job = image_job(files // processes, EPOCHS, THREADS, seed=place)
        write_job(session.path, replace(job, pid=job.pid + place), owner=False)


def _make_ranks(folder: Path, files: int, ranks: int) -> None:
    """Write the session of a job of as many calls and files, each rank on a host of its own."""
    for rank in range(ranks):
        job = image_job(files // ranks, EPOCHS, THREADS, seed=rank)
        part = write_session(folder / f"part-{rank}", job)
        put_into_job(folder, part.path, rank, ranks, MadeUpRank([], f"n{rank}"))


if __name__ == "__main__":
    make = _make_ranks if sys.argv[1] == "make_ranks" else _make
    make(Path(sys.argv[2]), *map(int, sys.argv[3:]))
    print("{}")
