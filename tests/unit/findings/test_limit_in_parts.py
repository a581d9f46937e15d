"""A limit that lets 13.2 reads of one size pass in each interval counts bytes: calls are whole numbers."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.closed_readers import Budget, calls_of
from tests.unit.findings.made_up_training import training
from tests.unit.findings.test_limited_quantity import FILES, MEAN, alike, limited
from tests.unit.findings.test_more_readers import rests
from tfdarshan.analysis.limited_quantity import parts_of_calls
from tfdarshan.findings import full_storage, random_access, small_files
from tfdarshan.findings.limit_in_parts import parts_that_pass
from tfdarshan.findings.measurement import measure

BYTES = round(13.2 * MEAN)


def test_files_of_one_size_tell_a_limit_of_bytes_by_the_parts_of_them_that_pass(tmp_path):
    # GIVEN 1.32 MB in each 100 ms, or 13 calls, of files of 100 kB
    by_bytes = limited(tmp_path / "bytes", Budget(13, bytes=BYTES), alike)
    by_calls = limited(tmp_path / "calls", Budget(13), alike)

    # THEN their sizes do not tell it, and what passes does
    assert by_bytes.allowance.counts is None is by_calls.allowance.counts
    parts = parts_that_pass(by_bytes)
    assert parts.least == 13
    assert parts.mean == pytest.approx(13.2, abs=0.05)
    assert parts_that_pass(by_calls) is None
    # ... but in a log, which has no opens of which storage may have been asked for more
    assert parts_that_pass(replace(by_bytes, imported=True)) is None
    # ... so that little is expected of shards, though they may give a lot
    unsure, little = (small_files.find(measures).gain for measures in (by_calls, by_bytes))
    assert little.speedup < 1.1 < unsure.speedup
    assert little.speedup_range == (pytest.approx(1.0), pytest.approx(unsure.speedup_range[1], rel=0.1))
    said = full_storage.find(by_bytes)
    assert (
        "It lets 13 or 14 reads pass in each, 13.2 on average. Limits of calls are whole numbers as a rule, "
        "so it counts bytes most likely, and shards give little. " in said.what
    )
    assert said.cure.what == ("Read less from it: stage the files, keep them in memory, store them smaller.")
    assert "where it is calls that it limits" in full_storage.find(by_calls).cure.what


@pytest.mark.parametrize(("storage", "some"), [(Budget(13, bytes=BYTES), False), (Budget(13), True)])
def test_nothing_is_expected_of_reads_in_order_under_a_limit_of_bytes(tmp_path, storage, some):
    # GIVEN reads of 100 kB that jump about in a file
    calls = calls_of(storage, readers=1, rest_ms=rests(1), count=FILES)
    made = [
        (start, end, 1, "pread", 0, MEAN, place * 7 % FILES * MEAN)
        for place, (start, end, *_) in enumerate(calls)
    ]
    steps = [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(calls[-1][1] // 50))]
    measures = measure(training(tmp_path, made, steps, sizes=[FILES * MEAN]))

    found = random_access.find(measures)
    assert found.gain.doubts
    assert found.gain.speedup_range[1] > 2
    assert (found.gain.speedup > 1.1) is some


@pytest.mark.parametrize(("asks_ms", "told"), [(0.5, False), (0.01, True)])
def test_what_opens_ask_storage_for_is_counted_by_a_limit_of_calls_too(tmp_path, asks_ms, told):
    # GIVEN 14 calls in each 100 ms, of which every 17th is an open, or opens that ask storage for nothing
    of_opens = itertools.cycle([False] * 16 + [True])
    calls = calls_of(Budget(14), readers=1, rest_ms=rests(1), count=FILES)
    made: list[tuple] = []
    file = -1
    for (start, end, _, length), is_open in zip(calls, of_opens, strict=False):
        if is_open:
            made.append((start, start + asks_ms if end - start < 5 else end, 1, "open", max(file, 0), 0))
        else:
            file += 1
            made.append((start, end, 1, "pread", file, length, 0))
    steps = [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(calls[-1][1] // 50))]
    paths = [f"/data/{place % 7}/{place}" for place in range(file + 1)]
    measures = measure(training(tmp_path, made, steps, paths=paths, sizes=[MEAN] * len(paths)))

    # THEN 13 or 14 reads pass, and only in the second case that has no other reason
    assert measures.allowance.parts is not None
    assert (parts_that_pass(measures) is not None) is told


def carried(mean, count=40):
    """Gives how many calls pass in each of some intervals, if what is left over is the next one's."""
    return np.diff(np.floor(np.arange(count + 1) * mean + 1e-9)).astype(np.int64)


@pytest.mark.parametrize(
    ("interval_s", "calls", "told"),
    [
        (0.1, carried(13.2), True),
        (0.1, carried(49.5), True),
        (0.1, carried(12.0), False),
        (0.1, carried(12.02), False),
        (0.1, carried(13.2, 7), False),
        (0.01, carried(13.2), False),
        (0.1, np.array([13] * 20 + [14] * 20), False),
        (0.1, np.array([12, 13, 14] * 12), False),
    ],
    ids=[
        "in parts",
        "halves",
        "whole",
        "nearly",
        "too few",
        "short intervals",
        "another limit",
        "reads ahead",
    ],
)
def test_parts_pass_where_what_is_left_over_is_the_next_ones(interval_s, calls, told):
    found = parts_of_calls(interval_s, calls)

    assert (found is not None) is told
    if told:
        assert found.least == int(calls.min())
        assert found.lacking == int((calls == calls.min()).sum())
