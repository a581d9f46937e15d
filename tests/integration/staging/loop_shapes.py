"""Training loops as people write them, on plain files: `python -m ... SHAPE DATA LOGDIR` prints seconds.

Each reads all files of DATA in batches, and computes a step between two of them.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import queue
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import tfdarshan

BATCH, STEP_S, THREADS = 8, 0.02, 4


def read(path: str) -> int:
    """Read a file whole; return its size."""
    with Path(path).open("rb") as file:
        return len(file.read())


def train(seconds: float = STEP_S) -> None:
    """Compute, as an accelerator does."""
    time.sleep(seconds)


def save() -> None:
    """Write a checkpoint of 8 MB elsewhere."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(8_000_000))


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


def accumulated(paths: list[str]) -> None:
    """Read and compute for a step in four parts, as gradient accumulation does."""
    for batch in in_batches(paths):
        with tfdarshan.step():
            for part in range(0, BATCH, 2):
                for path in batch[part : part + 2]:
                    read(path)
                train(STEP_S / 4)


def accumulated_by_a_pool(paths: list[str]) -> None:
    """Have threads read each of these parts when it is asked for."""
    with ThreadPoolExecutor(THREADS) as pool:
        for batch in in_batches(paths):
            with tfdarshan.step():
                for part in range(0, BATCH, 2):
                    list(pool.map(read, batch[part : part + 2]))
                    train(STEP_S / 4)


def validated_behind_a_save(paths: list[str]) -> None:
    """Save, and then read other files, between every few steps."""
    for number, batch in enumerate(in_batches(paths[3 * BATCH :])):
        for path in batch:
            read(path)
        with tfdarshan.step():
            train()
        if number % 5 == 4:
            save()
            for path in paths[: 3 * BATCH]:
                read(path)


def saved_behind_a_validation(paths: list[str]) -> None:
    """Do so the other way round."""
    for number, batch in enumerate(in_batches(paths[3 * BATCH :])):
        for path in batch:
            read(path)
        with tfdarshan.step():
            train()
        if number % 5 == 4:
            for path in paths[: 3 * BATCH]:
                read(path)
            save()


def saved_beside_a_validation(paths: list[str]) -> None:
    """Have a thread save meanwhile, and give the loop's iterable to `steps()`."""
    batches = ([read(path) for path in batch] for batch in in_batches(paths[3 * BATCH :]))
    for number, _ in enumerate(tfdarshan.steps(batches)):
        train()
        if number % 5 == 4:
            saver = threading.Thread(target=save)
            saver.start()
            for path in paths[: 3 * BATCH]:
                read(path)
            saver.join()


def evaluated_on_the_same(paths: list[str]) -> None:
    """Measure every few steps on files that steps read, too."""
    for number, batch in enumerate(in_batches(paths)):
        for path in batch:
            read(path)
        with tfdarshan.step():
            train()
            if number % 5 == 4:
                for path in paths[: 2 * BATCH]:
                    read(path)


def kept_in_a_dict(paths: list[str]) -> None:
    """Read each file in the first of two epochs."""
    kept: dict[str, int] = {}
    for batch in [*in_batches(paths), *in_batches(paths)]:
        for path in batch:
            kept[path] = kept.get(path) or read(path)
        with tfdarshan.step():
            train()


def steps_of_any_length(paths: list[str]) -> None:
    """Compute for some batches longer than for others, and not at all for every third."""
    for number, batch in enumerate(in_batches(paths)):
        for path in batch:
            read(path)
        with tfdarshan.step():
            train(STEP_S * (number % 3))


def resumed(paths: list[str]) -> None:
    """Skip batches that were trained on before."""
    batches = ([read(path) for path in batch] for batch in in_batches(paths))
    for number, _ in enumerate(tfdarshan.steps(batches)):
        if number >= 4:
            train()


def logged(paths: list[str]) -> None:
    """Write a line of a log between the reads of a batch and its body."""
    with tempfile.NamedTemporaryFile("w") as log:
        for batch in in_batches(paths):
            print(*map(read, batch), file=log, flush=True)
            with tfdarshan.step():
                train()


def members_at_random(paths: list[str]) -> None:
    """Read three pieces of each file, anywhere, as of an archive."""
    dice = random.Random(3)
    for batch in in_batches(paths):
        for path in batch:
            with Path(path).open("rb", buffering=0) as file:
                for _ in range(3):
                    file.seek(dice.randrange(6000))
                    file.read(4000)
        with tfdarshan.step():
            train()


def pool_as_completed(paths: list[str]) -> None:
    """Have threads read all files, and take whichever is there."""
    with ThreadPoolExecutor(THREADS) as pool:
        samples = as_completed([pool.submit(read, path) for path in paths])
        while list(itertools.islice(samples, BATCH)):
            with tfdarshan.step():
                train()


def processes_unordered(paths: list[str]) -> None:
    """Have processes read, and take whichever is there."""
    with multiprocessing.get_context("fork").Pool(THREADS) as pool:
        samples = pool.imap_unordered(read, paths)
        while list(itertools.islice(samples, BATCH)):
            with tfdarshan.step():
                train()


SHAPES: dict[str, Callable[[list[str]], None]] = {
    shape.__name__: shape
    for shape in (
        by_the_loop, at_the_top, from_an_iterable, pool_for_a_batch, pool_within_the_step, pool_for_all,
        pool_a_batch_ahead, thread_ahead, processes, unmarked, accumulated, accumulated_by_a_pool,
        validated_behind_a_save, saved_behind_a_validation, saved_beside_a_validation, evaluated_on_the_same,
        kept_in_a_dict, steps_of_any_length, resumed, logged, members_at_random, pool_as_completed,
        processes_unordered,
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
