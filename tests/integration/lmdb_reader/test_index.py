"""The index of a database: records, orders, snapshots beside a writer, forks, and what it refuses."""

import itertools
import os
import pickle
import random
import struct
from typing import Any

import numpy as np
import pytest

from tests.integration.lmdb_reader.databases import expected, found, opened, py_lmdb, write
from tfdarshan.errors import ConfigurationError, DataFileError, StorageError, TfdarshanError
from tfdarshan.lmdb import Index

KEY = b"%06d"


def value_of(number, round_=0):
    return random.Random(number * 1000 + round_).randbytes(number * 37 % 9000)


def records(count, round_=0):
    return [(KEY % number, value_of(number, round_)) for number in range(count)]


@pytest.fixture
def path(tmp_path):
    """A database of 700 records, of which some have pages of their own and some none."""
    write(tmp_path / "db", records(700))
    return tmp_path / "db"


def test_values_come_in_the_order_asked_for_also_twice(path):
    # GIVEN
    numbers = [5, 699, 5, 0, 300]

    # WHEN
    with Index(path) as index:
        batch = index.read(numbers)

    # THEN
    assert batch.tolist() == [value_of(number) for number in numbers]
    assert [bytes(value) for value in batch] == batch.tolist()
    assert batch.offsets[-1] == len(batch.buffer) == sum(len(value_of(number)) for number in numbers)
    assert bytes(batch[-1]) == value_of(300)


