"""Databases that py-lmdb writes, and what it reads of them."""

import pytest

from tfdarshan.lmdb import Index

# The sub-databases, and what open_db() is told of each.
KINDS = {
    None: {},
    b"plain database": {},
    b"reverse keys": {"reverse_key": True},
    b"integer keys": {"integerkey": True},
    b"duplicates": {"dupsort": True},
    b"integer keys with duplicates": {"integerkey": True, "dupsort": True},
    b"fixed duplicates": {"dupsort": True, "dupfixed": True},
    b"integer duplicates": {"dupsort": True, "dupfixed": True, "integerdup": True},
}
# py-lmdb cannot ask for MDB_REVERSEDUP, but heeds it where a database has it.
REVERSE_DUPLICATES = b"reverse duplicates"
KINDS[REVERSE_DUPLICATES] = {"dupsort": True}
REVERSEDUP = 64
MAP_BYTES = 1 << 28


def py_lmdb():
    """py-lmdb, or the test is skipped."""
    return pytest.importorskip("lmdb", reason="py-lmdb is not installed")


def opened(path, **options):
    return py_lmdb().open(str(path), map_size=MAP_BYTES, max_dbs=len(KINDS), sync=False, **options)


def write(path, records, db=None, **options):
    """Write a database of (key, value)s."""
    with opened(path, **options) as environment:
        database = environment.open_db(db, **KINDS.get(db, {}))
        with environment.begin(write=True, db=database) as transaction:
            for key, value in records:
                transaction.put(key, value)


def expected(path, db=None, **options):
    """All records as py-lmdb's cursor gives them."""
    with opened(path, readonly=True, create=False, **options) as environment:
        database = environment.open_db(db, create=False)
        with environment.begin(db=database) as transaction:
            return [(bytes(key), bytes(value)) for key, value in transaction.cursor()]


def found(index):
    """All records as an index gives them."""
    return list(zip(index.keys(), index.read(range(len(index))).tolist(), strict=True))


def make_reverse_duplicates(path):
    """Make a sub-database whose duplicates are compared from their ends: py-lmdb writes and reads it so."""
    with opened(path) as environment:
        environment.open_db(REVERSE_DUPLICATES, **KINDS[REVERSE_DUPLICATES])
    with Index(path, snapshot="check") as index:
        at = int(index.offsets[index.keys().index(REVERSE_DUPLICATES)]) + 4
    with (path / "data.mdb").open("r+b") as file:
        file.seek(at)
        flags = int.from_bytes(file.read(2), "little")
        file.seek(at)
        file.write((flags | REVERSEDUP).to_bytes(2, "little"))
