"""What reading an LMDB database gives, beside py-lmdb: cached, throttled, late, on a disk that seeks."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import re
import statistics
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.perf import progress
from tests.perf.row import Row, quartiles, single_row
from tfdarshan.errors import TfdarshanError
from tfdarshan.lmdb import Index, dataset
from tfdarshan.lmdb.record_order import record_order
from tfdarshan.native.lmdb_file import LmdbFile
from tfdarshan.workloads.cache_clearing import drop_from_cache
from tfdarshan.workloads.fuse_mount import build_server, check_fuse, fuse_mount

GROUP = "LMDB, records of 110 KB in plain Python: MB/s, and by py-lmdb's mapping"
INDEX_GROUP = "finding the records of an LMDB database"
# Emulated by FUSE; None is this machine's memory.
STORAGE: dict[str, dict[str, float] | None] = {
    "cached": None,
    "throttled, 163 MB/s": {"bandwidth": 163e6, "page_cache": 1},
    "late, 3 ms": {"read_s": 3e-3, "page_cache": 1},
    "disk that seeks, 8 ms": {"seek_s": 8e-3, "bandwidth": 163e6, "concurrency": 1, "page_cache": 1},
}
READERS = (1, 4, 8)
ORDERS: dict[str, Any] = {"in order": None, "random": "exact"}
VALUE_BYTES = 110_000
SMALL_RECORDS, SMALL_BYTES = 60_000, 1_000
INDEX_BOUND_S = 0.5
LEAST_RATIO = 0.9


@dataclass(frozen=True)
class Cell:
    """One cell of the matrix.

    Attributes:
        shown: The database's folder as it is read.
        backing: The data file that lies below.
        readers: How many processes, each with a part of its own.
        shuffle: As `dataset` takes it.
        cached: The page cache keeps it.
    """

    shown: Path
    backing: Path
    readers: int
    shuffle: Any
    cached: bool

    @property
    def epochs(self) -> int:
        """How often each reads its part: what is cached takes so little that opening would be measured."""
        return 4 if self.cached else 1


def make_database(folder: Path, records: int, value_bytes: int) -> Path:
    """Write a database; return its folder."""
    import lmdb

    folder.mkdir(parents=True)
    with lmdb.open(str(folder), map_size=4 << 30, sync=False) as environment:
        with environment.begin(write=True) as transaction:
            for number in range(records):
                transaction.put(b"%08d" % number, os.urandom(value_bytes))
    return folder


# Gives rows of one kind of storage: its name, where it is shown, where it lies below.
Measured = Callable[[str, Path, Path], Iterable[Row]]


def lmdb_cost(
    folder: Path, *, runs: int, megabytes: int, kinds: Sequence[str]
) -> tuple[list[Row], list[str]]:
    """Return the rows of the matrix, and a sentence for each thing left out."""

    def measured(storage: str, shown: Path, stored: Path) -> Iterator[Row]:
        yield from _matrix(storage, shown / "large", stored / "large", runs)
        if storage.startswith("late"):
            yield _index_row(shown / "small", stored / "small", runs)

    return on_each_storage(folder, megabytes, kinds, measured)


def on_each_storage(
    folder: Path, megabytes: int, kinds: Sequence[str], measured: Measured
) -> tuple[list[Row], list[str]]:
    """Write a database of large records and one of small ones; return what is measured on each storage.

    Args:
        folder: An empty one.
        megabytes: What the large records have.
        kinds: First words of `STORAGE`; all if there are none.
        measured: Measures one.
    """
    make_database(folder / "stored" / "large", int(megabytes * 1e6 / VALUE_BYTES), VALUE_BYTES)
    make_database(folder / "stored" / "small", SMALL_RECORDS, SMALL_BYTES)
    rows: list[Row] = []
    missing: list[str] = []
    for storage, model in STORAGE.items():
        if kinds and kind_of(storage) not in kinds:
            continue
        try:
            with mounted(folder, model) as shown:
                rows += measured(storage, shown, folder / "stored")
        except (OSError, ImportError, subprocess.SubprocessError, TfdarshanError) as error:
            missing.append(f"LMDB on storage that is {storage} is left out: {error}")
    return rows, missing


def kind_of(storage: str) -> str:
    """Return the first word of a storage's name, which --lmdb-storage takes."""
    return re.split(r"\W", storage)[0]


@contextmanager
def mounted(folder: Path, model: dict[str, float] | None) -> Iterator[Path]:
    if model is None:
        yield folder / "stored"
        return
    check_fuse()
    with fuse_mount(build_server(folder), folder / "stored", folder / "shown", model) as mount:
        mount.begin()
        yield mount.mount_point


