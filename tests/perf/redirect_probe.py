"""One process: opens of staged files, each closed again: led to its copy, not led, or by the copy's own name.

The last one makes the two checks of a copy itself. Prints ns of processor time.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from pathlib import Path

import tfdarshan
from tests.perf.compiled import compile_library
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan_file import Plan, PlannedFile, write_plan

FILES = 1_000
OPENS = 20_000
READS = 200_000


class Opens:
    """The loop of staged_open.c."""

    def __init__(self, folder: Path) -> None:
        self._run = compile_library("staged_open", folder).staged_open_run
        self._run.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)
        self._run.restype = ctypes.c_double

    def run(self, opened: Path, looked_at: Path | None = None) -> float:
        """Open the files of a folder in turn, and look at the copy and at a file of the other folder each
        time; gives ns per open."""
        other = os.fsencode(looked_at) if looked_at else None
        took = float(self._run(os.fsencode(opened), other, FILES, OPENS))
        if took < 0:
            raise OSError(f"a file of {opened} cannot be opened")
        return took


def read_one(path: str) -> float:
    """Read a byte of an open file again and again; return ns of processor time per read."""
    handle = os.open(path, os.O_RDONLY)
    begin = time.thread_time_ns()
    for _ in range(READS):
        os.pread(handle, 1, 0)
    took = (time.thread_time_ns() - begin) / READS
    os.close(handle)
    return took


def main(folder: Path, rounds: int) -> dict[str, list[list[float]]]:
    """Measure all in turn, within one session."""
    slow, fast = folder / "slow", folder / "fast"
    slow.mkdir()
    for number in range(FILES):
        (slow / f"{number:04}").write_bytes(b"1")
    files = [PlannedFile(path.name, 1, path.stat().st_mtime_ns) for path in sorted(slow.iterdir())]
    plan = Plan(str(slow), str(fast), tuple(files))
    apply_plan(plan, ApplyOptions())
    write_plan(plan, folder / "plan.json")
    opens = Opens(folder)
    pairs: dict[str, list[list[float]]] = {"open": [], "read": [], "checks": []}
    with tfdarshan.profile(folder / "logs"):
        for _ in range(rounds):
            plain = opens.run(slow), read_one(str(slow / files[0].name))
            by_name = opens.run(fast, looked_at=slow)
            with tfdarshan.staged(folder / "plan.json", look_again_s=0) as staged:
                led = opens.run(slow), read_one(str(slow / files[0].name))
            assert staged.totals.copies == OPENS + 1
            pairs["checks"].append([plain[0], by_name])
            pairs["open"].append([plain[0], led[0]])
            pairs["read"].append([plain[1], led[1]])
    return pairs


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
