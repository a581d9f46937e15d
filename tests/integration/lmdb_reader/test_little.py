"""Databases of so little that comparing would take longer than reading them."""

import os

import numpy as np
import pytest

from tests.integration.lmdb_reader.databases import write
from tfdarshan.lmdb import Index, cached_places, measured_reading
from tfdarshan.lmdb.cached_places import are_cached
from tfdarshan.lmdb.first_look import Answers
from tfdarshan.native.lmdb_file import cached_pages

RECORDS, VALUE_BYTES = 200, 40_000
PAGE = 4096


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(measured_reading, "cached_share", lambda path, offsets: 0.0)
    write(tmp_path / "db", [(b"%06d" % number, os.urandom(VALUE_BYTES)) for number in range(RECORDS)])
    return tmp_path / "db"


@pytest.mark.parametrize(
    ("answers", "in_flight", "takes_turns"),
    [(Answers.SOON, 1, False), (Answers.TOGETHER, 16, False), (Answers.IN_TURN, 1, True)],
)
def test_little_is_read_as_the_look_says(path, monkeypatch, answers, in_flight, takes_turns):
    # GIVEN
    monkeypatch.setattr(measured_reading, "first_look", lambda handle, offsets, is_little: answers)
    with Index(path, snapshot="check") as index:
        # WHEN all of it is read
        index.read(range(RECORDS))

        # THEN nothing was compared
        reading = index.reading
    assert (reading.in_flight, reading.takes_turns) == (in_flight, takes_turns)
    assert (reading.looks, reading.speeds) == (0, {})


def test_more_is_compared(path, monkeypatch):
    # GIVEN the same database, as if it were no little one
    monkeypatch.setattr(measured_reading, "first_look", lambda handle, offsets, is_little: Answers.SOON)
    monkeypatch.setattr(measured_reading, "LITTLE_BYTES", 1 << 20)
    with Index(path, snapshot="check") as index:
        index.read(range(RECORDS))
        assert index.reading.looks > 0


def test_the_page_cache_is_asked_by_the_file_that_is_open(tmp_path, monkeypatch):
    # GIVEN
    write(tmp_path / "db", [(b"%06d" % number, os.urandom(VALUE_BYTES)) for number in range(RECORDS)])
    asked = []

    def share(file, offsets):
        asked.append(file)
        return 1.0

    monkeypatch.setattr(measured_reading, "cached_share", share)
    with Index(tmp_path / "db", snapshot="check") as index:
        # WHEN
        index.read([0])

        # THEN
        assert asked == [index._file.handle]
        assert os.path.samestat(os.fstat(asked[0]), os.stat(tmp_path / "db" / "data.mdb"))


@pytest.fixture
def half(tmp_path):
    """A file of which the page cache has the first half; the rest is a hole."""
    with open(tmp_path / "file", "wb+") as file:
        file.write(os.urandom(64 * PAGE))
        file.flush()
        os.fsync(file.fileno())
        os.ftruncate(file.fileno(), 128 * PAGE)
        yield file.fileno()


def expected(places):
    return [place < 64 * PAGE for place in places]


def test_many_places_are_asked_by_one_call(half, monkeypatch):
    # GIVEN a file whose pages the kernel shows by cachestat
    if not (cached_pages(half, [0], PAGE) or [0])[0]:
        pytest.skip("before Linux 6.5, or in a container, cachestat shows none")
    places = np.arange(0, 128 * PAGE, 4 * PAGE).tolist()
    monkeypatch.setattr(cached_places, "is_resident", lambda *asked: pytest.fail("asked once more"))

    # WHEN / THEN
    assert are_cached(half, places) == expected(places)


def test_each_is_asked_by_itself_where_the_first_page_does_not_show(half, monkeypatch):
    # GIVEN a file of an overlay, as in a container
    places = np.arange(0, 128 * PAGE, 4 * PAGE).tolist()
    monkeypatch.setattr(cached_places, "cached_pages", lambda handle, places, length: [0] * len(places))

    # WHEN / THEN
    assert are_cached(half, places) == expected(places)


def test_where_the_kernel_does_not_say_nobody_does(half, monkeypatch):
    monkeypatch.setattr(cached_places, "cached_pages", lambda handle, places, length: None)
    monkeypatch.setattr(cached_places, "is_resident", lambda handle, place, length: None)

    assert are_cached(half, [0, PAGE]) is None
