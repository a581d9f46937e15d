"""Sums over calls on input, of blocks by the C core: as NumPy adds them up with all calls in memory."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdarshan.analysis.calls.call_kinds import CALL_KINDS, KIND, groups_of
from tfdarshan.analysis.calls.intervals import union_ns
from tfdarshan.analysis.calls.queue_depth import depth_levels
from tfdarshan.analysis.steps.step_windows import StepWindows, parts_of_steps
from tfdarshan.analysis.storage.file_costs import CostSums
from tfdarshan.analysis.storage.storage_passes import from_storage
from tfdarshan.native import input_sums
from tfdarshan.native.input_sums import Depths, InputCalls, InputTimes, chosen_input

FILES, THREADS, LOOP = 4, 3, 1
MS = 1_000_000
SIZES = np.array([-1, 0, 100, 5_000_000])
# Length of a call and of a pause, in ms: passes of storage and of memory, calls that take no time.
CALL = st.tuples(
    st.integers(0, 20),
    st.sampled_from([0, 1, 3, 40, 900]),
    st.integers(0, THREADS - 1),
    st.integers(0, FILES - 1),
    st.integers(0, len(CALL_KINDS) - 1),
    st.sampled_from([0, 10, 60, 100, 4_000_000]),
)


@dataclass(frozen=True)
class Drawn:
    """Calls, and as many of them at a time as each block has."""

    calls: InputCalls
    block: int

    def parts(self):
        for first in range(0, len(self.calls), self.block):
            yield self.calls.part(slice(first, first + self.block))

    @property
    def lasted(self):
        return self.calls.end_ns - self.calls.start_ns


@st.composite
def drawn(draw):
    rows = draw(st.lists(CALL, max_size=60))
    later, lasted, thread, file, kind, length = (
        np.array(column, np.int64) for column in (zip(*rows, strict=True) if rows else [()] * 6)
    )
    start = np.cumsum(later) * MS
    length = np.where(kind == KIND["read"], length, 0)
    calls = InputCalls(start, start + lasted * MS, length=length, file=file, thread=thread, kind=kind)
    return Drawn(calls, draw(st.sampled_from([1, 2, 7, 1000])))


@st.composite
def steps(draw):
    """Some that follow each other, with pauses between, and what each waits."""
    rows = draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 50), st.integers(0, 50)), min_size=1))
    pause, wait, rest = (np.array(column) * MS for column in zip(*rows, strict=True))
    end = np.cumsum(pause + wait + rest)
    return StepWindows(end - wait - rest, end, end - rest)


@given(drawn())
def test_what_files_cost(found):
    calls, reads = found.calls, found.calls.kind == KIND["read"]
    sums = CostSums(SIZES)
    for part in found.parts():
        sums.add(part)

    costs = sums.costs()

    def of_files(chosen, values):
        return np.bincount(calls.file[chosen], values[chosen], minlength=FILES)

    closing = (calls.kind == KIND["open"]) | (calls.kind == KIND["close"])
    for made, chosen, values in (
        (costs.opens, calls.kind == KIND["open"], np.ones(len(calls))),
        (costs.reads, reads, np.ones(len(calls))),
        (costs.read_bytes, reads, calls.length),
        (costs.read_s, reads, found.lasted / 1e9),
        (costs.other_s, ~reads, found.lasted / 1e9),
        (costs.open_s, closing, found.lasted / 1e9),
        (costs.stat_s, calls.kind == KIND["stat"], found.lasted / 1e9),
    ):
        np.testing.assert_allclose(made, of_files(chosen, values), rtol=1e-12)
    check_passes(calls, costs)
    reading = sums.reading()
    for file in range(FILES):
        mine = reads & (calls.file == file)
        expected = (calls.start_ns[mine].min(), calls.end_ns[mine].max()) if mine.any() else (None, 0)
        if reading is not None:
            assert reading.last_ns[file] == expected[1]
            assert not mine.any() or reading.first_ns[file] == expected[0]
    assert (reading is None) == (not reads.any())


def check_passes(calls, costs):
    kept = np.isin(calls.kind, [KIND["read"], KIND["open"], KIND["close"]])
    file, end = calls.file[kept], calls.end_ns[kept]
    reads = calls.kind[kept] == KIND["read"]
    lasted, length = (end - calls.start_ns[kept]) * reads, calls.length[kept]
    key = (file.astype(np.int64) << 32) | calls.thread[kept]
    order, first = passes_of(key, calls.kind[kept], length, SIZES[file])
    if not len(order):
        assert not costs.slow_s.any()
        return
    made, moved, taken = (np.add.reduceat(v[order], first) for v in (reads.astype(int), length, lasted))
    slow = from_storage(made, moved, taken / 1e9)
    of_file = file[order][first][slow]
    np.testing.assert_array_equal(costs.slow_s, np.bincount(of_file, taken[slow], minlength=FILES) / 1e9)
    np.testing.assert_array_equal(costs.slow_bytes, np.bincount(of_file, moved[slow], minlength=FILES))


def passes_of(key, kind, moved_bytes, size_bytes):
    """Return the order that puts calls of a pass beside each other, and where in it each pass begins.

    A pass goes from an open to the next, or to a close, and has no more bytes than its file.
    """
    order = np.argsort(key, kind="stable")
    sorted_key, sorted_kind = key[order], kind[order]
    begins = np.ones(len(order), bool)
    begins[1:] = sorted_key[1:] != sorted_key[:-1]
    begins |= sorted_kind == KIND["open"]
    begins[1:] |= sorted_kind[:-1] == KIND["close"]
    moved, size = moved_bytes[order], size_bytes[order]
    before = np.cumsum(moved) - moved
    first = np.flatnonzero(begins)
    before -= np.repeat(before[first], np.diff(np.append(first, len(order))))
    read_whole = np.where(size > 0, before // np.maximum(size, 1), 0)
    begins[1:] |= read_whole[1:] > read_whole[:-1]
    return order, np.flatnonzero(begins)


@given(drawn(), st.none() | steps())
def test_times_by_kind_thread_and_step(found, windows):
    calls = found.calls
    parts = parts_of_steps(windows)
    waits, rests = (None, None) if parts is None else (part.columns for part in parts)
    times = InputTimes(waits, rests, None if windows is None else windows.waits)
    for part in found.parts():
        times.add(part, THREADS, LOOP)

    by_loop = calls.thread == LOOP
    within = by_loop & ~(windows.waiting(calls.start_ns) if windows else np.zeros(len(calls), bool))
    for name, group in groups_of(times.by_kind).items():
        mine = calls.kind == KIND[name]
        moved = calls.length[mine].sum() if name in ("read", "write") else 0
        assert (group.calls, group.moved_bytes) == (mine.sum(), moved)
        assert group.within_s == pytest.approx(found.lasted[mine & within].sum() / 1e9)
        assert group.beside_s == pytest.approx(found.lasted[mine & ~within].sum() / 1e9)
    assert times.union_ns == union_ns(calls.start_ns, calls.end_ns)
    if windows is not None:
        own_waits, own_rests = (one.within(calls.start_ns, calls.end_ns) for one in parts)
        assert (times.in_waits_ns, times.in_rests_ns) == (own_waits.sum(), own_rests.sum())
        assert times.loop_in_waits_ns == own_waits[by_loop].sum()
    for thread in np.unique(calls.thread).tolist():
        mine = calls.thread == thread
        expected = [found.lasted[mine].sum(), calls.start_ns[mine].min(), calls.end_ns[mine].max()]
        assert times.by_thread[thread].tolist() == expected


@given(drawn())
def test_time_and_bytes_at_each_depth(found):
    calls, sums = found.calls, Depths()
    for part in found.parts():
        sums.add(part)
    levels = depth_levels(sums)

    # Between two moments nothing begins or ends: each call that is running then has its share of its bytes.
    seconds, moved = np.zeros(len(calls) + 1), np.zeros(len(calls) + 1)
    moments = np.unique(np.concatenate([calls.start_ns, calls.end_ns]))
    rate = calls.length / np.maximum(found.lasted, 1)
    for begin, end in itertools.pairwise(moments):
        running = (calls.start_ns <= begin) & (calls.end_ns >= end)
        seconds[running.sum()] += (end - begin) / 1e9
        moved[running.sum()] += (end - begin) * rate[running].sum()
    np.testing.assert_allclose(levels["seconds"], seconds[: len(levels)], rtol=1e-9)
    np.testing.assert_allclose(levels["bytes"], moved[: len(levels)], rtol=1e-9, atol=1e-3)
    assert not seconds[len(levels) :].any()


@given(drawn(), st.lists(st.booleans(), min_size=FILES, max_size=FILES))
def test_calls_on_input_are_chosen(found, is_input):
    calls, kinds = found.calls, np.arange(len(CALL_KINDS), dtype=np.uint8)
    failed = np.where(calls.thread == 0, 5, 0)
    columns = (calls.kind, calls.file, calls.length, failed)

    places, kind = chosen_input(kinds, np.array(is_input), columns)

    empty = (calls.kind == KIND["read"]) & (calls.length == 0) & (failed == 0)
    expected = np.where(empty, KIND["empty_read"], calls.kind)
    wanted = np.array(is_input, bool)[calls.file] & ~np.isin(expected, [KIND["write"], KIND["sync"]])
    assert places.tolist() == np.flatnonzero(wanted).tolist()
    assert kind.tolist() == expected[wanted].tolist()


def test_a_file_that_many_threads_keep_open_is_read_in_as_many_passes():
    # GIVEN reads of a file by 1,000 threads in turn, each slow
    sums, count = CostSums(np.array([-1])), 3_000
    start = np.arange(count, dtype=np.int64) * 1000 * MS
    thread = np.arange(count) % 1_000
    kind = np.full(count, KIND["read"])
    reads = InputCalls(
        start, start + 900 * MS, length=np.full(count, 10), file=np.zeros(count), thread=thread, kind=kind
    )

    sums.add(reads)
    costs = sums.costs()

    assert costs.slow_bytes.tolist() == [10 * count]


def test_kinds_are_numbered_as_the_core_has_them():
    assert (KIND["read"], len(CALL_KINDS)) == (input_sums.READ_KIND, input_sums.KINDS)
