"""What tfdarshan adds to the start of an interpreter: installed, waiting for a session, joining one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import tfdarshan  # noqa: F401  (names the job)
from tests.perf import progress
from tests.perf.child import ROOT
from tests.perf.row import Row, added_row
from tests.perf.timing import Timing

GROUP = "ns added per start of Python"
NAME = "TFDARSHAN_SESSION"
JOIN_FILE = ROOT / "csrc" / "joining" / "tfdarshan_join.pth"
UNUSED_AT_MOST_NS = 200_000
JOIN_AT_MOST_NS = 3_000_000
STARTS_OF_A_RUN = 10

# Names its session, which only the C library's environment does, and records until its input ends.
OWNER = """
import ctypes, sys, tfdarshan
with tfdarshan.profile(sys.argv[1]):
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    print(getenv(b"TFDARSHAN_SESSION").decode(), flush=True)
    sys.stdin.read()
"""
# An interpreter and its environment.
Start = tuple[Path, Mapping[str, str]]


def start_cost(folder: Path, *, runs: int) -> tuple[list[Row], list[str]]:
    """Return the rows of an interpreter that does nothing, each beside one that was measured in turn with it.

    The environment is one that has nothing but tfdarshan_join.pth, or not even that.
    """
    if NAME not in os.environ:
        return [], ["starting Python: this process could not name its job"]
    with_us, without_us = _environment(folder / "with", JOIN_FILE), _environment(folder / "without")
    waiting = dict(os.environ)
    alone = {name: value for name, value in waiting.items() if name != NAME}
    kinds: dict[str, Start] = {
        "none": (without_us, alone),
        "unused": (with_us, alone),
        "waits": (with_us, waiting),
    }
    _shortest(kinds)  # reads from disk what they need
    taken: list[dict[str, Timing]] = []
    for number in range(runs):
        progress.show(f"starting Python, run {number + 1} of {runs}")
        with _recording(folder / "logs") as session:
            taken.append(_shortest({**kinds, "joins": (with_us, {**waiting, NAME: session})}))
        shutil.rmtree(folder / "logs")
    return [
        _row(taken, "none", "unused", "with tfdarshan_join.pth, no variable", UNUSED_AT_MOST_NS),
        _row(taken, "unused", "waits", "waiting for a session", UNUSED_AT_MOST_NS),
        _row(taken, "unused", "joins", "joining a session", JOIN_AT_MOST_NS),
    ], []


@contextmanager
def _recording(logdir: Path) -> Iterator[str]:
    """Have another job record; return its session's name. What this process starts is not its child."""
    command = [sys.executable, "-c", OWNER, str(logdir)]
    environment = {name: value for name, value in os.environ.items() if name != NAME}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        yield owner.stdout.readline().strip()
        owner.communicate()
    if owner.returncode:
        raise RuntimeError(f"the process that records ended with status {owner.returncode}")


def _row(taken: list[dict[str, Timing]], base: str, name: str, subject: str, wanted: int) -> Row:
    pairs = [(run[base], run[name]) for run in taken]
    return added_row(GROUP, "python -c ''", pairs, subject=subject, wanted=wanted)


def _environment(folder: Path, *files: Path) -> Path:
    venv.create(folder, symlinks=True, with_pip=False)
    packages = next(folder.glob("lib/python3*/site-packages"))
    for file in files:
        shutil.copy(file, packages)
    return folder / "bin" / "python"


def _shortest(kinds: Mapping[str, Start]) -> dict[str, Timing]:
    """Start an interpreter of each kind, by turns and some times; return the shortest times of each."""
    starts = [{kind: _start(*start) for kind, start in kinds.items()} for _ in range(STARTS_OF_A_RUN)]
    return {
        kind: Timing(min(one[kind].wall_ns for one in starts), min(one[kind].cpu_ns for one in starts))
        for kind in kinds
    }


def _start(python: Path, environment: Mapping[str, str]) -> Timing:
    """Run an interpreter from its start to its end."""
    start_ns = time.perf_counter_ns()
    child = os.posix_spawn(python, [str(python), "-c", ""], environment)
    _, status, usage = os.wait4(child, 0)
    elapsed_ns = time.perf_counter_ns() - start_ns
    if status:
        raise RuntimeError(f"{python} -c '' ended with status {status}")
    return Timing(elapsed_ns, (usage.ru_utime + usage.ru_stime) * 1e9)
