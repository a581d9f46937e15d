"""One process: opens of a staged file, each closed again, led to its copy or not; the checks of a copy alone.

Prints ns of processor time per pair.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import tfdarshan
from tests.perf.contender import HotLoop, Loop
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan import Plan, PlannedFile, write_plan

FILES = 1_000
OPENS = 20_000
READS = 200_000
CHECKS = Loop("copy_check", "stat of the original, fstat of the copy", 20_000)


def open_all(paths: list[str]) -> float:
    """Opens and closes files in turn; gives ns of processor time per open."""
    begin = time.thread_time_ns()
    for number in range(OPENS):
        os.close(os.open(paths[number % len(paths)], os.O_RDONLY))
    return (time.thread_time_ns() - begin) / OPENS


def read_one(path: str) -> float:
    """Reads a byte of an open file again and again; gives ns of processor time per read."""
    handle = os.open(path, os.O_RDONLY)
    begin = time.thread_time_ns()
    for _ in range(READS):
        os.pread(handle, 1, 0)
    took = (time.thread_time_ns() - begin) / READS
    os.close(handle)
    return took


def main(folder: Path, rounds: int) -> dict[str, list[list[float]]]:
    """Measures all in turn, within one session."""
    slow, fast = folder / "slow", folder / "fast"
    slow.mkdir()
    for number in range(FILES):
        (slow / f"{number:04}").write_bytes(b"1")
    files = [PlannedFile(path.name, 1, path.stat().st_mtime_ns) for path in sorted(slow.iterdir())]
    plan = Plan(str(slow), str(fast), tuple(files))
    apply_plan(plan, ApplyOptions())
    write_plan(plan, folder / "plan.json")
    originals = [str(slow / file.name) for file in files]
    loops = HotLoop(folder, threads=1)
    pairs: dict[str, list[list[float]]] = {"open": [], "read": [], "checks": []}
    with tfdarshan.profile(folder / "logs"):
        for _ in range(rounds):
            plain = open_all(originals), read_one(originals[0])
            with tfdarshan.staged(folder / "plan.json") as staged:
                led = open_all(originals), read_one(originals[0])
            assert staged.totals.copies == OPENS + 1
            pairs["checks"].append([0.0, loops.run_here(CHECKS, 1, CHECKS.warm_up).cpu_ns])
            pairs["open"].append([plain[0], led[0]])
            pairs["read"].append([plain[1], led[1]])
    return pairs


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
