"""The catalogue on disk: a folder of Parquet parts, only ever added, and put together when they are many.

Nothing is locked. A part is there whole or not at all, and of two rows of one input the later one counts: so
two writers at once lose nothing, and neither does one that is killed. A writer that puts parts together
removes them only when their rows are durable in the new one; a reader that misses a part lists them again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tfdarshan.durable.durable_file import durable_file, sync_folder
from tfdarshan.durable.user_folders import cache_folder
from tfdarshan.errors import SessionDataError, StorageError, reason
from tfdarshan.fleet.job_columns import ARROW_SCHEMA, CATALOGUE_VERSION
from tfdarshan.fleet.job_row import Row
from tfdarshan.sessions.opened_table import native_file

VERSION_KEY = b"tfdarshan.catalogue_version"
PART = "part-*.parquet"
MOST_PARTS = 8
# A reader that misses parts again and again gives up.
LISTINGS = 20
# Temporary files of writers that were killed.
LEFT_BEHIND = ".tfdarshan-*.tmp"
OLD_S = 86_400


def default_folder() -> Path:
    """Return the user's own catalogue."""
    return cache_folder() / "fleet"


def as_table(rows: Sequence[Row]) -> Any:
    """Return rows as a table of ARROW_SCHEMA; what a row does not have is null."""
    return pa.Table.from_pylist(list(rows), schema=ARROW_SCHEMA)


class CatalogueFolder:
    """The rows of all inputs that were ever read.

    Attributes:
        path: The folder.
        table: The rows, of ARROW_SCHEMA, one for each input.
        problems: Parts that could not be read, a sentence each; their inputs are read again.

    Raises:
        SessionDataError: It is of a newer version.
        StorageError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self._parts: list[Path] = []
        self._damaged: list[Path] = []
        self.table = self._read()

    def add(self, rows: Sequence[Row]) -> None:
        """Write rows durably, in place of those that were there of the same inputs.

        Raises:
            StorageError: They cannot be written.
        """
        if not rows:
            return
        new = as_table(self._later_than_known(rows))
        self._parts.append(self._write(new))
        self.table = _newest([self.table, new])
        for part in self._damaged:
            with suppress(OSError):
                part.unlink()
        self._damaged.clear()

    def _later_than_known(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows with times behind those of the rows that they replace: hosts' clocks differ."""
        inputs = pa.array([row["input"] for row in rows], pa.string())
        there = self.table.filter(pc.is_in(self.table["input"], inputs)).select(["input", "catalogued_ns"])
        known = dict(zip(*(column.to_pylist() for column in there.columns), strict=True))
        return [
            row | {"catalogued_ns": max(row["catalogued_ns"], known.get(row["input"], -1) + 1)}
            for row in rows
        ]

    def put_together(self) -> None:
        """Make one part of many.

        Raises:
            StorageError: It cannot be written.
        """
        if len(self._parts) <= MOST_PARTS:
            return
        old, self._parts = self._parts, [self._write(self.table)]
        for part in old:
            with suppress(OSError):  # another writer may have done so
                part.unlink()
        for file in self.path.glob(LEFT_BEHIND):
            with suppress(OSError):
                if time.time() - file.stat().st_mtime > OLD_S:
                    file.unlink()

    def _write(self, table: Any) -> Path:
        name = f"part-{time.time_ns():020}-{os.getpid()}-{os.urandom(4).hex()}.parquet"
        metadata = {VERSION_KEY: str(CATALOGUE_VERSION).encode()}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with durable_file(self.path / name, shared=True) as file:
                pq.write_table(table.replace_schema_metadata(metadata), file, compression="zstd")
            sync_folder(self.path)
        except OSError as error:
            raise StorageError(
                f"the catalogue {self.path} cannot be written: {reason(error)}; "
                "name another with --catalogue."
            ) from error
        return self.path / name

    def _read(self) -> Any:
        for _ in range(LISTINGS):
            try:
                return self._read_parts()
            except FileNotFoundError:
                time.sleep(0.01)
        raise StorageError(f"the catalogue {self.path} cannot be read: its parts change all the time.")

    def _read_parts(self) -> Any:
        self.problems, self._damaged, self._parts = [], [], []
        tables = []
        for part in sorted(self.path.glob(PART)):
            try:
                table = _read_part(part)
            except FileNotFoundError:
                raise
            except (pa.ArrowException, EOFError, ValueError, OSError) as error:
                if getattr(error, "errno", None) is not None:  # Arrow's own word for damage has none
                    raise StorageError(
                        f"the catalogue part {part} cannot be read: {reason(error)}."
                    ) from error
                self.problems.append(
                    f"{part} is damaged ({reason(error)}): what it had of inputs is read again, but for "
                    "those that have vanished"
                )
                self._damaged.append(part)
                continue
            self._parts.append(part)
            if table is not None:
                tables.append(table)
        return _newest(tables) if tables else ARROW_SCHEMA.empty_table()


def _read_part(part: Path) -> Any:
    """Read a part; None if it is of an older version."""
    with native_file(part) as source:
        table = pq.read_table(source)
    said = (table.schema.metadata or {}).get(VERSION_KEY, b"0")
    version = int(said) if said.isdigit() else 0
    if version > CATALOGUE_VERSION:
        raise SessionDataError(
            f"the catalogue {part.parent} has version {version} and this tfdarshan reads up to "
            f"{CATALOGUE_VERSION}: upgrade with `pip install -U tfdarshan`, or name another with --catalogue."
        )
    if version < CATALOGUE_VERSION:
        return None
    return table.replace_schema_metadata(None).cast(ARROW_SCHEMA)


def _newest(tables: Sequence[Any]) -> Any:
    """Put tables together: of several rows of an input the latest counts."""
    whole = pa.concat_tables(tables)
    if len(tables) == 1 or not whole.num_rows:
        return whole
    order = np.argsort(whole["catalogued_ns"].to_numpy(), kind="stable")
    inputs = pd.Series(whole["input"].to_pandas().to_numpy()[order])
    return whole.take(pa.array(order[~inputs.duplicated(keep="last").to_numpy()])).combine_chunks()
