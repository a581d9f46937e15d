"""Saves checkpoints until it is killed, or kills itself before a chosen step; no TensorFlow here.

`steps POOL ROOT` does it in a new folder of ROOT for every step that there is, and prints how many there are
and how many of them a child did not come by; `run POOL FOLDER` goes on for ever.
"""

from __future__ import annotations

import argparse
import dataclasses
import errno
import itertools
import json
import os
import random
import re
import signal
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

from tests.integration.burst.checkpoint_pool import write_like_tensorflow
from tfdarshan.checkpoint.bundle import checkpoint_files, find_bundle, growing_shard, number_of
from tfdarshan.checkpoint.burst_options import BurstOptions
from tfdarshan.checkpoint.fast_tier import new_id, pending_entries
from tfdarshan.checkpoint.pipeline import Pipeline
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.durable.file_operations import Storage

SAVES = 3
# A step that comes only now and then is in one of so many runs.
LISTINGS = 3
UNIQUE = re.compile(r"[0-9a-f]{16}")
OPTIONS = BurstOptions(max_to_keep=2, max_pending=2, buffer_mb=1, retry_s=0.01)


# What is done, to which file, and for the how-manyth time: saver and drain do it side by side, so that only
# each one's own order is the same every time.
Step = tuple[str, str, int]


class Steps:
    """Names the steps of a folder's tiers, all but reads, which change nothing and come as they may."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def __call__(self, operation: str, path: Path) -> None:
        if operation != "read":
            with self._lock:
                key = operation, UNIQUE.sub("*", os.fspath(path.relative_to(self._folder)))
                self._seen[key] += 1
                self.at((*key, self._seen[key]))

    def at(self, step: Step) -> None:
        """Is called before each."""


class ListsSteps(Steps):
    """Writes them to a file, one by one."""

    def __init__(self, folder: Path, listed: Path) -> None:
        super().__init__(folder)
        self._file = listed.open("w", encoding="utf-8")

    def at(self, step: Step) -> None:
        self._file.write(json.dumps(step) + "\n")
        self._file.flush()


class DiesAtStep(Steps):
    """Ends the process by SIGKILL before one of them."""

    def __init__(self, folder: Path, last: Step) -> None:
        super().__init__(folder)
        self._last = last

    def at(self, step: Step) -> None:
        if step == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


class FailsAtRandom:
    """Lets a share of the steps on the slow tier fail, in spells as well as singly."""

    def __init__(self, slow: Path, seed: int, share: float) -> None:
        self._slow = os.fspath(slow)
        self._random = random.Random(seed)
        self._share = share
        self._spell = 0
        self.armed = False

    def __call__(self, operation: str, path: Path) -> None:
        if not (self.armed and os.fspath(path).startswith(self._slow)):
            return
        if self._spell == 0 and self._random.random() < self._share:
            self._spell = self._random.choice((1, 1, 1, 8))
        if self._spell:
            self._spell -= 1
            code = self._random.choice((errno.ENOSPC, errno.EIO, errno.ESTALE))
            raise OSError(code, os.strerror(code), os.fspath(path))


def reporter(report: Path):
    """Return what appends the number of each durable checkpoint to a file."""
    descriptor = os.open(report, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def on_durable(publication):
        os.write(descriptor, b"%d\n" % number_of(publication.published.entry.name))

    return on_durable


def next_number(folder: Path, slow: Path) -> int:
    """Return a number above all that the tiers hold."""
    state = read_state(slow)
    names = [entry.name for entry in pending_entries(folder / "fast")] + sorted(state.names if state else ())
    return max((number_of(name) or 0 for name in names), default=0) + 1


def save(pipeline: Pipeline, pool: Path, number: int) -> None:
    """Save as TensorFlow and the burst buffer do, and remove what is on the fast tier besides the queue."""
    prefix = pipeline.fast.folder / f"ckpt-{number}"
    for name in checkpoint_files(prefix.parent, prefix.name):
        (prefix.parent / name).unlink()
    pipeline.drain.admit()
    unique, saved_at = new_id(), time.time()
    with pipeline.written_meanwhile(unique, partial(growing_shard, prefix)):
        write_like_tensorflow(pool, prefix, number)
    pipeline.capture(find_bundle(prefix), unique=unique, saved_at=saved_at)
    for name in checkpoint_files(prefix.parent, prefix.name):
        (prefix.parent / name).unlink()


def save_some(folder: Path, pool: Path, storage: Storage) -> None:
    """Save a few, each durable before the next."""
    slow = folder / "slow"
    pipeline = Pipeline(
        folder / "fast", slow, OPTIONS, storage=storage, on_durable=reporter(folder / "reported")
    )
    for number in range(1, SAVES + 1):
        save(pipeline, pool, number)
        pipeline.wait()
    pipeline.close()


def in_child(folder: Path, pool: Path, steps: Steps) -> bool:
    """Save in a forked child; return whether it was killed."""
    folder.mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        save_some(folder, pool, Storage(steps))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0 or os.WIFSIGNALED(status), f"the child ended with status {status}"
    return status != 0


def die_at_every_step(pool: Path, root: Path) -> tuple[int, int]:
    """Return how many steps there are, a child for each to be killed before it, and how many were not."""
    found: dict[Step, None] = {}
    for number in range(LISTINGS):
        folder = root / f"listing-{number}"
        assert not in_child(folder, pool, ListsSteps(folder, root / "steps"))
        for line in (root / "steps").read_text(encoding="utf-8").splitlines():
            operation, path, occurrence = json.loads(line)
            found[operation, path, occurrence] = None
    missed = 0
    for number, step in enumerate(found, start=1):
        folder = root / str(number)
        missed += not in_child(folder, pool, DiesAtStep(folder, step))
    return len(found), missed


def save_for_ever(pool: Path, folder: Path, options: argparse.Namespace) -> None:
    """Save without waiting, beyond what the drain can do."""
    slow = folder / "slow"
    faults = FailsAtRandom(slow, options.seed, options.failures)
    pipeline = Pipeline(
        folder / "fast",
        slow,
        dataclasses.replace(OPTIONS, bandwidth_mb_s=options.bandwidth_mb_s),
        storage=Storage(faults),
        on_durable=reporter(options.report or folder / "reported"),
    )
    faults.armed = True
    print("ready", flush=True)
    for number in itertools.count(next_number(folder, slow)):
        save(pipeline, pool, number)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("steps", "run"))
    parser.add_argument("pool", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--report", type=Path, help="default: FOLDER/reported")
    parser.add_argument("--bandwidth-mb-s", type=float)
    parser.add_argument(
        "--failures", type=float, default=0.0, help="share of the slow tier's steps that fail"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.mode == "steps":
        print(*die_at_every_step(options.pool, options.folder))
        return
    save_for_ever(options.pool, options.folder, options)


if __name__ == "__main__":
    main()
