"""The session's values out of two snapshots of libdarshan's records."""

from __future__ import annotations

import dataclasses

import numpy as np

from tfdarshan.recording.libdarshan import darshan_records
from tfdarshan.recording.libdarshan.darshan_records import (
    HEAD_WORDS,
    difference,
    module_columns,
    record_words,
)


def record(record_id: int, **values: float) -> np.ndarray:
    columns = module_columns("POSIX")
    words = np.zeros(record_words("POSIX"), np.int64)
    words[0] = record_id
    for name, value in values.items():
        if name in columns.names:
            words[HEAD_WORDS + columns.names.index(name)] = value
        else:
            place = HEAD_WORDS + len(columns.names) + columns.f_names.index(name)
            words[place : place + 1] = np.array([value], np.float64).view(np.int64)
    return words


def test_records_have_darshans_sizes():
    assert record_words("POSIX") * 8 == 704
    assert record_words("STDIO") * 8 == 248


def test_each_counter_follows_its_rule():
    # GIVEN a file used before the session and in it, and one used in it only
    columns = module_columns("POSIX")
    before = record(9, POSIX_OPENS=2, POSIX_MAX_BYTE_READ=70, POSIX_ACCESS1_ACCESS=5, POSIX_F_READ_TIME=1.5)
    after = record(9, POSIX_OPENS=5, POSIX_MAX_BYTE_READ=70, POSIX_ACCESS1_ACCESS=5, POSIX_F_READ_TIME=1.75)
    new = record(3, POSIX_OPENS=1, POSIX_MAX_BYTE_READ=11, POSIX_F_OPEN_START_TIMESTAMP=4.0)

    # WHEN the snapshots are differenced
    records = difference("POSIX", np.array([before]), np.array([after, new]))

    # THEN sums are differences, and what cannot be told of the old file is marked
    opens, highest, access = (
        columns.names.index(name) for name in ("POSIX_OPENS", "POSIX_MAX_BYTE_READ", "POSIX_ACCESS1_ACCESS")
    )
    assert records.ids.tolist() == [3, 9]
    assert records.counters[:, opens].tolist() == [1, 3]
    assert records.known[:, highest].tolist() == [True, False]
    assert records.known[:, access].tolist() == [True, False]
    assert records.f_counters[1, columns.f_names.index("POSIX_F_READ_TIME")] == 0.25
    assert records.carried.tolist() == [False, True]
    assert records.active.tolist() == [True, True]


def test_mmaps_that_are_not_counted_are_unknown():
    # GIVEN a libdarshan without a wrapper for mmap
    place = module_columns("POSIX").names.index("POSIX_MMAPS")

    # WHEN
    records = difference(
        "POSIX", np.empty((0, record_words("POSIX")), np.int64), np.array([record(1, POSIX_MMAPS=-1)])
    )

    # THEN
    assert not records.known[0, place]


def test_records_are_the_same_however_many_are_differenced_at_a_time(monkeypatch):
    # GIVEN more records than fit a block, some of them older than the session, none in order of their ids
    ids = [70, 3, 50, 11, 42, 8, 99]
    start = np.array([record(number, POSIX_OPENS=number) for number in ids[:3]])
    stop = np.array([record(number, POSIX_OPENS=number + 2, POSIX_BYTES_READ=number) for number in ids])
    whole = difference("POSIX", start, stop)

    # WHEN they are differenced two at a time
    monkeypatch.setattr(darshan_records, "BLOCK_RECORDS", 2)
    parts = difference("POSIX", start, stop)

    # THEN nothing differs, and old records have what the session added
    for field in dataclasses.fields(whole):
        np.testing.assert_array_equal(getattr(parts, field.name), getattr(whole, field.name))
    opens = module_columns("POSIX").names.index("POSIX_OPENS")
    added = dict(zip(parts.ids.tolist(), parts.counters[:, opens].tolist(), strict=True))
    assert added == {number: 2 if number in ids[:3] else number + 2 for number in ids}
