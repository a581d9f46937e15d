"""How fast a database is read here, and by py-lmdb in a generator: by turns, medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tfdarshan.errors import ConfigurationError
from tfdarshan.lmdb.cold_run import run_cold, warm_tensorflow
from tfdarshan.lmdb.data_path import DataPath
from tfdarshan.lmdb.dataset import Framework, dataset
from tfdarshan.lmdb.held_snapshot import py_lmdb
from tfdarshan.lmdb.index import Access, Index
from tfdarshan.lmdb.measured_reading import Reading
from tfdarshan.lmdb.record_order import Shuffle
from tfdarshan.units import plural

# As many bytes as a batch has, in whole records.
BATCH_BYTES = 2 << 20
PY_LMDB = "py-lmdb in a generator"


@dataclass(frozen=True)
class Run:
    """One reading of a database.

    Attributes:
        value_bytes: Of all values that were read.
        opening_s: What opening took, in seconds: here it finds all records.
        elapsed_s: From the first value asked for to the last one had, in seconds.
        processor_s: The processor time of all threads meanwhile, in seconds.
        reading: How it was read at the end; None of py-lmdb.
    """

    value_bytes: int
    opening_s: float
    elapsed_s: float
    processor_s: float
    reading: Reading | None


@dataclass(frozen=True)
class Speed:
    """One reader's runs; each read the same.

    Attributes:
        reader: What read.
        runs: In the order in which they were made.
    """

    reader: str
    runs: tuple[Run, ...]

    @property
    def value_bytes(self) -> int:
        """What each run read, in bytes of values."""
        return self.runs[0].value_bytes

    @property
    def reading(self) -> Reading | None:
        """How the last run was read at its end; None of py-lmdb."""
        return self.runs[-1].reading

    def median_s(self, what: str) -> float:
        """Return the median of the runs' `opening_s`, `elapsed_s` or `processor_s`."""
        return float(statistics.median(getattr(run, what) for run in self.runs))


@dataclass(frozen=True)
class Trial:
    """What is measured.

    Attributes:
        path: The database.
        db: Its sub-database, or None.
        access: As `Index` takes it.
        threads: The most reads in flight.
        shuffle: In which order; py-lmdb gets the keys in such an order and reads each as it comes.
        most_bytes: What a run reads at most, in bytes of values.
        framework: "python" or "tensorflow": in whose data set.
        cold: Has the page cache forget the file before each run, each in a process of its own.
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
        """Return the index that is read with."""
        return Index(self.path.given, self.db, access=self.access, threads=self.threads)


# Opens a database; what it gives reads values up to so many bytes, and gives how many those were, and how.
Read = Callable[[], tuple[int, Reading | None]]
Reader = Callable[[Trial], Read]


def measure_speed(trial: Trial, runs: int) -> list[Speed]:
    """Read by each reader in turn, `runs` times.

    Raises:
        ConfigurationError: There are no runs, nothing to read, or the framework is not installed.
        DataFileError: The file is damaged.
        StorageError: It cannot be read.
    """
    if runs < 1:
        raise ConfigurationError(f"runs must be at least 1, not {runs}.")
    readers = _readers(trial)
    if trial.framework == "tensorflow" and not trial.cold:
        warm_tensorflow()  # else the first reader's first run has what TensorFlow starts once
    taken: dict[str, list[Run]] = {name: [] for name in readers}
    for _ in range(runs):
        for name in readers:
            taken[name].append(_measured(name, trial))
    if not all(run.value_bytes for made in taken.values() for run in made):
        raise ConfigurationError("the database has no values to read.")
    return [Speed(name, tuple(made)) for name, made in taken.items()]


def _readers(trial: Trial) -> dict[str, Reader]:
    """Return those to compare by their names; py-lmdb is the last, if it is installed."""
    ours = f"tfdarshan.lmdb, {trial.access}, {plural(trial.threads, 'thread')}"
    readers: dict[str, Reader] = {ours: _open_ours}
    if trial.framework == "tensorflow":
        readers = {f"{ours}, flat": _open_ours, f"{ours}, strings": _open_our_strings}
    module = py_lmdb()
    if module is not None:
        readers[PY_LMDB] = lambda trial: _open_py_lmdb(module, trial)
    return readers


def _measured(name: str, trial: Trial) -> Run:
    """Read once; from storage in a process of its own, as what is mapped here stays in the page cache."""
    return run_cold(trial.path.data, _run_alone, name, trial) if trial.cold else _timed(name, trial)


def _run_alone(name: str, trial: Trial) -> Run:
    if trial.framework == "tensorflow":
        warm_tensorflow()
    return _timed(name, trial)


def _timed(name: str, trial: Trial) -> Run:
    reader = _readers(trial)[name]
    start_s = time.perf_counter()
    read = reader(trial)
    opened_s, processor_s = time.perf_counter(), time.process_time()
    value_bytes, reading = read()
    elapsed_s, processor_s = time.perf_counter() - opened_s, time.process_time() - processor_s
    return Run(value_bytes, opened_s - start_s, elapsed_s, processor_s, reading)


def _open_ours(trial: Trial, *, strings: bool = False) -> Read:
    index = trial.index()
    mean_bytes = int(index.sizes.mean()) if len(index) else 1
    batch = max(BATCH_BYTES // max(mean_bytes, 1), 1)
    batches = dataset(index, batch=batch, shuffle=trial.shuffle, framework=trial.framework, strings=strings)

    def read() -> tuple[int, Reading | None]:
        done = 0
        for batch in batches:
            if trial.framework == "python":
                done += sum(map(len, batch))
            else:
                done += _string_bytes(batch) if strings else len(batch[0])
            if done >= trial.most_bytes:
                break
        index.close()
        return done, index.reading

    return read


def _open_our_strings(trial: Trial) -> Read:
    return _open_ours(trial, strings=True)


def _open_py_lmdb(module: ModuleType, trial: Trial) -> Read:
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

    def read() -> tuple[int, Reading | None]:
        sizes = _sizes_in_tf_data(values) if trial.framework == "tensorflow" else map(len, values())
        done = 0
        for size in sizes:
            done += size
            if done >= trial.most_bytes:
                break
        environment.close()
        return done, None

    return read


def _sizes_in_tf_data(values: Callable[[], Iterator[bytes]]) -> Iterator[int]:
    """Return values to tf.data, as data sets over py-lmdb do, and sizes of the batches that come out."""
    import tensorflow as tf

    strings: Any = tf.data.Dataset.from_generator(values, output_signature=tf.TensorSpec((), tf.string))
    # Taken in batches, as a training loop takes them.
    return map(_string_bytes, strings.batch(16).prefetch(2))


def _string_bytes(batch: Any) -> int:
    """Return the sum of a string tensor's sizes, without a copy of the strings."""
    import tensorflow as tf

    return int(tf.reduce_sum(tf.strings.length(batch)))
