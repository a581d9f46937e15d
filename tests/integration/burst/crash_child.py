"""Saves checkpoints until it is killed, or kills itself before a chosen step; no TensorFlow here.

`steps POOL ROOT` does it in a new folder of ROOT for every step that there is; `run POOL FOLDER` goes on for
ever.
"""

from __future__ import annotations

import argparse
import dataclasses
import errno
import itertools
import os
import random
import signal
import time
from functools import partial
from pathlib import Path

from tests.integration.burst.checkpoint_pool import write_like_tensorflow
from tfdarshan.checkpoint.bundle import checkpoint_files, find_bundle, growing_shard, number_of
from tfdarshan.checkpoint.fast_tier import new_id, pending_entries
from tfdarshan.checkpoint.pipeline import BurstOptions, Pipeline
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.checkpoint.storage import Storage

SAVES = 3
OPTIONS = BurstOptions(max_to_keep=2, max_pending=2, buffer_mb=1, retry_s=0.01)


class DiesAtStep:
    """Ends the process by SIGKILL before step `last`."""

    def __init__(self, last: int) -> None:
        self._left = last

    def __call__(self, _operation: str, _path: Path) -> None:
        self._left -= 1
        if self._left <= 0:
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
    """Gives what appends the number of each durable checkpoint to a file."""
    descriptor = os.open(report, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def on_durable(publication):
        os.write(descriptor, b"%d\n" % number_of(publication.published.entry.name))

    return on_durable


def next_number(folder: Path, slow: Path) -> int:
    """Gives a number above all that the tiers hold."""
    state = read_state(slow)
    names = [entry.name for entry in pending_entries(folder / "fast")] + sorted(state.names if state else ())
    return max((number_of(name) or 0 for name in names), default=0) + 1


def save(pipeline: Pipeline, pool: Path, number: int) -> None:
    """Saves as TensorFlow and the burst buffer do, and removes what is on the fast tier besides the queue."""
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
    """Saves a few, each durable before the next, so that the steps come in the same order every time."""
    slow = folder / "slow"
    pipeline = Pipeline(
        folder / "fast", slow, OPTIONS, storage=storage, on_durable=reporter(folder / "reported")
    )
    for number in range(1, SAVES + 1):
        save(pipeline, pool, number)
        pipeline.wait()
    pipeline.close()


def die_at_every_step(pool: Path, root: Path) -> int:
    """Gives how many steps there are: a child was killed before each."""
    for step in itertools.count(1):
        folder = root / str(step)
        folder.mkdir()
        child = os.fork()
        if child == 0:
            save_some(folder, pool, Storage(DiesAtStep(step)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert status == 0, f"the child ended with status {status}"
            return step
    raise AssertionError


def save_for_ever(pool: Path, folder: Path, options: argparse.Namespace) -> None:
    """Saves without waiting, beyond what the drain can do."""
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
        print(die_at_every_step(options.pool, options.folder))
        return
    save_for_ever(options.pool, options.folder, options)


if __name__ == "__main__":
    main()
