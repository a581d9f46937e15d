"""Makes a job of many ranks, or prints what `tfdarshan summary --json` takes the first and the next time."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tfdarshan
from tests.joint_training import SESSION, MadeUpRank, joint_training
from tests.made_up_session import job_of, write_session
from tfdarshan.sessions.analysis_cache_file import FILE
from tfdarshan.sessions.rank_folder import rank_folder
from tfdarshan.sessions.session_directory import META_SUFFIX

RANKS_OF_A_HOST, STEPS = 8, 8


def main() -> None:
    """Do the one or the other: `ranks FOLDER COUNT`, or `summary FOLDER`."""
    task, folder = sys.argv[1], Path(sys.argv[2])
    if task == "ranks":
        write_ranks(folder, int(sys.argv[3]))
        print("{}")
        return
    path = tfdarshan.open_session(folder).path
    for kept in path.rglob(FILE):
        kept.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        # As pip leaves it: modules are compiled.
        environment = dict(os.environ, PYTHONPYCACHEPREFIX=str(Path(scratch) / "compiled"))
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        calls = [(at, at + 5, 1, "pread", 0, 100) for at in range(0, 1000, 10)]
        small = write_session(Path(scratch), job_of(calls, ["/data/0"], [100])).path
        _summarized(small, environment)
        first, again = (_summarized(path, environment) for _ in range(2))
    print(json.dumps({"first": first, "again": again}))


def write_ranks(logdir: Path, count: int) -> None:
    """Write a job whose ranks did what one of two did: 32 calls each, in a folder each."""
    made = joint_training(logdir, [MadeUpRank([[step, step + 1] for step in range(STEPS)])] * 2)
    root = logdir / "plugins/tfdarshan" / SESSION
    assert made.path == root
    for rank in range(count):
        folder = rank_folder(root, rank)
        if rank > 1:
            shutil.copytree(rank_folder(root, 1), folder)
        (path,) = folder.glob(f"*{META_SUFFIX}")
        meta = json.loads(path.read_text())
        host = f"n{rank // RANKS_OF_A_HOST}"
        meta["host"] = meta["job"]["clock"]["boot_id"] = host
        meta["job"] |= {"rank": rank, "world_size": count}
        path.write_text(json.dumps(meta))


def _summarized(path: Path, environment: dict[str, str]) -> dict[str, float]:
    """Return the processor time of the command, and the memory of the largest process so far."""
    before = _cpu_s()
    command = [sys.executable, "-m", "tfdarshan", "summary", "--json", str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"cpu_s": _cpu_s() - before, "peak_mib": peak_kib / 1024}


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
