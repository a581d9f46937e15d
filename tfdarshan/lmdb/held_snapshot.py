"""What keeps a writer from changing what is read, or shows that one did."""

from __future__ import annotations

import importlib
import mmap
import os
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol

from tfdarshan.errors import ConfigurationError, DataFileError, reason
from tfdarshan.lmdb.data_path import DataPath
from tfdarshan.notice import say

SnapshotKind = Literal["auto", "transaction", "check"]

# LMDB writes over pages of a snapshot in the third transaction after it at the soonest, which may be under
# way as soon as the newest is two further.
SAFE_COMMITS = 1

_said: set[Path] = set()


class Versioned(Protocol):
    """A file that knows the newest transaction in it."""

    def newest(self) -> int:
        """Gives it."""


def py_lmdb() -> ModuleType | None:
    """Gives the package py-lmdb, or None where it cannot be imported."""
    try:
        return importlib.import_module("lmdb")
    except ImportError:
        return None


class CheckedTransaction:
    """No transaction: after each read the newest one of the file is held against the snapshot's."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self, file: Versioned, transaction: int) -> None:
        """Returns where what was read is of the snapshot.

        Raises:
            DataFileError: A writer may have changed it meanwhile.
        """
        newest = file.newest()
        if newest > transaction + SAFE_COMMITS:
            raise DataFileError(
                f"{self._path} was written to while it was read: transaction {newest:,} is in it, and what "
                f"was read is of {transaction:,}. Open the index again, or install py-lmdb, which can hold a "
                "transaction (pip install lmdb)."
            )

    def close(self) -> None:
        """Does nothing."""


class HeldTransaction:
    """A read transaction of py-lmdb's: as long as it lasts, no writer uses the snapshot's pages again.

    It is this process's. A forked child is sure of it as long as this process lives and has not closed it;
    from then on it checks as if nothing were held.
    """

    def __init__(self, module: ModuleType, path: DataPath) -> None:
        self._path = path.data
        self._owner = os.getpid()
        self._held = mmap.mmap(-1, 1)  # forked children see it change
        self._environment = module.open(
            str(path.given), subdir=path.given.is_dir(), readonly=True, create=False
        )
        self._transaction = self._environment.begin()
        self._held[0] = 1

    def check(self, file: Versioned, transaction: int) -> None:
        """Says once that the database grows while it is written to.

        Raises:
            DataFileError: The process that held the transaction has let it go, and a writer may have changed
                what was read.
        """
        if not self.is_held():
            CheckedTransaction(self._path).check(file, transaction)
        elif self._path not in _said and file.newest() > transaction:
            _said.add(self._path)
            say(
                f"{self._path} is being written to, and grows as long as this index of it is open: "
                "pages that were freed since are not used again. Close the index when it is read."
            )

    @property
    def is_mine(self) -> bool:
        """Whether this process holds it."""
        return self._held[0] == 1 and self._owner == os.getpid()

    def is_held(self) -> bool:
        """Says whether no writer can change what is read; a forked child relies on its parent."""
        return self._held[0] == 1 and self._owner in (os.getpid(), os.getppid())

    def close(self) -> None:
        """Ends the transaction; in a forked child it is left to the process that it is of."""
        if os.getpid() == self._owner:
            self._held[0] = 0
            self._transaction.abort()
            self._environment.close()


def take_snapshot(path: DataPath, kind: SnapshotKind) -> HeldTransaction | CheckedTransaction:
    """Gives the surest kind there is, or the one that is asked for.

    "auto" holds a transaction where py-lmdb is installed and the database has a lock file: without one there
    is no writer that would heed it, and none is made.

    Raises:
        ConfigurationError: A transaction was asked for and cannot be held, or there is no such kind.
    """
    if kind not in ("auto", "transaction", "check"):
        raise ConfigurationError(f"a snapshot is 'auto', 'transaction' or 'check', not {kind!r}.")
    module = None if kind == "check" else py_lmdb()
    if module is not None and (kind == "transaction" or path.lock.exists()):
        try:
            return HeldTransaction(module, path)
        except _refusals(module) as error:
            if kind == "transaction":
                raise ConfigurationError(
                    f"{path.given}: no transaction can be held: {reason(error)}."
                ) from error
    elif kind == "transaction":
        raise ConfigurationError("holding a transaction needs py-lmdb: pip install lmdb")
    return CheckedTransaction(path.data)


def _refusals(module: ModuleType) -> Any:
    return (module.Error, OSError)
