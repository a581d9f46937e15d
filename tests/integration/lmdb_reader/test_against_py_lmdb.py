"""Whatever py-lmdb writes, the index reads byte by byte as py-lmdb does."""

import random
import shutil

import hypothesis
import pytest
from hypothesis import strategies as st

from tests.integration.lmdb_reader.databases import (
    KINDS,
    REVERSE_DUPLICATES,
    REVERSEDUP,
    expected,
    found,
    make_reverse_duplicates,
    opened,
    py_lmdb,
    write,
)
from tfdarshan.lmdb import Index

VALUE_BYTES = (0, 1, 100, 1000, 2030, 2040, 4080, 4081, 9000, 70_000)
# A draw is small, so that hypothesis shrinks it; dice that it seeds make the bytes.
DRAWN = st.tuples(
    st.sampled_from(list(KINDS)),
    st.integers(0, 1500),  # records put
    st.sampled_from((3, 20, 511)),  # the longest key
    st.integers(1, 400),  # how many distinct keys there can be
    st.floats(0, 1),  # of them deleted again
    st.integers(0, 2**32),
)


def a_key(kind, dice, most, distinct):
    one = random.Random(dice.randrange(distinct))
    if "integerkey" in kind:
        return one.randrange(1 << 40).to_bytes(8, "little")
    return one.randbytes(one.randint(1, most))


def a_value(kind, dice):
    if "integerdup" in kind:
        return dice.randrange(1 << 30).to_bytes(8, "little")
    if "dupfixed" in kind:
        return dice.randbytes(12)
    if "dupsort" in kind:
        return dice.randbytes(dice.randint(1, 511))
    return dice.randbytes(dice.choice(VALUE_BYTES) if dice.random() < 0.2 else dice.randint(0, 300))


def make(path, drawn):
    """Write each database that was drawn, in transactions of its own; deletes some of its keys."""
    if any(name == REVERSE_DUPLICATES for name, *_ in drawn):
        make_reverse_duplicates(path)
    with opened(path) as environment:
        for name, records, most, distinct, deleted, seed in drawn:
            dice, kind = random.Random(seed), KINDS[name]
            database = environment.open_db(name, **kind)
            with environment.begin(write=True, db=database) as transaction:
                for _ in range(records):
                    transaction.put(a_key(kind, dice, most, distinct), a_value(kind, dice))
            with environment.begin(write=True, db=database) as transaction:
                keys = sorted({bytes(key) for key, _ in transaction.cursor()} - set(KINDS))
                for key in dice.sample(keys, int(len(keys) * deleted)):
                    transaction.delete(key)


def check(path, drawn):
    shutil.rmtree(path, ignore_errors=True)
    make(path, drawn)
    for name in {None} | {one[0] for one in drawn}:
        right = expected(path, name)
        with Index(path, name, threads=3) as index:
            assert found(index) == right
            backwards = range(len(index))[::-1]
            assert index.read(backwards).tolist() == [value for _, value in right][::-1]


def settings(examples):
    checks = [hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow]
    return hypothesis.settings(max_examples=examples, suppress_health_check=checks)


@settings(15)
@hypothesis.given(st.lists(DRAWN, min_size=1, max_size=4))
def test_databases_are_read_as_py_lmdb_reads_them(tmp_path, drawn):
    py_lmdb()
    check(tmp_path / "db", drawn)


@pytest.mark.long
@settings(500)
@hypothesis.given(st.lists(DRAWN, min_size=1, max_size=6))
def test_many_databases_are_read_as_py_lmdb_reads_them(tmp_path, drawn):
    py_lmdb()
    check(tmp_path / "db", drawn)


def test_duplicates_compared_from_their_ends(tmp_path):
    # GIVEN
    (tmp_path / "db").mkdir()
    make_reverse_duplicates(tmp_path / "db")
    values = [b"az", b"ba", b"c", b"aaz", b"zz", b"b" * 400, b"ca"]
    write(tmp_path / "db", [(b"k", value) for value in values], REVERSE_DUPLICATES)

    # WHEN
    with Index(tmp_path / "db", REVERSE_DUPLICATES) as index:
        given = [value for _, value in found(index)]

        # THEN they are in that order, as py-lmdb has them
        assert index.facts.flags & REVERSEDUP
    assert given == [value for _, value in expected(tmp_path / "db", REVERSE_DUPLICATES)]
    assert sorted(given) == sorted(values)
    assert given != sorted(values)