def _matrix(storage: str, shown: Path, backing: Path, runs: int) -> Iterator[Row]:
    for order, shuffle in ORDERS.items():
        for readers in READERS:
            name = f"{storage}, {order}, {readers}"
            progress.show(f"LMDB: {name}")
            cell = Cell(shown, backing / "data.mdb", readers, shuffle, storage == "cached")
            speeds = [(_speed(cell, _by_py_lmdb), _speed(cell, _by_us)) for _ in range(runs)]
            yield _row(name, speeds)


def _row(name: str, speeds: list[tuple[float, float]]) -> Row:
    ours = [speed for _, speed in speeds]
    low, high = quartiles(ours)
    ratio = statistics.median(own / other for other, own in speeds)
    base = statistics.median(other for other, _ in speeds)
    note = f"{ratio:.2f}x" + ("" if ratio >= LEAST_RATIO else ", below what is wanted")
    median = statistics.median(ours)
    return Row(GROUP, name, "tfdarshan.lmdb", "MB/s", median, low, high, len(speeds), base, note=note)


Reader = Callable[[Cell, Any, int], int]


def _speed(cell: Cell, reader: Reader) -> float:
    """Read all once, by forked processes; return MB/s from the first one's begin to the last one's end."""
    drop_from_cache([cell.shown / "data.mdb", cell.backing])
    if cell.cached:
        cell.backing.read_bytes()
    context: Any = multiprocessing.get_context("fork")
    begin, results = context.Barrier(cell.readers), context.SimpleQueue()
    with Index(cell.shown) if reader is _by_us else _keys(cell) as shared:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            processes = [
                context.Process(target=_timed, args=(cell, reader, shared, which, begin, results))
                for which in range(cell.readers)
            ]
            for process in processes:
                process.start()
        parts = [results.get() for _ in processes]
        for process in processes:
            process.join()
    span_s = max(end_s for _, end_s, _ in parts) - min(begin_s for begin_s, _, _ in parts)
    return sum(size for *_, size in parts) / 1e6 / span_s


def _timed(cell: Cell, reader: Reader, shared: Any, which: int, begin: Any, results: Any) -> None:
    begin.wait()
    begin_s = time.monotonic()
    size = reader(cell, shared, which)
    results.put((begin_s, time.monotonic(), size))


def _by_us(cell: Cell, index: Any, which: int) -> int:
    part = (which, cell.readers)
    batches = dataset(index, batch=16, shard=part, shuffle=cell.shuffle, epochs=cell.epochs)
    return sum(_touched(value) for batch in batches for value in batch)


@contextmanager
def _keys(cell: Cell) -> Iterator[list[list[bytes]]]:
    """Yield the keys that each reader reads, in its order."""
    with Index(cell.shown, snapshot="check") as index:
        drop_from_cache([cell.shown / "data.mdb", cell.backing] if not cell.cached else [])
        keys, sizes = index.keys(), index.sizes
    orders = (record_order(sizes, (which, cell.readers), cell.shuffle, 0) for which in range(cell.readers))
    yield [[keys[number] for number in order.tolist()] for order in orders]


def _by_py_lmdb(cell: Cell, keys: Any, which: int) -> int:
    import lmdb

    done = 0
    with lmdb.open(str(cell.shown), readonly=True, lock=False, create=False) as environment:
        with environment.begin() as transaction:
            for _ in range(cell.epochs):
                done += sum(map(_touched, _values(transaction, keys[which], in_order=not cell.shuffle)))
    return done


def _values(transaction: Any, keys: list[bytes], *, in_order: bool) -> Iterator[bytes]:
    if not in_order:
        yield from map(transaction.get, keys)
        return
    cursor = transaction.cursor()
    cursor.set_key(keys[0])
    yield from itertools.islice(cursor.iternext(keys=False), len(keys))


def _touched(value: Any) -> int:
    """Return a value's size, and have one byte of each page read: what is mapped comes no sooner."""
    sum(value[::4096])
    return len(value)


def _index_row(shown: Path, backing: Path, runs: int) -> Row:
    """Each time from the storage, and not as it was kept."""
    found = []
    for _ in range(runs):
        drop_from_cache([shown / "data.mdb", backing / "data.mdb"])
        start_s = time.perf_counter()
        file = LmdbFile(os.fspath(shown / "data.mdb"))
        file.index(None, 16)
        found.append(time.perf_counter() - start_s)
        assert len(file.records()) == SMALL_RECORDS
    name = f"{SMALL_RECORDS:,} records of 1 KB on storage that is late by 3 ms"
    return single_row(INDEX_GROUP, name, "s", found, wanted=INDEX_BOUND_S, note="nothing was kept")
