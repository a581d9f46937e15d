"""Reads all of an LMDB file once, and says what was found."""

from __future__ import annotations

import os
from dataclasses import dataclass

import xxhash

from tfdarshan.errors import ConfigurationError, DataFileError
from tfdarshan.lmdb.batched_records import Records
from tfdarshan.lmdb.data_path import data_path
from tfdarshan.lmdb.held_snapshot import py_lmdb
from tfdarshan.lmdb.index import Index

BATCH = 256


@dataclass(frozen=True)
class Verified:
    """One database that was read whole.

    Attributes:
        name: None is the main one.
        records: How many there are.
        value_bytes: Of all values.
        digest: xxh3-128 of all keys and values with their sizes, in order, in hexadecimal.
    """

    name: bytes | None
    records: int
    value_bytes: int
    digest: str


def verify(path: str | os.PathLike[str], *, compare: bool = False) -> list[Verified]:
    """Read each database of a file whole.

    Args:
        path: The database's folder or data file.
        compare: Has py-lmdb read it as well, and compares keys and values.

    Raises:
        ConfigurationError: py-lmdb is to compare and is not installed.
        DataFileError: The file is damaged, or py-lmdb reads something else.
        StorageError: It cannot be read.
    """
    with Index(path, snapshot="check") as main:
        names = [None, *main.databases()]
    found = [_verified(path, name) for name in names]
    if compare:
        for one in found:
            other = _digest_of_py_lmdb(path, one.name)
            if other != one.digest:
                raise DataFileError(f"{path}: py-lmdb reads other records of {printable_name(one.name)}.")
    return found


def printable_name(name: bytes | None) -> str:
    """Return a database's name as text."""
    return "the main database" if name is None else f"sub-database {name.decode(errors='backslashreplace')}"


def _verified(path: str | os.PathLike[str], name: bytes | None) -> Verified:
    with Index(path, name, snapshot="check") as index:
        digest, number = xxhash.xxh3_128(), 0
        for batch in Records(index, BATCH):
            for value in batch:
                _add(digest, index.key(number), value)
                number += 1
        return Verified(name, len(index), int(index.sizes.sum(dtype="u8")), digest.hexdigest())


def _digest_of_py_lmdb(path: str | os.PathLike[str], name: bytes | None) -> str:
    module = py_lmdb()
    if module is None:
        raise ConfigurationError("comparing needs py-lmdb: pip install lmdb")
    where, digest = data_path(path), xxhash.xxh3_128()
    options = {"subdir": where.given.is_dir(), "lock": where.lock.exists(), "max_dbs": 1}
    with module.open(str(where.given), readonly=True, create=False, **options) as environment:
        database = environment.open_db(name, create=False)
        with environment.begin(db=database, buffers=True) as transaction:
            for key, value in transaction.cursor(db=database):
                _add(digest, bytes(key), value)
    return digest.hexdigest()


def _add(digest: xxhash.xxh3_128, key: bytes, value: memoryview) -> None:
    digest.update(b"%d %d " % (len(key), len(value)))
    digest.update(key)
    digest.update(value)
