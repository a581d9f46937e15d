"""A few pages tell a disk that seeks from storage that answers late: made-up storage, made-up time."""

import os
import random

import numpy as np
import pytest

from tests.unit.lmdb_reading.simulated_storage import GIB, MOST, READ_BYTES, late, read_all, seeking
from tfdarshan.lmdb import first_look as first_look_module
from tfdarshan.lmdb.depth_search import DepthSearch
from tfdarshan.lmdb.first_look import LEAST_PLACES, PLACES, Answers, first_look, judge
from tfdarshan.native.residency import PAGE

PLACES_ASKED = [number << 20 for number in range(PLACES)]


def answers(kind, *, stalls=()):
    """Return when reads asked for at once have come, from a storage of that kind to a machine that stalls."""
    stall_s, head = iter(stalls), [None]

    def read_s(places):
        device_s = reader_s = 0.0
        come = []
        for place in places:
            jumps, head[0] = place != head[0], place + PAGE
            alone_s = {"late": 3e-3, "ssd": 1e-4}.get(kind, 8e-3 * jumps + 1e-4)
            device_s = device_s + alone_s if kind == "disk" else alone_s
            reader_s = max(reader_s, device_s) + next(stall_s, 0)
            come.append(reader_s)
        return come

    return read_s


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("late", Answers.TOGETHER),
        ("disk", Answers.IN_TURN),
        ("raid", Answers.TOGETHER),
        ("ssd", Answers.SOON),
    ],
)
def test_a_storage_is_known_by_how_it_answers(kind, found):
    assert judge(PLACES_ASKED, answers(kind)) is found


@pytest.mark.parametrize(
    "stalls",
    [(0.02,), (0, 0.02), (0.02, 0.02, 0.02), (0.02, 0, 0.02, 0.02), (0.02, 0, 0, 0.02, 0, 0, 0.02)],
)
def test_no_stall_of_the_machine_makes_late_storage_a_disk(stalls):
    assert judge(PLACES_ASKED, answers("late", stalls=stalls)) is not Answers.IN_TURN


@pytest.mark.parametrize("kind", ["late", "disk"])
@pytest.mark.parametrize("places", range(LEAST_PLACES, PLACES + 1))
def test_it_is_known_by_few_places(kind, places):
    found = judge(PLACES_ASKED[:places], answers(kind))
    assert found is {"late": Answers.TOGETHER, "disk": Answers.IN_TURN}[kind]


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("kind", ["late", "disk"])
def test_a_busy_machine_does_not_mislead_it(kind, seed):
    # GIVEN reads that come up to three times as late, each otherwise
    dice, read_s = random.Random(seed), answers(kind)

    def busy_s(places):
        return [lasts_s * dice.uniform(1, 3) for lasts_s in read_s(places)]

    # WHEN / THEN
    assert judge(PLACES_ASKED, busy_s) is {"late": Answers.TOGETHER, "disk": Answers.IN_TURN}[kind]


@pytest.mark.parametrize("stalls", [(0.02,), (0, 0.02), (0.02, 0, 0.02, 0.02, 0, 0.02)])
def test_no_stall_makes_a_disk_of_what_answers_soon(stalls):
    assert judge(PLACES_ASKED, answers("ssd", stalls=stalls)) is Answers.SOON


def test_nothing_harms_what_answers_soon():
    # GIVEN a look that found no head, and a machine so busy that more in flight seem to harm
    search = DepthSearch(MOST)
    search.answers_soon = True
    # WHEN
    read_all(search, seeking(0), READ_BYTES)
    # THEN readers do not wait for each other
    assert (search.depth, search.harmed) == (1, False)


@pytest.mark.parametrize(
    "stalls", [(0.01,), (0, 0.02), (0, 0.02, 0.02), (0, 0, 0.02, 0, 0.02), (0, 0, 0, 0.02, 0, 0, 0.02)]
)
def test_no_stall_of_the_machine_makes_a_disk_late_storage(stalls):
    assert judge(PLACES_ASKED, answers("disk", stalls=stalls)) is Answers.IN_TURN


def test_what_the_page_cache_has_tells_nothing(tmp_path):
    # GIVEN a file that was just written
    path = tmp_path / "cached"
    path.write_bytes(os.urandom(8 << 20))
    places = np.arange(0, 8 << 20, 128 << 10, dtype=np.uint64)
    # WHEN / THEN
    with path.open("rb") as file:
        assert first_look(file.fileno(), places) is None
        assert first_look(file.fileno(), places[:0]) is None


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Places of a file, none of which the page cache is said to have; and what a look reads of them."""
    path, places = tmp_path / "file", np.arange(0, 64 << 20, 1 << 20, dtype=np.uint64)
    path.touch()
    read, found = [], []

    def look(kind, count, *, is_little=False):
        storage = answers(kind)

        def timed(handle, chosen):
            read.extend(chosen)
            return storage(chosen)

        monkeypatch.setattr(
            first_look_module, "are_cached", lambda handle, pages, length: [False] * len(pages)
        )
        monkeypatch.setattr(first_look_module, "timed_reads", timed)
        with path.open("rb") as file:
            found.append(first_look(file.fileno(), places[:count], is_little=is_little))
        return found[-1], read

    return look


@pytest.mark.parametrize(
    ("kind", "found", "reads"),
    [("late", Answers.TOGETHER, 4), ("disk", Answers.IN_TURN, 6), ("ssd", Answers.SOON, 1)],
)
def test_a_look_at_little_is_short_and_ends_where_reading_begins(asked, kind, found, reads):
    answer, read = asked(kind, 20, is_little=True)

    assert (answer, len(read)) == (found, reads)
    if kind == "disk":
        assert read[-1] == 0
        read.clear()
        assert (asked(kind, 20)[0], len(read) > 2 * reads) == (found, True)


@pytest.mark.parametrize(("kind", "found"), [("late", None), ("disk", None), ("ssd", Answers.SOON)])
def test_one_place_says_no_more_than_whether_it_answers_soon(asked, kind, found):
    assert asked(kind, 1) == (found, [0])


def test_what_is_expected_of_late_storage_is_found_sooner():
    # GIVEN little to read, as one of several readers of a small data set has
    total = 24 << 20
    expecting = DepthSearch(MOST)
    expecting.expect()
    # WHEN / THEN
    assert read_all(expecting, late(), total) < read_all(DepthSearch(MOST), late(), total)
    assert expecting.depth == MOST


def test_a_look_that_took_a_disk_for_late_storage_is_put_right():
    search = DepthSearch(MOST)
    search.expect()
    read_all(search, seeking(0), READ_BYTES)
    assert (search.depth, search.harmed) == (1, True)


def test_a_look_that_took_late_storage_for_a_disk_is_put_right():
    search = DepthSearch(MOST)
    search.adopt(1, harmed=True, confirm=True)
    read_all(search, late(), GIB // 4)
    assert (search.depth, search.harmed) == (MOST, False)


def test_a_disk_that_was_known_by_a_look_costs_one_comparison():
    search = DepthSearch(MOST)
    search.adopt(1, harmed=True, confirm=True)
    read_all(search, seeking(0), GIB // 8)
    assert (search.depth, search.harmed, search.looks) == (1, True, 1)
