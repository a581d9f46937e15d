"""What of a file is in the page cache, by two system calls that have to agree."""

import os

import pytest

from tfdarshan.native import residency
from tfdarshan.native.residency import is_resident

SIZE = 1 << 20


@pytest.fixture
def handle(tmp_path):
    """A file of 1 MiB that was just written, and is on storage."""
    with open(tmp_path / "file", "wb+") as file:
        file.write(os.urandom(SIZE))
        file.flush()
        os.fsync(file.fileno())
        yield file.fileno()


def without_cachestat(monkeypatch):
    monkeypatch.setattr(residency, "_pages_by_cachestat", lambda handle, offset, length: None)


def test_what_was_written_is_in_the_page_cache(handle):
    assert is_resident(handle, 0, SIZE) is True
    assert is_resident(handle, SIZE // 2, 4096) is True


def test_a_hole_is_not(handle):
    os.ftruncate(handle, 4 * SIZE)

    assert is_resident(handle, 2 * SIZE, SIZE) is False


@pytest.mark.parametrize("offset", [0, 2 * SIZE])
def test_mincore_says_the_same(handle, monkeypatch, offset):
    os.ftruncate(handle, 4 * SIZE)
    before = is_resident(handle, offset, SIZE)
    without_cachestat(monkeypatch)

    assert is_resident(handle, offset, SIZE) == before == (offset == 0)


def test_what_cachestat_does_not_see_mincore_does(handle, monkeypatch):
    # GIVEN a file of an overlay, as in a container
    monkeypatch.setattr(residency, "_pages_by_cachestat", lambda handle, offset, length: 0)

    assert is_resident(handle, 0, SIZE) is True


def test_asking_brings_nothing_in(handle, monkeypatch):
    # GIVEN a range that nothing has read
    os.ftruncate(handle, 4 * SIZE)
    for _ in range(2):
        assert is_resident(handle, 2 * SIZE, SIZE) is False
        without_cachestat(monkeypatch)


def test_mincore_is_not_asked_about_files_of_others(handle, monkeypatch):
    # GIVEN a kernel without cachestat, and a file that is not ours to write: mincore calls all of it resident
    without_cachestat(monkeypatch)
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    monkeypatch.setattr(os, "access", lambda path, mode: False)

    assert is_resident(handle, 0, SIZE) is None
