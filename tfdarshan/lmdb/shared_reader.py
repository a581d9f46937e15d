"""LMM: one process reads for several workers, which wait for their batches and never for storage."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import select
import signal
import struct
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

from tfdarshan.errors import ConfigurationError, DataFileError, StorageError, TfdarshanError
from tfdarshan.lmdb.batch import Batch
from tfdarshan.lmdb.batch_slot import BatchSlot, most_batch_bytes
from tfdarshan.lmdb.batched_records import Records

# How many batches the reader may be ahead of each worker.
SLOTS = 2
UNKNOWN, GONE = -1, -2
BATCH, END, FAILED = range(3)
_HEAD = struct.Struct("<BIQ")  # what follows; of which run; how many records, or bytes of text
# What a worker says: that it begins, with its process and the run; that it took a batch; that it ends.
_BEGIN = struct.Struct("<cII")
BEGINS, TOOK, ENDS = b"b", b"t", b"e"
MOST_TEXT_BYTES = 2000


class Channel:
    """Between the reader and one worker: slots, and a pipe each way."""

    def __init__(self, room_bytes: int) -> None:
        self.slots = [BatchSlot(room_bytes) for _ in range(SLOTS)]
        self.from_reader, self.to_worker = os.pipe()
        self.from_worker, self.to_reader = os.pipe()

    def close(self) -> None:
        """Close what is open here."""
        for handle in (self.from_reader, self.to_worker, self.from_worker, self.to_reader):
            if handle >= 0:
                os.close(handle)

    def close_readers_end(self) -> None:
        """Leave `to_worker` to the reader alone: workers see the end of the pipe when it is killed."""
        os.close(self.to_worker)
        self.to_worker = -1


class SharedRecords:
    """A data set that one process reads: batch `i` of an epoch is worker `i % readers`'s.

    It is made before the workers are forked. The reader begins when all of them have begun.
    """

    def __init__(self, records: Records, readers: int) -> None:
        """Start the process that reads.

        Raises:
            ConfigurationError: There is no worker, or the file cannot be read for others.
        """
        if readers < 1:
            raise ConfigurationError(f"readers must be at least 1, not {readers!r}.")
        if records.index.reads_by_py_lmdb:
            raise ConfigurationError("py-lmdb reads this file, which no other process can do for this one.")
        self.records, self.readers = records, readers
        room_bytes = most_batch_bytes(records.index.sizes, records.batch)
        self._channels = [Channel(room_bytes) for _ in range(readers)]
        process = multiprocessing.get_context("fork").Process(
            target=_serve, args=(records, self._channels, os.getpid()), daemon=True
        )
        with warnings.catch_warnings():
            # Newer Pythons warn that other threads are there. The child reads and ends.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        for channel in self._channels:
            channel.close_readers_end()
        self.reader_process = process
        weakref.finalize(self, _end, os.getpid(), process, self._channels)

    def part(self, which: int, parts: int) -> SharedPart:
        """Return worker `which`'s batches.

        Raises:
            ConfigurationError: There are not as many workers as was said.
        """
        if parts != self.readers or not 0 <= which < parts:
            raise ConfigurationError(
                f"the reader reads for {self.readers} workers, not for {which} of {parts}."
            )
        return SharedPart(self, self._channels[which])

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.part(0, 1))

    def __reduce__(self) -> Any:
        raise ConfigurationError(
            "workers of a shared reader are forked: it cannot be sent to another process."
        )


class SharedPart:
    """What one worker is given."""

    def __init__(self, whole: SharedRecords, channel: Channel) -> None:
        self._whole, self._channel = whole, channel

    def __iter__(self) -> Iterator[Batch]:
        channel, run, taken = self._channel, secrets.randbits(32), 0
        _say(channel, _BEGIN.pack(BEGINS, os.getpid(), run))
        ended = False
        try:
            while (count := self._next(run)) is not None:
                batch = channel.slots[taken % SLOTS].take(count)
                taken += 1
                _say(channel, TOOK)
                yield batch
            ended = True
        finally:
            if not ended:
                _say(channel, ENDS)

    def _next(self, run: int) -> int | None:
        """Wait for a batch; return how many records it has, None where there is no more.

        Raises:
            DataFileError: The reader says so.
            StorageError: The reader says so, or was killed.
        """
        while True:
            kind, of_run, count = _HEAD.unpack(self._received(_HEAD.size))
            text = self._received(count) if kind == FAILED else b""
            # A run that was left early has its end still on the way.
            if of_run != run:
                continue
            if kind == FAILED:
                raise _failure(text)
            return None if kind == END else int(count)

    def _received(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            got = os.read(self._channel.from_reader, size - len(found))
            if not got:
                path = self._whole.records.index.path
                raise StorageError(
                    f"{path}: the process that reads it for all workers was killed. Make the data set again."
                )
            found += got
        return found


def _say(channel: Channel, what: bytes) -> None:
    # Where the reader was killed nobody hears it: that shows when the answer is waited for.
    os.write(channel.to_reader, what)


def _failure(text: bytes) -> TfdarshanError:
    kind, _, sentence = text.decode(errors="replace").partition(" ")
    return DataFileError(sentence) if kind == DataFileError.__name__ else StorageError(sentence)


def _end(owner: int, process: Any, channels: list[Channel]) -> None:
    if os.getpid() == owner:
        process.kill()
        process.join()
    for channel in channels:
        channel.close()


def _watched(process: int) -> int:
    """Return a descriptor that a process's end can be waited for by: GONE, or UNKNOWN on an old kernel."""
    try:
        return os.pidfd_open(process)
    except ProcessLookupError:
        return GONE
    except OSError:
        return UNKNOWN


