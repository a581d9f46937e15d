"""Reading ahead of a training loop that reads with Python: threads prepare what it takes next."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from tfdarshan.errors import ConfigurationError

Batch = TypeVar("Batch")
Item = TypeVar("Item")
Sample = TypeVar("Sample")
# Calls that may have begun, or be done and not yet taken, for each thread.
CALLS_PER_THREAD = 2


@dataclass(frozen=True)
class _Ready(Generic[Batch]):
    """The next batch."""

    batch: Batch


@dataclass(frozen=True)
class _Ended:
    """There is no more, or what ended it."""

    error: BaseException | None = None


def read_ahead(batches: Iterable[Batch], *, depth: int = 4) -> Generator[Batch, None, None]:
    """Iterate over batches that a thread of its own takes from `batches` beforehand.

    The order is the same, and what `batches` raises is raised in the loop, after the batches before it. The
    thread starts when the first batch is asked for. It ends with the loop, however that ends, as soon as it
    has the batch that it is reading.

    Args:
        batches: Anything that can be iterated over; nothing else may iterate over it meanwhile.
        depth: How many batches are kept ready at most.

    Raises:
        ConfigurationError: No batch is to be kept ready.
    """
    if depth < 1:
        raise ConfigurationError(
            f"read_ahead keeps at least one batch ready: give depth=1 or more, not {depth}."
        )
    return _take(batches, queue.Queue(depth))


def map_ahead(function: Callable[[Item], Sample], items: Iterable[Item], *, threads: int) -> Iterator[Sample]:
    """Iterate over what a function gives for each item, which threads call beforehand.

    The order is that of `items`. What a call raises is raised in the loop where its result would be, and what
    `items` raises after the results before it. Each thread is at most two calls ahead of the loop. The
    threads start when the first result is asked for, and end with the loop, however that ends.

    Args:
        function: Such as one that reads a file, and decodes it; several threads call it at a time.
        items: What it is called with, taken by the loop's own thread.
        threads: How many calls run at a time at most.

    Raises:
        ConfigurationError: No call is to run.
    """
    if threads < 1:
        raise ConfigurationError(
            f"map_ahead needs at least one thread: give threads=1 or more, not {threads}."
        )
    return _take_results(function, items, threads)


def _take_results(
    function: Callable[[Item], Sample], items: Iterable[Item], threads: int
) -> Iterator[Sample]:
    ahead: deque[Future[Sample]] = deque()
    error: BaseException | None = None
    with ThreadPoolExecutor(threads, thread_name_prefix="map-ahead") as pool:
        try:
            for item in _until_error(items):
                if isinstance(item, _Ended):
                    error = item.error
                    break
                ahead.append(_begun(pool, function, item.batch))
                if len(ahead) >= CALLS_PER_THREAD * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for call in ahead:
                call.cancel()
    if error is not None:
        raise error


def _begun(pool: ThreadPoolExecutor, function: Callable[[Item], Sample], item: Item) -> Future[Sample]:
    """Return a call that a thread makes, or that was made if this user may have no more threads."""
    try:
        return pool.submit(function, item)
    except RuntimeError:
        made: Future[Sample] = Future()
        try:
            made.set_result(function(item))
        except Exception as error:
            made.set_exception(error)
        return made


def _until_error(items: Iterable[Item]) -> Iterator[_Ready[Item] | _Ended]:
    """Yield the items, and what ends them: results of those before it come first."""
    try:
        for item in items:
            yield _Ready(item)
    except Exception as error:
        yield _Ended(error)


def _take(
    batches: Iterable[Batch], ready: queue.Queue[_Ready[Batch] | _Ended]
) -> Generator[Batch, None, None]:
    left = threading.Event()
    thread = threading.Thread(target=_fill, args=(batches, ready, left), name="read-ahead", daemon=True)
    with suppress(RuntimeError):  # this user may have no more threads
        thread.start()
    if thread.ident is None:
        yield from batches
        return
    try:
        while isinstance(entry := ready.get(), _Ready):
            yield entry.batch
    finally:
        left.set()
        _empty(ready)
    if entry.error is not None:
        raise entry.error


def _fill(
    batches: Iterable[Batch], ready: queue.Queue[_Ready[Batch] | _Ended], left: threading.Event
) -> None:
    """Keep the queue full. Once the loop has left, at most one more put follows, for which there is room."""
    try:
        for batch in batches:
            ready.put(_Ready(batch))
            if left.is_set():
                return
    except BaseException as error:  # the loop raises it
        ready.put(_Ended(error))
    else:
        ready.put(_Ended())


def _empty(ready: queue.Queue[_Ready[Batch] | _Ended]) -> None:
    try:
        while True:
            ready.get_nowait()
    except queue.Empty:
        return
