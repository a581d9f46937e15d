"""Calls of many processes, merged: in order, each once, and as quick for short processes as for long ones."""

import heapq
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from tfdarshan.analysis.calls.merged_calls import in_order
from tfdarshan.sessions import schema

BLOCKS = st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=6), max_size=4)


def streams_of(processes):
    """Blocks of (start, process, number), in order of start within each process; numbers go on."""
    made = []
    for process, blocks in enumerate(processes):
        starts = sorted(start for block in blocks for start in block)
        bounds = np.cumsum([0, *map(len, blocks)])
        columns = (np.array(starts, np.int64), np.full(len(starts), process), np.arange(len(starts)))
        made.append([tuple(values[begin:end] for values in columns) for begin, end in pairwise(bounds)])
    return made


def rows(blocks):
    return [tuple(map(int, row)) for block in blocks for row in zip(*block, strict=True)]


@given(st.lists(BLOCKS, min_size=1, max_size=5), st.sampled_from([1, 5, 131_072]))
def test_calls_are_in_order_and_each_is_there_once(processes, row_group):
    # GIVEN what Python's own merge gives
    made = streams_of(processes)
    right = list(heapq.merge(*map(rows, made), key=lambda row: row[0]))

    # WHEN
    before, schema.EVENTS_ROW_GROUP = schema.EVENTS_ROW_GROUP, row_group
    try:
        found = rows(in_order([iter(blocks) for blocks in made]))
    finally:
        schema.EVENTS_ROW_GROUP = before

    # THEN calls that begin at once stand as the rows of each process do
    assert [row[0] for row in found] == [row[0] for row in right]
    assert sorted(found) == sorted(right)
    for process in range(len(processes)):
        assert [row for row in found if row[1] == process] == [row for row in right if row[1] == process]


def test_a_thousand_short_processes_are_searched_once_each(monkeypatch):
    # GIVEN processes of five calls, one after the other
    made = streams_of([[[5 * process + call for call in range(5)]] for process in range(1000)])
    searched, search = [], np.searchsorted

    def counted(*given, **options):
        searched.append(given)
        return search(*given, **options)

    monkeypatch.setattr(np, "searchsorted", counted)

    # WHEN
    blocks = list(in_order([iter(stream) for stream in made]))

    # THEN
    assert len(searched) == 1000
    assert [block[0].tolist() for block in blocks] == [list(range(5000))]
