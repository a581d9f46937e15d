"""Slow files against slow times, in reads of which it is known which is which."""

import pytest

from tfdarshan.storage_probe.prober import Cell, Read
from tfdarshan.storage_probe.slow_places import slow_places


def cells(taken_ms, files=12, rounds=40):
    """Return cells of one reader that reads each file in turn; a read takes `taken_ms(file, at_ms)`."""
    found, at_ms = [], 0.0
    for turn in range(rounds):
        reads = []
        for file in range(files):
            taken = taken_ms(file, at_ms)
            reads.append(Read(at_ms / 1e3, (at_ms + taken) / 1e3, f"/data/{file}", 4096))
            at_ms += taken
        found.append(Cell(turn, True, 1, tuple(reads)))
    return found


def test_a_slow_file_is_slow_at_all_times():
    found = slow_places(cells(lambda file, at_ms: 60 if file == 7 else 3))

    assert [(path, pytest.approx(20)) for path, _ in found.slow_files] == list(found.slow_files)
    assert [path for path, _ in found.slow_files] == ["/data/7"]
    assert found.slow_share == 0.0


def test_a_slow_time_is_slow_for_all_files():
    # GIVEN storage that is 10 times as slow for 300 ms of each second
    found = slow_places(cells(lambda file, at_ms: 30 if at_ms % 1000 < 300 else 3))

    assert found.slow_files == ()
    assert 0.1 < found.slow_share < 0.5
    assert found.slow_times == pytest.approx(10, rel=0.2)


def test_slow_files_are_no_slow_times():
    # GIVEN twelve files of which three are slow, and read one after the other: half of such a moment's reads
    found = slow_places(cells(lambda file, at_ms: 60 if file < 3 else 3))

    assert {path for path, _ in found.slow_files} == {f"/data/{file}" for file in range(3)}
    assert found.slow_share == 0.0


def test_storage_that_slows_down_has_no_slow_file():
    # GIVEN storage that is quick until it has given what it saved up, and three files that are read only then
    quick = cells(lambda file, at_ms: 3)
    late = [
        Cell(
            cell.turn,
            True,
            1,
            tuple(Read(r.start_s + 9, r.end_s + 9, f"{r.path}-late", 0) for r in cell.reads),
        )
        for cell in cells(lambda file, at_ms: 60, files=3, rounds=12)
    ]

    found = slow_places(quick + late)

    assert found.files == 15
    assert found.slow_files == ()
    assert found.slow_share > 0


def test_even_storage_has_neither():
    found = slow_places(cells(lambda file, at_ms: 3 + file % 3))

    assert (found.files, found.slow_files, found.slow_share) == (12, (), 0.0)
    assert found.moments > 0


def test_files_read_once_tell_nothing():
    found = slow_places(cells(lambda file, at_ms: 60 if file == 7 else 3, files=40, rounds=1))

    assert (found.files, found.slow_files) == (0, ())
