"""What keeps a writer from changing what is read, or shows that one did."""

from __future__ import annotations

import importlib
import mmap
import os
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol, runtime_checkable

from tfdarshan.errors import ConfigurationError, DataFileError, reason
from tfdarshan.lmdb.data_path import DataPath
from tfdarshan.notice import say

SnapshotKind = Literal["auto", "transaction", "check"]

# LMDB writes over pages of a snapshot in the third transaction after it at the soonest, which may be under
# way as soon as the newest is two further.
SAFE_COMMITS = 1

_said: set[Path] = set()


@runtime_checkable
class Environment(Protocol):
    """An lmdb.Environment, in which the job has a database open."""

    def path(self) -> str:
        """Return what it was opened by."""

    def flags(self) -> dict[str, Any]:
        """Return how it was opened."""

    def begin(self) -> Any:
        """Return a read transaction."""


class Versioned(Protocol):
    """A file that knows the newest transaction in it."""

    def newest(self) -> int:
        """Return it."""


def py_lmdb() -> ModuleType | None:
    """Return the package py-lmdb, or None where it cannot be imported."""
    try:
        return importlib.import_module("lmdb")
    except ImportError:
        return None


class CheckedTransaction:
    """No transaction: after each read the newest one of the file is held against the snapshot's."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self, file: Versioned, transaction: int) -> None:
        """Return where what was read is of the snapshot.

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
        """Do nothing."""


class HeldTransaction:
    """A read transaction of py-lmdb's: as long as it lasts, no writer uses the snapshot's pages again.

    It is this process's. A forked child is sure of it as long as this process lives and has not closed it;
    from then on it checks as if nothing were held. py-lmdb opens a database once in a process: in an
    environment that the job has opened the transaction ends with that environment, which is left open.
    """

    def __init__(self, module: ModuleType, path: DataPath, shared: Any = None) -> None:
        self._path = path.data
        self._owner = os.getpid()
        self._held = mmap.mmap(-1, 1)  # forked children see it change
        self._refused = module.Error
        environment: Any = _opened(module, path) if shared is None else shared
        self._environment = environment if shared is None else None
        self._transaction = environment.begin()
        self._held[0] = 1

    def check(self, file: Versioned, transaction: int) -> None:
        """Say once that the database grows while it is written to.

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
        """Whether this process holds it until the index is closed."""
        return self._held[0] == 1 and self._owner == os.getpid() and self._environment is not None

    def is_held(self) -> bool:
        """Return whether no writer can change what is read.

        A forked child relies on its parent, but not on the job's environment there: it may be closed unseen.
        """
        if self._environment is not None:
            return self._held[0] == 1 and self._owner in (os.getpid(), os.getppid())
        if self._owner == os.getpid():
            self._look()
        return self._held[0] == 1 and self._owner == os.getpid()

    def _look(self) -> None:
        """Note if the job has closed its environment, which ended the transaction."""
        try:
            self._transaction.id()
        except self._refused:
            self._held[0] = 0

    def close(self) -> None:
        """End the transaction; in a forked child it is left to the process that it is of."""
        if os.getpid() == self._owner:
            self._held[0] = 0
            self._transaction.abort()
            if self._environment is not None:
                self._environment.close()


def _opened(module: ModuleType, path: DataPath) -> Any:
    return module.open(str(path.given), subdir=path.given.is_dir(), readonly=True, create=False)


def take_snapshot(
    path: DataPath, kind: SnapshotKind, shared: Environment | None = None
) -> HeldTransaction | CheckedTransaction:
    """Return the surest kind there is, or the one that is asked for.

    "auto" holds a transaction where py-lmdb is installed and the database has a lock file: without one there
    is no writer that would heed it, and none is made.

    Args:
        path: The database.
        kind: "auto", "transaction" or "check".
        shared: An environment of py-lmdb's in which the transaction is held; None for one of its own.

    Raises:
        ConfigurationError: A transaction was asked for and cannot be held, or there is no such kind.
    """
    if kind not in ("auto", "transaction", "check"):
        raise ConfigurationError(f"snapshot must be 'auto', 'transaction' or 'check', not {kind!r}.")
    module = None if kind == "check" else py_lmdb()
    heeds_locks = path.lock.exists() if shared is None else shared.flags()["lock"]
    if module is not None and (kind == "transaction" or heeds_locks):
        try:
            return HeldTransaction(module, path, shared)
        except _refusals(module) as error:
            if kind == "transaction":
                raise ConfigurationError(
                    f"{path.given}: no transaction can be held: {reason(error).rstrip('.')}. If this job has "
                    "the database open by py-lmdb, give that environment in place of the path."
                ) from error
    elif kind == "transaction":
        raise ConfigurationError("holding a transaction needs py-lmdb: pip install lmdb")
    return CheckedTransaction(path.data)


def _refusals(module: ModuleType) -> Any:
    return (module.Error, OSError)
