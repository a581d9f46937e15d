"""One reader hands batches of records to others: LMDBIO's window that all processes of a node share."""

from __future__ import annotations

import queue
import struct
from collections.abc import Iterator, Sequence
from mmap import mmap
from typing import Any, Protocol

Record = tuple[bytes, bytes | memoryview]
# How many batches a reader may be ahead of each that it gives them to.
SLOTS = 2
_HEAD = struct.Struct("<HI")


class Handover(Protocol):
    """Between the reader and `readers` others."""

    def give(self, to: int, records: Sequence[tuple[bytes, bytes]]) -> None:
        """Give a batch, once there is room for it."""

    def finish(self) -> None:
        """Say to all that nothing comes any more."""

    def taken(self, by: int) -> Iterator[Record]:
        """Yield what one is given, until there is no more. A value is good until the next one."""


class ThreadHandover:
    """Threads see each other's memory: records are passed as they are."""

    def __init__(self, readers: int) -> None:
        self._queues: list[queue.Queue[Sequence[Record]]] = [queue.Queue(SLOTS) for _ in range(readers)]

    def give(self, to: int, records: Sequence[tuple[bytes, bytes]]) -> None:
        self._queues[to].put(records)

    def finish(self) -> None:
        for waiting in self._queues:
            waiting.put(())

    def taken(self, by: int) -> Iterator[Record]:
        while records := self._queues[by].get():
            yield from records


class ProcessHandover:
    """Processes that are forked later: batches lie in shared memory, semaphores say which."""

    def __init__(self, context: Any, readers: int, slot_bytes: int) -> None:
        self._memory = [[mmap(-1, slot_bytes) for _ in range(SLOTS)] for _ in range(readers)]
        self._free = [context.Semaphore(SLOTS) for _ in range(readers)]
        self._full = [context.Semaphore(0) for _ in range(readers)]
        self._given = [0] * readers

    def give(self, to: int, records: Sequence[tuple[bytes, bytes]]) -> None:
        self._free[to].acquire()
        slot = self._memory[to][self._given[to] % SLOTS]
        slot.seek(0)
        for key, value in records:
            slot.write(_HEAD.pack(len(key), len(value)))
            slot.write(key)
            slot.write(value)
        slot.write(_HEAD.pack(0, 0))
        self._given[to] += 1
        self._full[to].release()

    def finish(self) -> None:
        for to in range(len(self._memory)):
            self.give(to, ())

    def taken(self, by: int) -> Iterator[Record]:
        number = 0
        while True:
            self._full[by].acquire()
            any_came = False
            with memoryview(self._memory[by][number % SLOTS]) as slot:
                for record in _records(slot):
                    any_came = True
                    yield record
            self._free[by].release()
            number += 1
            if not any_came:
                return


def _records(slot: memoryview) -> Iterator[Record]:
    at = 0
    while True:
        key_size, value_size = _HEAD.unpack_from(slot, at)
        at += _HEAD.size
        if not key_size:
            return
        with slot[at + key_size : at + key_size + value_size] as value:
            yield bytes(slot[at : at + key_size]), value
        at += key_size + value_size


def slot_bytes(record_bytes: int, batch: int) -> int:
    """Return the room that a batch of records of that size takes."""
    return (batch + 1) * (record_bytes + 64 + _HEAD.size)
