"""The same through py-lmdb, for formats that are not read here: LMDB 1.0's, and encrypted ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfdarshan.errors import ConfigurationError, DataFileError, reason
from tfdarshan.lmdb.data_path import DataPath
from tfdarshan.native.lmdb_file import RECORD, LmdbFacts

FLAGS = {"reverse_key": 2, "dupsort": 4, "integerkey": 8, "dupfixed": 16, "integerdup": 32}


class PyLmdbFile:
    """A database that py-lmdb reads, within one read transaction.

    Offsets are 0: where values lie is not known.
    """

    reads_direct = False

    def __init__(
        self,
        module: ModuleType,
        path: DataPath,
        name: bytes | None,
        options: Mapping[str, Any],
        shared: Any = None,
    ) -> None:
        """Open it, or take what the job has open, and find its records: py-lmdb touches each value.

        Raises:
            ConfigurationError: There is no such sub-database.
            DataFileError: py-lmdb cannot read it.
        """
        self._path = path
        # Where there is no lock file, none is made.
        given = {
            "subdir": path.given.is_dir(), "readonly": True, "create": False, "max_dbs": 1,
            "lock": path.lock.exists(),
        } | dict(options)  # fmt: skip
        try:
            self._environment = module.open(str(path.given), **given) if shared is None else shared
            # Opened before the transaction, which would not see it otherwise.
            self._database = self._environment.open_db(name, create=False)
            self._transaction = self._environment.begin(db=self._database)
            self._find_records()
        except module.NotFoundError as error:
            raise ConfigurationError(f"{path.data} has no sub-database of this name.") from error
        except (module.Error, OSError) as error:
            raise DataFileError(f"{path.data} cannot be read by py-lmdb: {reason(error)}.") from error

    def _find_records(self) -> None:
        keys, rows, ordinals = bytearray(), [], []
        last, ordinal = None, 0
        for key, value in self._transaction.cursor(db=self._database):
            if key == last:
                ordinal += 1
            else:
                last, ordinal, at = key, 0, len(keys)
                keys += key
            rows.append((0, at, len(value), len(key), 0))
            ordinals.append(ordinal)
        self._keys, self._records, self._ordinals = bytes(keys), np.array(rows, RECORD), ordinals

    def facts(self) -> LmdbFacts:
        """Return what py-lmdb says of the database."""
        about, environment = self._transaction.stat(self._database), self._environment.info()
        flags = self._database.flags(self._transaction)
        return LmdbFacts(
            file_bytes=self._path.data.stat().st_size,
            page_bytes=about["psize"],
            map_bytes=environment["map_size"],
            last_page=environment["last_pgno"],
            transaction=self._transaction.id(),
            entries=about["entries"],
            branch_pages=about["branch_pages"],
            leaf_pages=about["leaf_pages"],
            overflow_pages=about["overflow_pages"],
            depth=about["depth"],
            flags=sum(bit for name, bit in FLAGS.items() if flags.get(name)),
        )

    def records(self) -> NDArray[Any]:
        """Return the records in the order of keys."""
        return self._records

    def keys(self) -> memoryview:
        """Return the bytes of all keys."""
        return memoryview(self._keys)

    def newest(self) -> int:
        """Return the newest transaction that is in the file now."""
        return int(self._environment.info()["last_txnid"])

    def read(
        self,
        numbers: NDArray[np.uint64],
        places: NDArray[np.uint64],
        to: NDArray[np.uint8],
        threads: int,
        *,
        cached: bool = False,
    ) -> None:
        """Read values one by one: py-lmdb has nothing for several threads to do."""
        del threads, cached
        cursor = self._transaction.cursor(db=self._database)
        for number, at in zip(numbers.tolist(), places.tolist(), strict=True):
            row = self._records[number]
            key = int(row["key"])
            cursor.set_key(self._keys[key : key + int(row["key_size"])])
            for _ in range(self._ordinals[number]):
                cursor.next_dup()
            value = cursor.value()
            to[at : at + len(value)] = np.frombuffer(value, np.uint8)