@pytest.mark.parametrize("batch", [1, 3, 7, 200, 1 << 40])
def test_batches_of_one_read_begin_where_frameworks_take_them_without_a_copy(path, batch):
    numbers = random.Random(batch).choices(range(700), k=199)

    with Index(path) as index:
        batches = index.read_batches(numbers, batch)

    assert [value for one in batches for value in one.tolist()] == [value_of(number) for number in numbers]
    assert [len(one) for one in batches[:-1]] == [batch] * ((199 - 1) // batch)
    assert all(one.buffer.ctypes.data % 64 == 0 for one in batches if len(one.buffer))
    assert [int(number) for one in batches for number in one.numbers] == numbers


@pytest.mark.parametrize("access", ["cached", "direct"])
@pytest.mark.parametrize("threads", [1, 5])
def test_each_way_of_reading_gives_the_same(path, access, threads):
    with Index(path, access=access, threads=threads) as index:
        assert found(index) == records(700)


def test_offsets_are_where_the_file_has_the_values(path):
    # GIVEN the file's bytes
    content = (path / "data.mdb").read_bytes()

    # WHEN
    with Index(path) as index:
        places = list(zip(index.offsets.tolist(), index.sizes.tolist(), strict=True))
        in_pages = index.in_pages.tolist()

    # THEN
    assert [content[at : at + size] for at, size in places] == [value for _, value in records(700)]
    assert in_pages == [at % 4096 == 16 and size > 0 for at, size in places]
    assert 0 < sum(in_pages) < 700


def test_a_value_of_many_megabytes_is_read_in_parts(tmp_path):
    # GIVEN a value that is read by several calls, between others
    large = random.Random(1).randbytes(13 << 20)
    write(tmp_path / "db", [(b"a", b"before"), (b"b", large), (b"c", b"after")])

    # WHEN / THEN
    with Index(tmp_path / "db") as index:
        assert index.read([0, 1, 2]).tolist() == [b"before", large, b"after"]


def test_a_database_without_a_folder(tmp_path):
    write(tmp_path / "one.lmdb", records(20), subdir=False)

    with Index(tmp_path / "one.lmdb") as index:
        assert index.holds_transaction
        assert found(index) == records(20)


@pytest.mark.parametrize("shuffle", [None, "blocks", "exact"])
def test_shards_have_each_record_once_in_any_order(path, shuffle):
    with Index(path) as index:
        shards = [index.order(shard=(which, 3), shuffle=shuffle, seed=7) for which in range(3)]
        again = index.order(shard=(1, 3), shuffle=shuffle, seed=7)
        other = index.order(shard=(1, 3), shuffle=shuffle, seed=8)

    assert sorted(np.concatenate(shards).tolist()) == list(range(700))
    assert again.tolist() == shards[1].tolist()
    assert (other.tolist() == again.tolist()) == (shuffle is None)


def test_blocks_keep_neighbours_together(tmp_path):
    # GIVEN 32 records of 1 MiB
    write(tmp_path / "db", [(KEY % number, bytes(1 << 20)) for number in range(32)])

    # WHEN
    with Index(tmp_path / "db") as index:
        order = index.order(shuffle="blocks", seed=3).tolist()

    # THEN each block's records come one after the other, and blocks in another order
    blocks = [number for place, number in enumerate(n // 4 for n in sorted(order))]
    assert sorted(order) == list(range(32))
    assert blocks == sorted(blocks)
    jumps = sum(abs(one - other) > 8 for one, other in itertools.pairwise(order))
    assert 0 < jumps < 12


def in_child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def test_a_forked_child_reads_and_a_copy_opens_the_file_anew(path):
    with Index(path) as index:
        in_child(lambda: (found(index) == records(700)) or os._exit(1))
        # py-lmdb opens a database once in a process: the copy checks instead.
        with pickle.loads(pickle.dumps(index)) as copy:
            assert not copy.holds_transaction
            assert found(copy) == records(700)


def test_where_there_is_no_lock_file_none_is_made(path):
    (path / "lock.mdb").unlink()

    with Index(path) as index:
        assert found(index) == records(700)
        assert not index.holds_transaction
    assert os.listdir(path) == ["data.mdb"]


def test_arrays_outlive_the_index(path):
    with Index(path) as index:
        sizes, key = index.sizes, index.key(3)
    assert sizes.tolist() == [len(value) for _, value in records(700)]
    assert key == KEY % 3
    with pytest.raises(ConfigurationError, match="is closed"):
        index.read([0])


def test_wrong_use_is_one_sentence(path):
    with Index(path) as index:
        for numbers in ([700], [-1], [[1]], [0.5]):
            with pytest.raises(ConfigurationError):
                index.read(np.array(numbers))
        assert index.read([]).tolist() == []
        options: dict[str, Any]
        for options in ({"shard": (3, 3)}, {"shard": (0, 0)}, {"shuffle": "some"}):
            with pytest.raises(ConfigurationError):
                index.order(**options)
    for options in ({"threads": 0}, {"access": "fast"}, {"snapshot": "no"}, {"db": "not there"}):
        with pytest.raises(ConfigurationError):
            Index(path, **options)
    with pytest.raises(StorageError, match="No such file"):
        Index(path / "not there")


def test_another_format_is_named(tmp_path):
    # GIVEN data files that are none, and those of other machines
    magic = 0xBEEFC0DE
    head = bytes(8) + struct.pack("<HHI", 0, 8, 0)
    files = {
        "is not an LMDB data file": bytes(5000),
        "it has 0 bytes": b"",
        "a 32-bit machine": head[4:] + struct.pack("<I", magic) + bytes(8192),
        "a big-endian machine": head + struct.pack(">I", magic) + bytes(8192),
        "has data version 999": head + struct.pack("<II", magic, 999) + bytes(8192),
    }
    for said, content in files.items():
        # WHEN / THEN
        (tmp_path / "x.mdb").write_bytes(content)
        with pytest.raises(DataFileError, match=said):
            Index(tmp_path / "x.mdb")


def test_lmdb_1_is_read_by_py_lmdb_which_is_said_once(tmp_path, capfd):
    # GIVEN a database of LMDB 1.0's format
    try:
        write(tmp_path / "db", records(60), lib_version=1)
        write(tmp_path / "db", [(b"k", b"1"), (b"k", b"2"), (b"l", b"3")], b"duplicates")
    except (TypeError, py_lmdb().Error) as error:
        pytest.skip(f"this py-lmdb does not write LMDB 1.0's format: {error}")

    # WHEN
    for _ in range(2):
        with Index(tmp_path / "db") as index:
            assert index.reads_by_py_lmdb
            right = records(60)
            assert found(index)[: len(right)] == right
        with Index(tmp_path / "db", "duplicates") as index:
            assert index.read([2, 1, 0]).tolist() == [b"3", b"2", b"1"]

    # THEN
    assert capfd.readouterr().err.count("is read by py-lmdb") == 1


def test_an_encrypted_database_is_one_sentence(tmp_path, monkeypatch):
    # GIVEN a file of LMDB 1.0's format, and a py-lmdb that says of it what its engine does; it takes no key
    (tmp_path / "x.mdb").write_bytes(bytes(24) + struct.pack("<II", 0xBEEFC0DE, 3) + bytes(8192))
    module = py_lmdb()
    encrypted = getattr(module, "EnvEncryptionError", module.Error)

    def refuse(*_, **options):
        assert options["key"] == b"secret"
        raise encrypted("MDB_ENV_ENCRYPTION: Environment encryption mismatch")

    monkeypatch.setattr(module, "open", refuse)

    # WHEN / THEN
    with pytest.raises(DataFileError, match=r"LMDB 1\.0") as raised:
        Index(tmp_path / "x.mdb", py_lmdb_options={"key": b"secret"})
    assert "cannot be read by py-lmdb: MDB_ENV_ENCRYPTION: Environment encryption mismatch" in str(
        raised.value
    )
    assert "\n" not in str(raised.value)


def test_damage_is_a_sentence_or_goes_unnoticed_but_never_more(tmp_path):
    # GIVEN a database with all kinds of nodes, and dice
    path = tmp_path / "db"
    write(path, records(60))
    write(path, [(b"k%d" % (n % 3), b"%d" % n) for n in range(400)], b"duplicates")
    whole = (path / "data.mdb").read_bytes()
    dice = random.Random(4)
    (path / "lock.mdb").unlink()
    told = []

    # WHEN it is damaged at random, most of it where pages begin
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            page = dice.randrange(len(whole) // 4096) * 4096
            damaged[page + dice.randrange(dice.choice((32, 200, 4096)))] = dice.randrange(256)
        (path / "data.mdb").write_bytes(
            damaged[: dice.choice((len(whole), len(whole), dice.randrange(9000)))]
        )

        # THEN it is read, or it is an error of ours
        for name in (None, "duplicates"):
            try:
                with Index(path, name, threads=2) as index:
                    found(index)
            except TfdarshanError as error:
                told.append(str(error))
    assert 100 < len(told) < 800
    assert all(str(path) in sentence for sentence in told)


def test_expected_is_what_py_lmdb_reads(path):
    assert expected(path) == records(700)
    with opened(path, readonly=True) as environment:
        assert environment.stat()["entries"] == 700
