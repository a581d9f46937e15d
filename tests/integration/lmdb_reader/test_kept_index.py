"""Records that were found once and kept: taken again only for the very same database."""

import os

import pytest

from tests.integration.lmdb_reader.databases import expected, found, write
from tfdarshan.lmdb import Index, kept_index
from tfdarshan.native.lmdb_file import LmdbFile

RECORDS = [(b"%06d" % number, b"%d." % number * (number % 40)) for number in range(3000)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kept_index, "LEAST_LEAF_BYTES", 4096)
    return tmp_path / "cache" / "tfdarshan" / "lmdb"


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "db", RECORDS)
    write(tmp_path / "db", [(b"k%d" % (n % 7), b"%05d" % n) for n in range(2000)], b"duplicates")
    return tmp_path / "db"


@pytest.fixture
def walks(monkeypatch):
    """The databases that were walked."""
    walked: list[bytes | None] = []
    walk = LmdbFile.index

    def noted(file, name, threads):
        walked.append(name)
        walk(file, name, threads)

    monkeypatch.setattr(LmdbFile, "index", noted)
    return walked


def opened(path, name=None, **options):
    with Index(path, name, **options) as index:
        return found(index), index.facts


@pytest.mark.parametrize("name", [None, b"duplicates"])
def test_the_second_opening_walks_no_page(path, walks, name):
    first, again = opened(path, name), opened(path, name)
    assert walks == [name]
    assert first == again
    assert again[0] == expected(path, name)


def test_what_was_written_since_is_found(path, walks):
    opened(path)
    about = os.stat(path / "data.mdb")
    write(path, [(b"new", b"value")])
    # GIVEN that the time of the file tells nothing: a writer through a mapping leaves it
    os.utime(path / "data.mdb", ns=(about.st_atime_ns, about.st_mtime_ns))

    assert (b"new", b"value") in opened(path)[0]
    assert walks == [None, None]


def test_another_file_under_the_name_is_found(path, walks):
    opened(path)
    (path / "data.mdb").rename(path / "other")
    (path / "data.mdb").write_bytes((path / "other").read_bytes())
    opened(path)
    assert walks == [None, None]


@pytest.mark.parametrize("damage", ["changed", "cut", "empty", "folder"])
def test_what_was_kept_and_is_damaged_is_not_used(path, walks, cache, damage):
    right = opened(path)
    (kept,) = cache.iterdir()
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 1
    kept.unlink()
    if damage == "folder":
        kept.mkdir()
    else:
        kept.write_bytes({"changed": content, "cut": content[:-9], "empty": b""}[damage])

    assert opened(path) == right
    assert walks == [None, None]


def test_records_that_leave_the_file_are_refused(path):
    from tfdarshan.errors import DataFileError

    file = LmdbFile(str(path / "data.mdb"))
    file.index(None, 1)
    records, keys, facts = file.records().copy(), file.keys(), file.facts()
    import numpy as np

    for field, value in (("offset", 1 << 40), ("offset", 0), ("size", 1 << 31), ("key", 1 << 50)):
        wrong = records.copy()
        wrong[7][field] = value
        with pytest.raises(DataFileError, match="does not hold record 7"):
            file.restore(wrong, np.frombuffer(keys, np.uint8), facts)
    file.restore(records, np.frombuffer(keys, np.uint8), facts)
    assert file.records().tobytes() == records.tobytes()


def test_only_what_reads_much_is_kept_and_the_oldest_goes(path, cache, monkeypatch):
    # GIVEN
    with monkeypatch.context() as change:
        change.setattr(kept_index, "LEAST_LEAF_BYTES", 1 << 30)
        opened(path)
        assert not cache.exists()
    opened(path, keep=False)
    assert not cache.exists()

    # WHEN there is room for one
    monkeypatch.setattr(kept_index, "MOST_BYTES", 1)
    opened(path)
    opened(path, b"duplicates")

    # THEN
    assert len(list(cache.iterdir())) == 1


def test_a_cache_that_cannot_be_written_does_no_harm(path, cache, walks):
    cache.parent.mkdir(parents=True)
    cache.write_text("no folder")
    assert opened(path) == opened(path)
    assert walks == [None, None]
