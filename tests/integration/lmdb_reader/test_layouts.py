"""Page sizes other than 4 KiB, and values beyond 4 GiB and 12 GB: as py-lmdb reads them."""

import os
import random
import shutil

import pytest

from tests.integration.lmdb_reader import page_surgery
from tests.integration.lmdb_reader.databases import expected, found, py_lmdb, write
from tfdarshan.lmdb import Index


def value_of(number):
    return random.Random(number).randbytes(number * 97 % 20_000)


def read_both(path, name=None):
    """All records as the index gives them; fails if py-lmdb gives others."""
    module = py_lmdb()
    with module.open(str(path), readonly=True, create=False, max_dbs=9) as environment:
        database = environment.open_db(name, create=False)
        with environment.begin(db=database) as transaction:
            right = [(bytes(key), bytes(value)) for key, value in transaction.cursor()]
            assert environment.stat()["psize"] == page_bytes_of(path)
    for access in ("cached", "direct"):
        with Index(path, name, access=access, threads=3) as index:
            assert found(index) == right
            assert index.facts.page_bytes == page_bytes_of(path)
    return right


def page_bytes_of(path):
    with (path / "data.mdb").open("rb") as file:
        return page_surgery.field(file.read(64), page_surgery.META_PAGE_BYTES, "I")


@pytest.mark.parametrize("page_bytes", [8192, 16384, 32768])
def test_other_page_sizes(tmp_path, page_bytes):
    # GIVEN a database of such pages, and a sub-database of duplicates that have pages of their own
    plain = [(b"%06d" % number, value_of(number)) for number in range(400)]
    twice = [(b"k%d" % (number % 3), b"%06d" % number) for number in range(3000)]
    for name, records in ((None, plain), (b"fixed duplicates", twice)):
        write(tmp_path / "db", records, name)
        data = tmp_path / "db" / "data.mdb"
        data.write_bytes(page_surgery.with_page_bytes(data.read_bytes(), page_bytes))

        # WHEN / THEN
        assert read_both(tmp_path / "db", name) == sorted(records)
        shutil.rmtree(tmp_path / "db")


def test_values_far_behind_in_a_sparse_file(tmp_path):
    # GIVEN values about 2 GB apart, up to 12 GB behind the file's begin
    path, data = tmp_path / "db", tmp_path / "db" / "data.mdb"
    plain = [(b"%06d" % number, value_of(number * 100 + 60)) for number in range(6)]
    write(path, plain)
    try:
        moved = page_surgery.move_values_behind(data, (2 << 30) // 4096)
    except OSError as error:
        pytest.skip(f"no file of 12 GB: {error}")
    about = os.stat(data)
    if about.st_blocks * 512 > 1 << 30:
        pytest.skip("this file system has no holes")
    assert moved == 6
    assert about.st_size > 12 << 30

    # WHEN / THEN
    assert read_both(path) == plain
    with Index(path) as index:
        assert index.offsets.tolist() == [(2 << 30) * (number + 1) + 16 for number in range(6)]
        assert index.read([5, 0, 3]).tolist() == [plain[number][1] for number in (5, 0, 3)]
    assert expected(path) == plain
