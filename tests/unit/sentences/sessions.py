"""Sessions at the edge of what sentences were made for, beside those of `tests.scenario_sessions`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.scenario_sessions import SKETCHES, cut_short, sketched
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.session import Session

KB, MB = 1_000, 1_000_000
STEPS = epochs_of_steps(100, 10, 0)
MANY: dict[str, Any] = {"paths": [f"/home/u/{number}" for number in range(200)], "sizes": [100 * KB] * 200}
FIVE: dict[str, Any] = {"paths": [f"/data/{number}" for number in range(5)], "sizes": [10 * KB] * 5}
Maker = Callable[[Path], Session]


def one_file_opened_again(logdir: Path) -> Session:
    """Return one file that is opened 100 times in 20 steps."""
    calls: list[tuple] = []
    for at in range(0, 1000, 10):
        calls += [(at, at + 5, 1, "open", 0, 0), (at + 5, at + 6, 1, "pread", 0, 10 * KB, 1000 * at)]
        calls.append((at + 6, at + 6.01, 1, "close", 0, 0))
    return training(logdir, calls, epochs_of_steps(20, 50, 45), sizes=[MB])


def rare_stats(logdir: Path) -> Session:
    """Return 100 stats of one file in 400 steps."""
    calls = [(at, at + 8, 1, "stat", 0, 0) for at in range(0, 1000, 10)]
    return training(logdir, calls, epochs_of_steps(400, 2.5, 2), sizes=[KB])


def read_whole_again(logdir: Path) -> Session:
    """Return 200 passes over five files that stay open, one read each."""
    calls = [(at, at + 0.9, 1, "pread", at % 5, 10 * KB, 0) for at in range(1000)]
    return training(logdir, calls, epochs_of_steps(20, 50, 40), **FIVE)


def partly_cached(logdir: Path, stored: int, charged: int = 20 * MB) -> Session:
    """Return 200 reads, two thirds of them slow, of a job for which the kernel fetched `stored` bytes."""
    calls = [(10 * n, 10 * n + (8 if n % 3 else 0.05), 1, "pread", n, 100 * KB, 0) for n in range(200)]
    kernel = {"rchar": charged, "read_bytes": stored}
    return training(logdir, calls, epochs_of_steps(200, 10, 7), kernel=kernel, **MANY)


def cached_calls(logdir: Path) -> Session:
    """Return steps that wait for file calls, which copy from memory."""
    calls = [(1000 * n, 1000 * n + 999, 1, "pread", 0, 4 << 40, 0) for n in range(20)]
    return training(logdir, calls, epochs_of_steps(20, 1000, 999), sizes=[4 << 40])


def with_validation(logdir: Path) -> Session:
    """Return two epochs of steps, and one other file that is read between them."""
    calls = [(10 * n, 10 * n + 5, 1, "pread", 0, 10 * KB, 10 * KB * n) for n in range(50)]
    calls += [(510 + 10 * n, 519 + 10 * n, 1, "pread", 1, 10 * KB, 10 * KB * n) for n in range(50)]
    calls += [(1010 + 10 * n, 1015 + 10 * n, 1, "pread", 0, 10 * KB, 10 * KB * n) for n in range(50)]
    steps = [(first + 10 * n, first + 10 * n + 10, 5) for first in (0, 1010) for n in range(50)]
    return training(logdir, calls, steps, paths=["/data/a", "/data/validation"], sizes=[MB, MB])


def one_write(logdir: Path) -> Session:
    """Return one write by the loop's own thread that takes most of the time."""
    return training(logdir, [(0, 800, LOOP, "write", 0, KB)], STEPS, paths=["/data/out"], sizes=[KB])


def one_sync(logdir: Path) -> Session:
    """Return a write and a sync."""
    calls = [(2, 3, LOOP, "write", 0, KB), (3, 900, LOOP, "fsync", 0, 0)]
    steps = [(0, 910, 1), *((910 + 10 * n, 920 + 10 * n, 1) for n in range(10))]
    return training(logdir, calls, steps, paths=["/data/out"], sizes=[KB])


def many_writes(logdir: Path) -> Session:
    """Return 100 writes of 1 kB in a job without steps."""
    calls = [(at, at + 8, LOOP, "write", 0, KB) for at in range(0, 1000, 10)]
    return training(logdir, calls, paths=["/data/out"], sizes=[100 * KB])


EDGES: dict[str, Maker] = {
    "no call": lambda logdir: training(logdir, [], duration_ms=5000, paths=()),
    "one call": lambda logdir: training(logdir, [(0, 400, 1, "read", 0, 10)], sizes=[10], duration_ms=500),
    "one step": lambda logdir: training(logdir, [(0, 400, 1, "read", 0, 10)], [(0, 1000, 400)], sizes=[10]),
    "one empty read": lambda logdir: training(
        logdir, [(0, 1, 1, "open", 0, 0), (1, 400, 1, "pread", 0, 0)], sizes=[0], duration_ms=500
    ),
    "one file opened again": one_file_opened_again,
    "rare stats": rare_stats,
    "files read whole again": read_whole_again,
    "nearly nothing in the trace": lambda logdir: cut_short(read_whole_again(logdir), 999),
    "nothing in the trace": lambda logdir: cut_short(read_whole_again(logdir), 1000),
    "30 % from storage": lambda logdir: partly_cached(logdir, 6 * MB),
    "next to nothing from storage": lambda logdir: partly_cached(logdir, 10 * KB),
    "much not seen": lambda logdir: partly_cached(logdir, 6 * MB, 67 * MB),
    "petabytes from memory": cached_calls,
    "a validation set of one file": with_validation,
    "one write": one_write,
    "one sync": one_sync,
    "only writes": many_writes,
    "readers that never rest": lambda logdir: training(
        logdir, [(at, at + 1, 1, "pread", at, 10 * KB, 0) for at in range(200)], **MANY
    ),
}
SESSIONS: dict[str, Maker] = EDGES | {
    name: lambda logdir, sketch=sketch: sketched(logdir, sketch) for name, sketch in SKETCHES.items()
}
