"""A session's files as Darshan's names and POSIX and STDIO records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.file_name import exact_name
from tfdarshan.formats import darshan_format
from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions import schema
from tfdarshan.sessions.process_data import ProcessData

# Darshan's value of a counter that was not counted.
NOT_COUNTED = -1
# Rank of what all processes of an imported log did together.
SHARED = -1


@dataclass(frozen=True)
class Rank:
    """One process of a log, or many ranks that have their tables together.

    Attributes:
        numbers: The ranks by process id; SHARED for what all ranks did together.
        process: The process of the session.
        files: The ids of its files, sorted.
        records: Which record each of them is.
    """

    numbers: dict[int, int]
    process: ProcessData
    files: Array
    records: Array

    @property
    def rank(self) -> int:
        """Its number, or the first of its numbers."""
        return next(iter(self.numbers.values()))

    @property
    def is_merged(self) -> bool:
        """Return whether it has the tables of many ranks."""
        return len(self.numbers) > 1

    def numbers_of(self, pids: Array) -> Array:
        """Return the ranks of process ids."""
        known, place = np.unique(pids, return_inverse=True)
        numbers = np.array([self.numbers.get(pid, self.rank) for pid in known.tolist()], np.int64)
        return numbers[place.reshape(-1)]

    def host_of(self, rank: int) -> str:
        """Return the host that a rank ran on."""
        hosts = self.process.meta.get("darshan", {}).get("hosts", {})
        found = (host for host, ranks in hosts.items() if rank in ranks)
        return str(next(found, self.process.meta["host"]))

    def record_of(self, files: Array) -> tuple[Array, Array]:
        """Return the records of file ids, and which of them are known."""
        place = np.minimum(np.searchsorted(self.files, files), max(len(self.files) - 1, 0))
        known = self.files[place] == files if len(self.files) else np.zeros(len(files), bool)
        return (self.records[place] if len(self.files) else np.zeros(len(files), np.uint64)), known


def number_processes(processes: Sequence[ProcessData], names: dict[int, bytes]) -> list[Rank]:
    """Give each process its rank and add the names of its files to `names`, by record.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    ranks = []
    for number, process in enumerate(processes):
        table = process.table("files", ["file", "path"])
        files, first = np.unique(table["file"].to_numpy(), return_index=True)
        records = np.zeros(len(files), np.uint64)
        given = process.meta.get("darshan", {}).get("records", {})
        for place, path in enumerate(table["path"].take(first).to_pylist()):
            name = _encoded(path)
            records[place] = record = given.get(str(files[place])) or _bridge.record_id(name)
            if path != darshan_format.nameless(record):
                names[record] = name
        ranks.append(Rank(_numbers(process, number), process, files, records))
    return ranks


def _encoded(path: str) -> bytes:
    """Return a path for a log, which readers take for UTF-8: bytes that are not stay escapes."""
    try:
        return exact_name(path).encode()
    except UnicodeEncodeError:
        return path.encode()


def _numbers(process: ProcessData, number: int) -> dict[int, int]:
    imported = process.meta.get("darshan", {})
    ranks = imported.get("ranks", [imported.get("rank", number)])
    return dict(zip(imported.get("pids", [process.pid]), ranks, strict=True))


def name_records(names: dict[int, bytes]) -> Iterator[bytes]:
    """Yield the names as a log has them: record, name, zero byte."""
    for record, name in names.items():
        yield np.uint64(record).tobytes() + name + b"\0"


def counter_records(module: str, ranks: Sequence[Rank], was_read: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the records of module "POSIX" or "STDIO", many at a time; `was_read` is told the rows read.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    counters = _names(schema.counter_columns(), module)
    f_counters = _names(schema.f_counter_columns(), module)
    layout = darshan_format.counter_record(len(counters), len(f_counters))
    for rank in ranks:
        for batch in rank.process.batches("files", ["file", "module", "pid", *counters, *f_counters]):
            rows = np.flatnonzero(batch.column("module").to_numpy(zero_copy_only=False) == module)
            records = np.zeros(len(rows), layout)
            records["id"], _known = rank.record_of(batch.column("file").to_numpy()[rows])
            records["rank"] = rank.numbers_of(batch.column("pid").to_numpy()[rows])
            for place, name in enumerate(counters):
                records["counters"][:, place] = _filled(batch.column(name))[rows]
            for place, name in enumerate(f_counters):
                records["f_counters"][:, place] = _filled(batch.column(name))[rows]
            yield records.tobytes()
            was_read(batch.num_rows)


def _names(columns: Sequence[schema.Column], module: str) -> list[str]:
    return [column.name for column in columns if column.name.startswith(f"{module}_")]


def _filled(column: Any) -> Array:
    values: Array = column.fill_null(NOT_COUNTED).to_numpy(zero_copy_only=False)
    return values
