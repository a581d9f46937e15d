"""Training loops as people write them, on plain files: `python -m ... SHAPE DATA LOGDIR` prints seconds.

Each reads all files of DATA once, in batches, and computes a step between two of them.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tfdarshan

BATCH, STEP_S, THREADS = 8, 0.02, 4


def read(path: str) -> int:
    """Read a file whole; return its size."""
    with Path(path).open("rb") as file:
        return len(file.read())


def train() -> None:
    """Compute, as an accelerator does."""
    time.sleep(STEP_S)


def in_batches(paths: list[str]) -> Iterator[list[str]]:
    """Yield so many at a time."""
    rest = iter(paths)
    while batch := list(itertools.islice(rest, BATCH)):
        yield batch


def by_the_loop(paths: list[str]) -> None:
    """Read each batch, then mark its body."""
    for batch in in_batches(paths):
        for path in batch:
            read(path)
        with tfdarshan.step():
            train()


def at_the_top(paths: list[str]) -> None:
    """Mark where steps begin."""
    for batch in in_batches(paths):
        tfdarshan.step()
        for path in batch:
            read(path)
        train()


def from_an_iterable(paths: list[str]) -> None:
    """Give the loop's iterable to `steps()`."""
    for _ in tfdarshan.steps([read(path) for path in batch] for batch in in_batches(paths)):
        train()


def pool_for_a_batch(paths: list[str]) -> None:
    """Have threads read each batch when it is asked for."""
    with ThreadPoolExecutor(THREADS) as pool:
        for batch in in_batches(paths):
            list(pool.map(read, batch))
            with tfdarshan.step():
                train()


def pool_within_the_step(paths: list[str]) -> None:
    """Mark the request and the body."""
    with ThreadPoolExecutor(THREADS) as pool:
        for batch in in_batches(paths):
            with tfdarshan.step():
                list(pool.map(read, batch))
                train()


def pool_for_all(paths: list[str]) -> None:
    """Have threads read whatever comes next."""
    with ThreadPoolExecutor(THREADS) as pool:
        samples = pool.map(read, paths)
        while list(itertools.islice(samples, BATCH)):
            with tfdarshan.step():
                train()


def pool_a_batch_ahead(paths: list[str]) -> None:
    """Ask for the next batch before the body."""
    with ThreadPoolExecutor(THREADS) as pool:
        asked = [[pool.submit(read, path) for path in batch] for batch in in_batches(paths[:BATCH])]
        for batch in itertools.chain(in_batches(paths[BATCH:]), [[]]):
            asked.append([pool.submit(read, path) for path in batch])
            for sample in asked.pop(0):
                sample.result()
            with tfdarshan.step():
                train()


def thread_ahead(paths: list[str]) -> None:
    """Have one thread fill a queue of batches."""
    ready: queue.Queue[int] = queue.Queue(4)

    def fill() -> None:
        for batch in [*in_batches(paths), []]:
            ready.put(sum(map(read, batch)))

    threading.Thread(target=fill, daemon=True).start()
    while ready.get():
        with tfdarshan.step():
            train()


def processes(paths: list[str]) -> None:
    """Have processes read."""
    with multiprocessing.get_context("fork").Pool(THREADS) as pool:
        samples = pool.imap(read, paths)
        while list(itertools.islice(samples, BATCH)):
            with tfdarshan.step():
                train()


def unmarked(paths: list[str]) -> None:
    """Mark nothing."""
    for batch in in_batches(paths):
        for path in batch:
            read(path)
        train()


SHAPES: dict[str, Callable[[list[str]], None]] = {
    shape.__name__: shape
    for shape in (
        by_the_loop, at_the_top, from_an_iterable, pool_for_a_batch, pool_within_the_step, pool_for_all,
        pool_a_batch_ahead, thread_ahead, processes, unmarked,
    )
}  # fmt: skip


def main(shape: str, data: str, logdir: str) -> None:
    """Run it, in a session if there is a logdir."""
    paths = sorted(map(str, Path(data).iterdir()))
    with tfdarshan.profile(logdir) if logdir else contextlib.nullcontext():
        begin = time.perf_counter()
        SHAPES[shape](paths)
        print(time.perf_counter() - begin)


if __name__ == "__main__":
    main(*sys.argv[1:])
