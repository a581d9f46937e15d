"""Databases that py-lmdb writes, and what it reads of them."""

import pytest

# The sub-databases, and what open_db() is told of each.
KINDS = {
    None: {},
    b"plain database": {},
    b"reverse keys": {"reverse_key": True},
    b"integer keys": {"integerkey": True},
    b"duplicates": {"dupsort": True},
    b"fixed duplicates": {"dupsort": True, "dupfixed": True},
    b"integer duplicates": {"dupsort": True, "dupfixed": True, "integerdup": True},
}
MAP_BYTES = 1 << 28


def py_lmdb():
    """py-lmdb, or the test is skipped."""
    return pytest.importorskip("lmdb", reason="py-lmdb is not installed")


def opened(path, **options):
    return py_lmdb().open(str(path), map_size=MAP_BYTES, max_dbs=len(KINDS), sync=False, **options)


def write(path, records, db=None, **options):
    """Writes a database of (key, value)s."""
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
