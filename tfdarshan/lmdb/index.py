"""Where each record of a database lies, and reading many of them at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tfdarshan.errors import ConfigurationError, DataFileError
from tfdarshan.lmdb import kept_index
from tfdarshan.lmdb.batch import Batch
from tfdarshan.lmdb.batch_room import BatchRoom
from tfdarshan.lmdb.data_path import data_path
from tfdarshan.lmdb.held_snapshot import (
    CheckedTransaction,
    Environment,
    HeldTransaction,
    SnapshotKind,
    py_lmdb,
    take_snapshot,
)
from tfdarshan.lmdb.mapped_batch import MappedBatch
from tfdarshan.lmdb.measured_reading import MeasuredReading, Reading
from tfdarshan.lmdb.py_lmdb_file import PyLmdbFile
from tfdarshan.lmdb.record_order import Shuffle, record_order
from tfdarshan.native.lmdb_file import (
    IN_PAGES,
    SUB_DATABASE,
    LentFile,
    LmdbFacts,
    LmdbFile,
    OtherFormatError,
)
from tfdarshan.notice import say

Access = Literal["auto", "cached", "direct"]
THREADS = 16
MOST_THREADS = 64
# A writer may commit while the index is made; this often it is made anew.
ATTEMPTS = 5

_said: set[Path] = set()


class Index:
    """The records of one database, in the order of keys: numbers from 0 to len(index) - 1.

    Values are read by calls of pread(), not through a mapping. Several threads may read at once, and so may
    forked processes; a copy in another process (pickle) opens the file anew. A key with several values
    (DUPSORT) has as many records.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Environment,
        db: bytes | str | None = None,
        *,
        threads: int = THREADS,
        access: Access = "auto",
        snapshot: SnapshotKind = "auto",
        keep: bool = True,
        py_lmdb_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Open a database and find its records, without reading values that have pages of their own.

        Args:
            path: Its folder, or its data file; or the lmdb.Environment in which the job has it open, as
                py-lmdb opens a database once in a process: its transaction is held there.
            db: The sub-database; None is the main one.
            threads: The most reads that are in flight at once.
            access: "auto" reads through the page cache, with as many reads in flight, up to `threads`, as
                give most when they are tried, and with one where the page cache has the values; `reading`
                says how. "cached" always has `threads` in flight. "direct" has them past the page cache, if
                the file system can, which is slower for what the cache has.
            snapshot: "transaction" holds a read transaction by py-lmdb, so that a writer cannot change what
                is read; "check" holds nothing and looks after each read whether one may have; "auto" holds
                one where py-lmdb and a lock file are there.
            keep: Keeps the records of a database whose values lie beside their keys in the user's cache, as
                finding them reads all of it, and takes those that were kept of the same transaction.
            py_lmdb_options: More arguments of lmdb.open(), for files that only py-lmdb reads.

        Raises:
            ConfigurationError: There is no such sub-database, or an option is wrong.
            DataFileError: The file is damaged, of another format, or written to all the time.
            StorageError: It cannot be opened or read.
        """
        if not 1 <= threads <= MOST_THREADS:
            raise ConfigurationError(f"threads must be from 1 to {MOST_THREADS}, not {threads!r}.")
        if access not in get_args(Access):
            raise ConfigurationError(f"access must be 'auto', 'cached' or 'direct', not {access!r}.")
        self._shared = path if isinstance(path, Environment) else None
        path = path.path() if isinstance(path, Environment) else path
        self._asked: dict[str, Any] = {
            "path": os.fspath(path), "db": db, "threads": threads, "access": access, "snapshot": snapshot,
            "keep": keep, "py_lmdb_options": py_lmdb_options,
        }  # fmt: skip
        self._where = data_path(path)
        self.path = self._where.data
        self.threads = threads
        self._name = db.encode() if isinstance(db, str) else db
        self._file: LmdbFile | PyLmdbFile | None = None
        self._lent: list[LentFile] = []
        self._snapshot: HeldTransaction | CheckedTransaction | None = None
        self._open()
        # Those of duplicates share the bytes of their key.
        self._records = self._opened().records()
        self._keys = self._opened().keys()
        self._measured: MeasuredReading | None = None
        if access == "auto" and not self.reads_by_py_lmdb:
            file = self._file if isinstance(self._file, LmdbFile) else None
            self._measured = MeasuredReading(os.fspath(self.path), self.offsets, threads, file=file)

    def _open(self) -> None:
        # Opened without a snapshot first: py-lmdb would say less clearly what is wrong.
        try:
            LmdbFile(os.fspath(self.path))
        except OtherFormatError as error:
            self._open_by_py_lmdb(error)
            return
        self._snapshot = take_snapshot(self._where, self._asked["snapshot"], self._shared)
        try:
            self._file = self._indexed()
        except BaseException:
            self.close()
            raise

    def _indexed(self) -> LmdbFile:
        """Return the file with its records; look again where a writer came between."""
        for attempt in range(ATTEMPTS):
            file = LmdbFile(os.fspath(self.path), direct=self._asked["access"] == "direct")
            try:
                if not (self._asked["keep"] and kept_index.restore(file, self._name)):
                    file.index(self._name, self.threads)
                    self._check(file)
                    if self._asked["keep"]:
                        kept_index.keep(file, self._name)
                return file
            except DataFileError:
                if file.newest() == file.facts().transaction:
                    raise
                if attempt == ATTEMPTS - 1:
                    self._check(file)  # a writer is the likelier cause
                    raise
        raise AssertionError

    def _open_by_py_lmdb(self, error: OtherFormatError) -> None:
        module = py_lmdb()
        if module is None:
            raise DataFileError(f"{error} py-lmdb may read it (pip install lmdb).") from None
        try:
            options = self._asked["py_lmdb_options"] or {}
            self._file = PyLmdbFile(module, self._where, self._name, options, self._shared)
        except DataFileError as refused:
            raise DataFileError(f"{error} {refused}") from None
        if self.path not in _said:
            _said.add(self.path)
            say(f"{self.path} is read by py-lmdb, and as fast as that: its format is not read here.")

    def _opened(self) -> LmdbFile | PyLmdbFile:
        if self._file is None:
            raise ConfigurationError(f"the index of {self.path} is closed.")
        return self._file

    def _check(self, file: LmdbFile | PyLmdbFile) -> None:
        """Raise DataFileError where a writer may have changed what was read."""
        if self._snapshot is not None:
            self._snapshot.check(file, file.facts().transaction)

    def close(self) -> None:
        """Let the snapshot go and close the file, once the reads that go on have ended."""
        for lent in self._lent:
            lent.take_back()
        snapshot, self._snapshot, self._file = self._snapshot, None, None
        if snapshot is not None:
            snapshot.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_open_again, (self._asked,))

    def __len__(self) -> int:
        return len(self._records)

    @property
    def facts(self) -> LmdbFacts:
        """What the file says of itself and of the database."""
        return self._opened().facts()

    @property
    def holds_transaction(self) -> bool:
        """Whether a writer cannot change what is read."""
        return isinstance(self._snapshot, HeldTransaction) or isinstance(self._file, PyLmdbFile)

    @property
    def reads_by_py_lmdb(self) -> bool:
        """Whether py-lmdb reads the file, as its format is not read here."""
        return isinstance(self._file, PyLmdbFile)

    @property
    def reading(self) -> Reading:
        """How values are read now, and what was measured."""
        if self._measured is not None:
            return self._measured.reading()
        return Reading(self._asked["access"], 1 if self.reads_by_py_lmdb else self.threads)

    def settle(self, numbers: NDArray[np.uint64], window: int) -> Reading:
        """Return how to read records that are about to be read; measure it where that is not known.

        What it reads for that, `window` records at a time, is left in the page cache.
        """
        measured = self._measured
        if measured is not None and len(numbers):
            measured.look_at_cache(int(self.sizes[numbers].sum(dtype=np.int64)), self.offsets[numbers])
            for first in range(0, len(numbers), window):
                if measured.from_cache or not measured.is_searching:
                    break
                self.read(numbers[first : first + window])
        self._check(self._opened())
        return self.reading

    def look(self, numbers: NDArray[np.uint64]) -> None:
        """Look how the storage answers before these records are read, if that is not known."""
        if self._measured is not None and not self.is_cached(numbers) and len(numbers):
            order = numbers[np.argsort(self.offsets[numbers], kind="stable")]
            self._measured.look(self.offsets[order], self.sizes[order])

    def add_read(self, read_bytes: int, elapsed_s: float) -> None:
        """Take how fast others read what `settle` decided: much of it has the storage looked at anew."""
        if self._measured is not None:
            self._measured.add_read(read_bytes, elapsed_s)

    def lend(self) -> LentFile | None:
        """Lend the data file to the op of TensorFlow's, until this index is closed; None if it cannot be.

        Raises:
            ConfigurationError: The index is closed.
        """
        file, snapshot = self._opened(), self._snapshot
        if isinstance(file, PyLmdbFile):
            return None
        lent = file.lend(held=isinstance(snapshot, HeldTransaction) and snapshot.is_mine)
        if lent is not None:
            self._lent.append(lent)
        return lent

    def is_cached(self, coming: NDArray[np.uint64] | None = None) -> bool:
        """Return whether the page cache has the values; with access="auto", which looks now and then.

        Args:
            coming: The records that are to be read next; None of all.
        """
        if self._measured is None:
            return False
        self._measured.look_at_cache(coming=None if coming is None else self.offsets[coming])
        return self._measured.from_cache

    @property
    def sizes(self) -> NDArray[np.uint32]:
        """Sizes of all values in bytes, shape (n,)."""
        sizes: NDArray[np.uint32] = self._records["size"]
        return sizes

    @property
    def offsets(self) -> NDArray[np.uint64]:
        """Where each value begins in the data file, in bytes, shape (n,); 0 where py-lmdb reads it."""
        offsets: NDArray[np.uint64] = self._records["offset"]
        return offsets

    @property
    def in_pages(self) -> NDArray[np.bool_]:
        """Which values have pages of their own, shape (n,); the others lie beside their keys."""
        found: NDArray[np.bool_] = (self._records["flags"] & IN_PAGES) != 0
        return found

    def key(self, number: int) -> bytes:
        """Return a record's key."""
        row = self._records[number]
        begin = int(row["key"])
        return bytes(self._keys[begin : begin + int(row["key_size"])])

    def keys(self) -> list[bytes]:
        """Return all keys in order; one with several values as often."""
        begins, sizes = self._records["key"].tolist(), self._records["key_size"].tolist()
        return [bytes(self._keys[begin : begin + size]) for begin, size in zip(begins, sizes, strict=True)]

    def databases(self) -> list[bytes]:
        """Return the names of the sub-databases that this database describes."""
        found = np.flatnonzero(self._records["flags"] & SUB_DATABASE)
        return [self.key(number) for number in found.tolist()]

    def order(
        self, *, shard: tuple[int, int] = (0, 1), shuffle: Shuffle | None = None, seed: int = 0
    ) -> NDArray[np.uint64]:
        """Return the records of a shard in the order in which to read them; see `record_order`."""
        return record_order(self.sizes, shard, shuffle, seed)

    def read(self, numbers: Sequence[int] | NDArray[Any], *, threads: int | None = None) -> Batch:
        """Read the values of records into one buffer, in the order given.

        The storage sees them in the order of the file, neighbours as one read, several at a time. The
        interpreter's lock is released meanwhile.

        Raises:
            ConfigurationError: There is no such record, or the index is closed.
            DataFileError: The file is damaged, or was written to meanwhile.
            StorageError: It cannot be read.
        """
        given = self._numbers(numbers)
        return self.read_batches(given, max(len(given), 1), threads=threads)[0]

    def read_batches(
        self, numbers: Sequence[int] | NDArray[Any], batch: int, *, threads: int | None = None
    ) -> list[Batch]:
        """Read as `read` does, and return batches of so many records; the last may have fewer.

        Each begins at a multiple of 64 bytes, so that frameworks take it without a copy.
        """
        file, room = self._opened(), BatchRoom(self._numbers(numbers), self.sizes, batch)
        try:
            self._read_into(file, room, threads)
        except DataFileError:
            self._check(file)  # a writer is the likelier cause
            raise
        self._check(file)
        return room.batches()

    def mapped_batches(self, numbers: NDArray[np.uint64], batch: int) -> Iterator[MappedBatch] | None:
        """Return batches of so many records as the file is mapped, without a copy.

        None where values could change meanwhile, as no transaction is held, or the file cannot be mapped.

        Raises:
            DataFileError: The file is damaged.
        """
        file, snapshot = self._opened(), self._snapshot
        if isinstance(file, PyLmdbFile) or not (isinstance(snapshot, HeldTransaction) and snapshot.is_held()):
            return None
        whole = file.mapped(numbers)
        if whole is None:
            return None
        self._check(file)
        if self._measured is not None:
            self._measured.look_at_cache(int(self.sizes[numbers].sum(dtype=np.int64)), self.offsets[numbers])
        begins = self.offsets[numbers].astype(np.int64)
        ends = begins + self.sizes[numbers]
        cuts = (slice(first, first + batch) for first in range(0, len(numbers), batch))
        return (MappedBatch(numbers[cut], whole, begins[cut], ends[cut]) for cut in cuts)

    def _read_into(self, file: LmdbFile | PyLmdbFile, room: BatchRoom, threads: int | None) -> None:
        numbers, places = room.numbers, room.places

        def read(which: NDArray[np.intp], in_flight: int, cached: bool) -> None:
            file.read(numbers[which], places[which], room.buffer, in_flight, cached=cached)

        if threads or self._measured is None:
            file.read(numbers, places, room.buffer, threads or self.threads)
        else:
            self._measured.read(read, self.offsets[numbers], self.sizes[numbers])

    def _numbers(self, numbers: Sequence[int] | NDArray[Any]) -> NDArray[np.uint64]:
        given = np.asarray(numbers)
        if not given.size:
            return np.empty(0, np.uint64)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise ConfigurationError("records are named by a sequence of whole numbers.")
        if given.min() < 0 or given.max() >= len(self):
            wrong = given[(given < 0) | (given >= len(self))][0]
            raise ConfigurationError(f"{self.path} has no record {wrong}: name one below {len(self):,}.")
        return np.ascontiguousarray(given, np.uint64)

    def __getitem__(self, number: int) -> tuple[bytes, bytes]:
        """Return a record: its key and its value."""
        number = range(len(self))[number]
        return self.key(number), self.read([number]).buffer.tobytes()

    def __getitems__(self, numbers: Sequence[int]) -> list[tuple[bytes, bytes]]:
        """Return several records, read at once: what a torch DataLoader asks a map-style data set for."""
        values = self.read(numbers).tolist()
        return [(self.key(number), value) for number, value in zip(numbers, values, strict=True)]


def _open_again(asked: dict[str, Any]) -> Index:
    return Index(**asked)
