"""An LMDB data file through the C extension that reads the format."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfdarshan.errors import ConfigurationError, DataFileError, StorageError, TfdarshanError
from tfdarshan.native._extension import lmdb as extension

RECORD = np.dtype(
    [
        ("offset", np.uint64),
        ("key", np.uint64),
        ("size", np.uint32),
        ("key_size", np.uint16),
        ("flags", np.uint16),
    ]
)
IN_PAGES = 1
SUB_DATABASE = 2


class OtherFormatError(DataFileError):
    """The file is not one of LMDB's data version 1: perhaps py-lmdb can read it."""


@dataclass(frozen=True)
class LmdbFacts:
    """One database of a file, and the transaction that it is a snapshot of. Sizes are in bytes."""

    file_bytes: int
    page_bytes: int
    map_bytes: int
    last_page: int
    transaction: int
    entries: int
    branch_pages: int
    leaf_pages: int
    overflow_pages: int
    depth: int
    flags: int


class LentFile:
    """A data file that the op of TensorFlow's reads.

    Attributes:
        number: What the op is given.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._lib = extension()[1]

    def set_reading(self, threads: int, *, cached: bool, takes_turns: bool, window: int) -> None:
        """Say how it is read from now on.

        Args:
            threads: The most reads in flight; 0: one, so little at a time that the kernel reads ahead of it.
            cached: The page cache has the values.
            takes_turns: Reads wait for those of other threads and processes.
            window: How many records of a span go to the page cache at once, in the order of the file, before
                any is read; 0 for none.
        """
        self._lib.tfd_lmdb_set_reading(self.number, threads, cached, takes_turns, window)

    def take_back(self) -> None:
        """Have the op fail from now on; reads that go on end as they would."""
        self._lib.tfd_lmdb_take_back(self.number)


def functions_address() -> int:
    """Return the address of the functions that the op calls."""
    ffi, lib = extension()
    return int(ffi.cast("uintptr_t", lib.tfd_lmdb_borrowed_functions()))


def timed_reads(handle: int, places: list[int]) -> list[float]:
    """Ask for a page at each of the places at once.

    Return for each after how long it, and those before it, had come, in seconds.

    Args:
        handle: A descriptor that may read the file.
        places: Where, in bytes.

    Raises:
        OSError: They cannot be read.
    """
    ffi, lib = extension()
    error, elapsed_s = ffi.new("struct tfd_lmdb_error *"), ffi.new("double[]", len(places))
    if lib.tfd_lmdb_time_reads(handle, places, len(places), elapsed_s, error):
        raise OSError(error.number, os.fsdecode(ffi.string(error.text)))
    return list(elapsed_s)


def cached_pages(handle: int, places: list[int], length: int) -> list[int] | None:
    """Return how many pages the page cache has of the bytes at each place; None if the kernel does not say.

    Of an overlay's file, as containers have them, it sees none.

    Args:
        handle: A descriptor that may read the file.
        places: Where, in bytes: multiples of the page size.
        length: How many bytes at each.
    """
    ffi, lib = extension()
    pages = ffi.new("uint64_t[]", len(places))
    return None if lib.tfd_lmdb_cached_pages(handle, places, len(places), length, pages) else list(pages)


class LmdbFile:
    """An open data file, and the records of the database that was indexed last.

    Reads release the interpreter's lock and may run in several threads. They go on in a forked child.
    """

    def __init__(self, path: str, *, direct: bool = False) -> None:
        """Open it.

        Raises:
            OtherFormatError: It is not an LMDB file of data version 1.
            DataFileError: Its meta pages are damaged.
            StorageError: It cannot be opened or read.
        """
        self.path = path
        self._ffi, self._lib = extension()
        error = self._ffi.new("struct tfd_lmdb_error *")
        opened = self._lib.tfd_lmdb_open(os.fsencode(path), direct, error)
        if not opened:
            raise self._raised(error)
        # Not closed before the last call that uses it returns, nor before arrays over its memory are gone.
        self._file = self._ffi.gc(opened, self._lib.tfd_lmdb_close)
        self._file_bytes = self.facts().file_bytes
        self.reads_direct = bool(self._lib.tfd_lmdb_reads_direct(self._file))

    @property
    def handle(self) -> int:
        """A descriptor of the file, which is right as long as this object is there."""
        return int(self._lib.tfd_lmdb_descriptor(self._file))

    def index(self, name: bytes | None, threads: int) -> None:
        """Find the records of the main database, or of the sub-database `name`.

        Raises:
            ConfigurationError: There is no such sub-database.
            DataFileError: The file is damaged.
            StorageError: It cannot be read.
        """
        error = self._ffi.new("struct tfd_lmdb_error *")
        given = self._ffi.NULL if name is None else name
        if self._lib.tfd_lmdb_index(self._file, given, len(name or b""), threads, error):
            raise self._raised(error)

    def restore(self, records: NDArray[Any], keys: NDArray[np.uint8], facts: LmdbFacts) -> None:
        """Take records that were found before, of the database that `facts` describes.

        Raises:
            DataFileError: They are not this file's.
            StorageError: There is no memory.
        """
        error = self._ffi.new("struct tfd_lmdb_error *")
        given = self._ffi.from_buffer("struct tfd_lmdb_record[]", records)
        said = self._ffi.new("struct tfd_lmdb_facts *", dataclasses.asdict(facts))
        text = self._ffi.from_buffer("char[]", keys)
        if self._lib.tfd_lmdb_restore(self._file, given, len(records), text, keys.nbytes, said, error):
            raise self._raised(error)

    def facts(self) -> LmdbFacts:
        """Return what the file says of itself and of the database that was indexed; else of the main one."""
        facts = self._ffi.new("struct tfd_lmdb_facts *")
        self._lib.tfd_lmdb_facts_of(self._file, facts)
        return LmdbFacts(**{name: int(getattr(facts, name)) for name in LmdbFacts.__dataclass_fields__})

    def records(self) -> NDArray[Any]:
        """Return the records in the order of keys, as RECORD, in the C core's memory."""
        count = self._lib.tfd_lmdb_count(self._file)
        return self._view(self._lib.tfd_lmdb_records(self._file), count * RECORD.itemsize).view(RECORD)

    def keys(self) -> memoryview:
        """Return the bytes of all keys, which the records point into, in the C core's memory."""
        size = self._ffi.new("uint64_t *")
        first = self._lib.tfd_lmdb_keys(self._file, size)
        return self._view(first, int(size[0])).data

    def newest(self) -> int:
        """Return the newest transaction that is in the file now.

        Raises:
            DataFileError: The meta pages are damaged.
            StorageError: They cannot be read.
        """
        error, transaction = self._ffi.new("struct tfd_lmdb_error *"), self._ffi.new("uint64_t *")
        if self._lib.tfd_lmdb_newest(self._file, transaction, error):
            raise self._raised(error)
        return int(transaction[0])

    def read(
        self,
        numbers: NDArray[np.uint64],
        places: NDArray[np.uint64],
        to: NDArray[np.uint8],
        threads: int,
        *,
        cached: bool = False,
    ) -> None:
        """Read the values of records into `to`, each to its place there.

        Args:
            numbers: Which records.
            places: Where each goes in `to`, in bytes.
            to: Has room for them.
            threads: The most reads in flight; 0: one, so little at a time that the kernel reads ahead of it.
            cached: The page cache should have them: they are copied from a mapping, if there can be one.

        Raises:
            DataFileError: The file is damaged.
            StorageError: It cannot be read.
        """
        error = self._ffi.new("struct tfd_lmdb_error *")
        given, placed = (self._ffi.from_buffer("uint64_t[]", array) for array in (numbers, places))
        into = self._ffi.from_buffer("char[]", to, require_writable=True)
        count = len(numbers)
        if self._lib.tfd_lmdb_read(self._file, given, placed, count, into, to.nbytes, threads, cached, error):
            raise self._raised(error)

    def mapped(self, numbers: NDArray[np.uint64]) -> memoryview | None:
        """Return the whole file as it is mapped, once the values of these records are known to be in it.

        It stays mapped as long as anything refers to it. None if the file cannot be mapped.

        Raises:
            DataFileError: The file is damaged.
        """
        first = self._lib.tfd_lmdb_mapping(self._file)
        if not first:
            return None
        error = self._ffi.new("struct tfd_lmdb_error *")
        given = self._ffi.from_buffer("uint64_t[]", numbers)
        if self._lib.tfd_lmdb_check_mapped(self._file, given, len(numbers), error):
            raise self._raised(error)
        return self._view(first, self._file_bytes).data

    def lend(self, *, held: bool) -> LentFile | None:
        """Lend the file to the op of TensorFlow's; None where too many are lent already.

        Args:
            held: This process keeps writers from what is read; else the op looks after each read.
        """
        number = self._lib.tfd_lmdb_lend(self._file, os.fsencode(self.path), held)
        return LentFile(number) if number else None

    def _view(self, first: Any, size: int) -> NDArray[np.uint8]:
        """Return an array over memory of the file's, which it keeps from being closed."""
        if not size:
            return np.empty(0, np.uint8)
        file = self._file
        kept = self._ffi.gc(self._ffi.cast("char *", first), lambda _: file)
        view = np.frombuffer(self._ffi.buffer(kept, size), np.uint8)
        view.flags.writeable = False
        return view

    def _raised(self, error: Any) -> TfdarshanError:
        """Return the exception for what the C core says."""
        lib, text = self._lib, os.fsdecode(self._ffi.string(error.text))
        sentence = f"{self.path} {text}."
        if error.kind == lib.TFD_LMDB_SYSTEM:
            return StorageError(f"the LMDB file {self.path} {text}; give a database that you can read.")
        if error.kind == lib.TFD_LMDB_MISSING:
            return ConfigurationError(sentence)
        return OtherFormatError(sentence) if error.kind == lib.TFD_LMDB_OTHER else DataFileError(sentence)
