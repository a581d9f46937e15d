"""Reading ahead of a training loop that reads with Python: a thread prepares the next batches."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from tfdarshan.errors import ConfigurationError

Batch = TypeVar("Batch")


@dataclass(frozen=True)
class _Ready(Generic[Batch]):
    """The next batch."""

    batch: Batch


@dataclass(frozen=True)
class _Ended:
    """There is no more, or what ended it."""

    error: BaseException | None = None


def read_ahead(batches: Iterable[Batch], *, depth: int = 4) -> Iterator[Batch]:
    """Iterates over batches that a thread of its own takes from `batches` beforehand.

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


def _take(batches: Iterable[Batch], ready: queue.Queue[_Ready[Batch] | _Ended]) -> Iterator[Batch]:
    left = threading.Event()
    thread = threading.Thread(target=_fill, args=(batches, ready, left), name="read-ahead", daemon=True)
    thread.start()
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
    """Keeps the queue full. Once the loop has left, at most one more put follows, for which there is room."""
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