class _Worker:
    """A worker as the reader sees it."""

    def __init__(self, channel: Channel, owner: Any) -> None:
        self.channel, self._owner = channel, owner
        self._process = UNKNOWN
        self._run = self._given = self._free = 0
        self.reads = False

    def await_begin(self) -> None:
        """Wait for its beginning."""
        while not self.reads:
            self._hear()

    def await_room(self) -> None:
        """Wait until it has a free slot, or reads no more."""
        while self.reads and not self._free:
            self._hear()

    def _hear(self) -> None:
        """Take one thing that it says; end it if it was killed, and the reader if its owner ended."""
        poll = select.poll()
        for handle in (self.channel.from_worker, self._process, self._owner):
            if handle >= 0:
                poll.register(handle, select.POLLIN)
        ready = {handle for handle, _ in poll.poll()}
        if self.channel.from_worker in ready:
            self._take(os.read(self.channel.from_worker, 1))
        elif self._owner in ready:
            raise SystemExit(0)
        else:
            self.end()

    def _take(self, said: bytes) -> None:
        if said == TOOK:
            self._free += 1
        elif said == BEGINS:
            _, process, self._run = _BEGIN.unpack(said + os.read(self.channel.from_worker, _BEGIN.size - 1))
            self.end()
            self._process = _watched(process)
            self._given, self._free, self.reads = 0, SLOTS, self._process != GONE
        else:
            self.reads = False

    def end(self) -> None:
        """Forget the process that read."""
        self.reads = False
        if self._process >= 0:
            os.close(self._process)
            self._process = UNKNOWN

    def give(self, batch: Any) -> None:
        """Hand a batch over."""
        self.await_room()
        if self.reads:
            count = self.channel.slots[self._given % SLOTS].put(batch)
            self._given, self._free = self._given + 1, self._free - 1
            self.tell(BATCH, count)

    def tell(self, kind: int, count: int = 0, text: bytes = b"") -> None:
        """Write a head, and what follows it."""
        os.write(self.channel.to_worker, _HEAD.pack(kind, self._run, count) + text)


def _serve(records: Records, channels: list[Channel], owner: int) -> None:
    """Read for the workers, each time that all have begun, until the owner ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner ends this process
    watched = _watched(owner)
    if watched == GONE:
        return
    workers = [_Worker(channel, watched) for channel in channels]
    while True:
        for worker in workers:
            worker.await_begin()
        said = (END, 0, b"")
        try:
            for number, batch in enumerate(records):
                workers[number % len(workers)].give(batch)
                if not any(worker.reads for worker in workers):
                    break
        except TfdarshanError as error:
            text = f"{type(error).__name__} {error}".encode()[:MOST_TEXT_BYTES]
            said = (FAILED, len(text), text)
        for worker in workers:
            worker.tell(*said)
            worker.end()
