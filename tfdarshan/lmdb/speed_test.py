"""How fast a database is read here, and by py-lmdb in a generator: by turns, medians."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tfdarshan.errors import ConfigurationError
from tfdarshan.lmdb.data_path import DataPath
from tfdarshan.lmdb.dataset import Framework, dataset
from tfdarshan.lmdb.held_snapshot import py_lmdb
from tfdarshan.lmdb.index import Access, Index
from tfdarshan.lmdb.record_order import Shuffle

# As many bytes as a batch has, in whole records.
BATCH_BYTES = 2 << 20


@dataclass(frozen=True)
class Speed:
    """One reader's runs.

    Attributes:
        reader: What read.
        value_bytes: Of all values that each run read.
        seconds: How long each run took, from the first value asked for to the last one had.
        opening_s: The median of what opening took before, in seconds: here it finds all records.
    """

    reader: str
    value_bytes: int
    seconds: tuple[float, ...]
    opening_s: float

    @property
    def median_s(self) -> float:
        """The median of the runs, in seconds."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Trial:
    """What is measured.

    Attributes:
        path: The database.
        db: Its sub-database, or None.
        access: Through the page cache or past it.
        threads: The most reads in flight.
        shuffle: In which order; py-lmdb gets the keys in such an order and reads each as it comes.
        most_bytes: What a run reads at most, in bytes of values.
        framework: "python" or "tensorflow": in whose data set.
        cold: Has the page cache forget the file before each run.
    """

    path: DataPath
    db: bytes | None
    access: Access
    threads: int
    shuffle: Shuffle | None
    most_bytes: int
    framework: Framework
    cold: bool

    def index(self) -> Index:
        """Gives the index that is read with."""
        return Index(self.path.given, self.db, access=self.access, threads=self.threads, snapshot="check")


# Opens a database; what it gives reads values up to so many bytes and gives how many those were.
Reader = Callable[[Trial], Callable[[], int]]


def measure_speed(trial: Trial, runs: int) -> list[Speed]:
    """Reads by each reader in turn, `runs` times.

    Raises:
        ConfigurationError: There are no runs, nothing to read, or the framework is not installed.
        DataFileError: The file is damaged.
        StorageError: It cannot be read.
    """
    if runs < 1:
        raise ConfigurationError(f"runs must be 1 and more, not {runs}.")
    readers: dict[str, Reader] = {f"tfdarshan.lmdb, {trial.access}, {trial.threads} threads": _open_ours}
    module = py_lmdb()
    if module is not None:
        readers["py-lmdb in a generator"] = lambda trial: _open_py_lmdb(module, trial)
    taken: dict[str, list[tuple[float, float, int]]] = {name: [] for name in readers}
    for _ in range(runs):
        for name, reader in readers.items():
            taken[name].append(_timed(reader, trial))
    return [_speed(name, runs) for name, runs in taken.items()]


def _speed(name: str, runs: list[tuple[float, float, int]]) -> Speed:
    value_bytes = runs[0][2]
    if not value_bytes:
        raise ConfigurationError("the database has no values to read.")
    opening_s = statistics.median(opening for opening, _, _ in runs)
    return Speed(name, value_bytes, tuple(seconds for _, seconds, _ in runs), opening_s)


def _timed(reader: Reader, trial: Trial) -> tuple[float, float, int]:
    if trial.cold:
        _forget(trial.path.data)
    start_s = time.perf_counter()
    read = reader(trial)
    opened_s = time.perf_counter()
    value_bytes = read()
    return opened_s - start_s, time.perf_counter() - opened_s, value_bytes


def _forget(data: Path) -> None:
    """Has the page cache drop a file's pages, as far as nobody has them mapped."""
    number = os.open(data, os.O_RDONLY)
    try:
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(number)


def _open_ours(trial: Trial) -> Callable[[], int]:
    index = trial.index()
    mean_bytes = int(index.sizes.mean()) if len(index) else 1
    batch = max(BATCH_BYTES // max(mean_bytes, 1), 1)
    batches = dataset(index, batch=batch, shuffle=trial.shuffle, framework=trial.framework)

    def read() -> int:
        done = 0
        for batch in batches:
            done += len(batch[0]) if trial.framework == "tensorflow" else len(batch.buffer)
            if done >= trial.most_bytes:
                break
        index.close()
        return done

    return read


def _open_py_lmdb(module: ModuleType, trial: Trial) -> Callable[[], int]:
    keys = None
    if trial.shuffle:
        with trial.index() as index:
            keys = [index.key(number) for number in index.order(shuffle=trial.shuffle).tolist()]
    options = {"subdir": trial.path.given.is_dir(), "lock": trial.path.lock.exists(), "max_dbs": 1}
    environment = module.open(str(trial.path.given), readonly=True, create=False, **options)
    database = environment.open_db(trial.db, create=False)

    def values() -> Iterator[bytes]:
        with environment.begin(db=database) as transaction:
            if keys is None:
                yield from transaction.cursor(db=database).iternext(keys=False)
            else:
                yield from (transaction.get(key) for key in keys)

    def read() -> int:
        done = 0
        for value in _strings(values) if trial.framework == "tensorflow" else values():
            done += len(value)
            if done >= trial.most_bytes:
                break
        environment.close()
        return done

    return read


def _strings(values: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """Gives values by way of tf.data, as data sets over py-lmdb do."""
    import tensorflow as tf

    strings: Any = tf.data.Dataset.from_generator(values, output_signature=tf.TensorSpec((), tf.string))
    # Taken in batches, as a training loop takes them.
    for batch in strings.batch(16).prefetch(2):
        yield from (np.atleast_1d(batch.numpy())).tolist()
