"""How calls become tasks, and tasks come to their batches."""

import numpy as np
import pytest

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.replay.job_model import OPEN, PROBE, READ
from tfdarshan.replay.loop_times import LoopTimes, loop_times, union_by
from tfdarshan.replay.read_tasks import InputCalls, read_tasks
from tfdarshan.replay.task_batches import batches_of


def calls_of(*rows):
    """Make calls of (start ms, end ms, kind, file, thread, offset, length): each thread is a process."""
    start, end, kind, *rest = (list(values) for values in zip(*sorted(rows), strict=True))
    file, thread, offset, length = map(np.array, rest)
    return InputCalls(
        np.array(start) / 1000, np.array(end) / 1000, np.array([KIND[name] for name in kind]),
        file, thread, offset, length, process=thread, exact=np.full(len(start), True),
    )  # fmt: skip


def every(ms, count):
    """Return batches that are asked for each so many ms, and come at once."""
    ask_s = np.arange(count) * ms / 1000
    return LoopTimes(ask_s, ask_s, ask_s + ms / 1000, True)


def test_threads_that_read_files_beside_each_other_have_a_task_each():
    # GIVEN two threads whose calls alternate
    of_one = ((0, "open", 0), (20, "read", 100), (40, "empty_read", 0), (60, "close", 0))
    calls = calls_of(
        *((at + 10 * thread, at + 5 + 10 * thread, kind, thread, thread, 0, length)
          for thread in (0, 1)
          for at, kind, length in of_one)
    )  # fmt: skip

    # WHEN
    tasks = read_tasks(calls, np.array([100, 100]), 2)

    # THEN each has 15 ms between its calls, three times
    assert len(tasks) == 2
    assert tasks.calls[:, 0].tolist() == [1, 0, 1, 1]
    assert tasks.work_s.tolist() == pytest.approx([0.045, 0.045])
    assert (tasks.calls[READ] == tasks.calls[PROBE]).all()


def test_each_read_of_a_file_that_stays_open_is_a_task():
    # GIVEN a file that is read in order for four batches
    calls = calls_of(
        (0, 1, "open", 0, 7, 0, 0), *((n, n + 1, "read", 0, 7, 100 * n, 100) for n in range(1, 9))
    )

    # WHEN
    tasks = read_tasks(calls, np.array([900]), 4)

    # THEN the open is part of the first one
    assert len(tasks) == 8
    assert tasks.calls[OPEN].tolist() == [1] + [0] * 7
    assert tasks.jumps.sum() == 1


def test_a_file_with_two_descriptors_is_one_task():
    # GIVEN what NumPy's fromfile() does: a second descriptor is closed first, and the first one later
    calls = calls_of(
        *((100 * file + at, 100 * file + at + 1, kind, file, 7, 0, length)
          for file in (0, 1)
          for at, kind, length in ((0, "open", 0), (10, "other", 0), (20, "read", 100), (30, "close", 0),
                                   (40, "seek", 0), (50, "close", 0))),
        (900, 901, "stat", 0, 7, 0, 0),
    )  # fmt: skip

    # WHEN
    tasks = read_tasks(calls, np.array([100, 100]), 2)

    # THEN a later question is none of it
    assert tasks.calls[READ].tolist() == [1, 1, 0]
    assert tasks.work_s.tolist() == pytest.approx([0.045, 0.045, 0.0])


def test_each_process_opens_a_file_for_the_first_time_once():
    # GIVEN a file that two processes open twice each
    calls = calls_of(
        *((at + by, at + by + 1, kind, 0, process, 0, length)
          for at, process in ((0, 7), (10, 8), (20, 7), (30, 8))
          for by, kind, length in ((0, "open", 0), (1, "read", 100), (2, "close", 0)))
    )  # fmt: skip

    # WHEN
    tasks = read_tasks(calls, np.array([100]), 2)

    # THEN
    assert tasks.calls[OPEN].tolist() == [1, 1, 1, 1]
    assert tasks.first_opens.tolist() == [1, 1, 0, 0]


def test_a_place_is_new_once():
    # GIVEN pages in any order, of which two are read again, and one that goes on where one ended
    pages = [4, 0, 2, 3, 0, 4]

    # WHEN
    tasks = read_tasks(
        calls_of(*((n, n + 1, "read", 0, 7, 100 * page, 100) for n, page in enumerate(pages))),
        np.array([500]), 6,
    )  # fmt: skip

    # THEN
    assert tasks.jumps.tolist() == [1, 1, 1, 0, 1, 1]
    assert tasks.places.tolist() == [1, 1, 1, 0, 0, 0]


def test_a_tree_s_pages_are_a_chain_from_its_first_page_on():
    # GIVEN samples that each read the first page of a database, and three others
    rows = [
        (10 * n + k, 10 * n + k + 1, "read", 0, 7, 0 if k == 0 else 4096 * (3 * n + k), 4096)
        for n in range(12)
        for k in range(4)
    ]

    # WHEN
    tasks = read_tasks(calls_of(*rows), np.array([4096 * 40]), 3)

    # THEN the program asked for the first one
    assert tasks.calls[READ].tolist() == [4] * 12
    assert tasks.asked_reads.tolist() == [1] * 12


def test_a_chain_of_many_pages_may_begin_with_several_that_are_always_read():
    # GIVEN samples that each read the first two pages of a database, and 98 others
    rows = [
        (n + k / 100, n + (k + 1) / 100, "read", 0, 7, 4096 * (k if k < 2 else 98 * n + k), 4096)
        for n in range(12)
        for k in range(100)
    ]

    # WHEN
    tasks = read_tasks(calls_of(*rows), np.array([4096 * 1200]), 3)

    # THEN
    assert tasks.calls[READ].tolist() == [100] * 12
    assert tasks.asked_reads.tolist() == [1] * 12


def test_a_page_that_is_read_less_often_than_batches_are_taken_begins_no_chain():
    # GIVEN the first page of a file, which is read three times, and others
    rows = [(n, n + 1, "read", 0, 7, 4096 * (n if n % 10 else 0), 4096) for n in range(30)]

    # WHEN
    tasks = read_tasks(calls_of(*rows), np.array([4096 * 30]), 6)

    # THEN
    assert tasks.asked_reads.tolist() == [1] * 30


def test_reads_that_do_not_follow_each_other_are_jumps():
    # GIVEN every other record of a file, and then the rest in order
    rows = [(n, n + 1, "read", 0, 7, offset, 100) for n, offset in enumerate([0, 200, 400, 500, 600])]

    # THEN
    tasks = read_tasks(calls_of(*rows), np.array([900]), 3)
    assert tasks.jumps.tolist() == [1, 1, 1, 0, 0]


def test_an_epoch_begins_with_its_first_file():
    # GIVEN four files that are read three times
    rows = [
        (10 * n + at, 10 * n + at + 2, kind, n % 4, 7, 0, length)
        for n in range(12)
        for at, kind, length in ((0, "open", 0), (3, "read", 100), (6, "close", 0))
    ]

    # WHEN
    tasks = read_tasks(calls_of(*rows), np.array([100] * 4), 6)

    # THEN
    assert tasks.epoch.tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_passes_over_a_part_of_a_file_are_epochs():
    # GIVEN every other record of a file of 24, in another order in each of three epochs
    orders = [[n * step % 12 for n in range(12)] for step in (1, 5, 7)]
    rows = [
        (12 * epoch + n, 12 * epoch + n + 1, "read", 0, 7, 200 * record, 100)
        for epoch, order in enumerate(orders)
        for n, record in enumerate(order)
    ]

    # THEN 1200 of its 2400 bytes are a pass
    tasks = read_tasks(calls_of(*rows), np.array([2400]), 6)
    assert tasks.epoch.tolist() == [0] * 12 + [1] * 12 + [2] * 12


def test_the_first_page_of_a_tree_begins_no_epoch_of_the_others():
    # GIVEN queries that read the same two pages of a database of 400, and one that no other query reads
    rows = [
        (10 * n + k, 10 * n + k + 1, "read", 0, 7, 4096 * page, 4096)
        for n in range(24)
        for k, page in enumerate((0, 1, 2 + 5 * n))
    ]

    # THEN
    tasks = read_tasks(calls_of(*rows), np.array([4096 * 400]), 6)
    assert tasks.epoch.tolist() == [0] * 72


def test_a_shuffle_buffer_is_filled_before_the_first_batch():
    # GIVEN twelve tasks of six batches, and a buffer of four
    rows = [(n, n + 1, "read", 0, 7, 100 * n, 100) for n in range(12)]
    tasks = read_tasks(calls_of(*rows), np.array([1200]), 6)

    # WHEN
    placed = batches_of(tasks, every(2, 6), 4)

    # THEN the first batch needs five, or six
    assert placed.batch.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3]


def test_batches_that_a_cache_serves_need_no_task():
    # GIVEN ten batches of which the first three read
    rows = [(n, n + 1, "read", 0, 7, 100 * n, 100) for n in range(6)]
    tasks = read_tasks(calls_of(*rows), np.array([600]), 3)

    # THEN
    assert batches_of(tasks, every(2, 10), 0).batch.tolist() == [0, 0, 1, 1, 2, 2]


def test_readers_that_begin_an_epoch_before_it_is_asked_for_go_on():
    # GIVEN a second epoch of which the first file is opened during the last step of the first one
    rows = [
        (at, at + 1, kind, n % 4, 7, 0, 100 * (kind == "read"))
        for n, begin in enumerate((0, 10, 20, 30, 35, 42, 50, 60))
        for at, kind in ((begin, "open"), (begin + 2, "read"), (begin + 4, "close"))
    ]
    tasks = read_tasks(calls_of(*rows), np.array([100] * 4), 8)

    # THEN the batch that was asked for at 30 ms is the second epoch's first
    placed = batches_of(tasks, every(10, 8), 0)
    assert placed.epoch.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert placed.late_s[1] == pytest.approx(0.005)


def test_bursts_of_reads_are_batches_where_no_step_is_marked():
    # GIVEN three bursts of two reads, 50 ms apart
    start_s = np.array([0, 0.01, 0.07, 0.08, 0.14, 0.15])

    # WHEN
    found = loop_times(None, start_s, start_s + 0.01, 0.2)

    # THEN
    assert found.ask_s.tolist() == pytest.approx([0, 0.07, 0.14])
    assert found.got_s.tolist() == pytest.approx([0.02, 0.09, 0.16])
    assert found.stop_s.tolist() == pytest.approx([0.07, 0.14, 0.2])
    assert not found.known


def test_time_in_which_two_calls_run_counts_once():
    place = np.array([0, 0, 1])
    union = union_by(place, np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]), 3)
    assert union.tolist() == [3.0, 1.0, 0.0]


def test_tasks_that_read_their_file_twice_leave_out_a_pass():
    # GIVEN six files that are read once, and a seventh that is opened twice, and read twice each time
    rows = [(10 * file, "open", file, 0) for file in range(6)]
    rows += [(10 * file + 1, "read", file, 100) for file in range(6)]
    for at in (60, 70):
        rows += [
            (at, "open", 6, 0),
            (at + 1, "read", 6, 100),
            (at + 2, "read", 6, 100),
            (at + 3, "close", 6, 0),
        ]
    calls = calls_of(*((at, at + 1, kind, file, 7, 0, length) for at, kind, file, length in rows))

    # WHEN no task is of its third pass
    tasks = read_tasks(calls, np.full(7, 100), 6)

    # THEN
    assert tasks.epoch.tolist() == [0] * 8


@pytest.mark.parametrize(
    ("computed_ms", "epoch", "steps"),
    [
        # Of three steps one computes nothing, and the request behind them gets nothing.
        ([10, 0, 10, 0, 10, 0, 10, 0], [1, 1, 1, 1, 2, 2, 2, 2], [0, 1, 2, 4, 5, 6]),
        # Nothing tells epochs, of which there are two.
        ([10, 10, 10, 0, 10, 10, 10, 0], None, [0, 1, 2, 4, 5, 6]),
        ([10, 0, 10, 0, 10, 0, 10, 0], None, [0, 1, 2, 3, 4, 5, 6]),
        # Another data set follows the last step.
        ([10, 0, 10, 10, 10, 0, 0, 0], [1, 1, 1, 1, 1, -1, -1, -1], [0, 1, 2, 3, 4]),
    ],
)
def test_a_request_that_gets_nothing_ends_an_epoch(computed_ms, epoch, steps):
    # GIVEN waits of 10 ms
    start_ms = np.cumsum([0, *(10 + each for each in computed_ms[:-1])])
    start_ns, end_ns, wait_end_ns = (
        10**6 * each for each in (start_ms, start_ms + 10 + computed_ms, start_ms + 10)
    )
    windows = StepWindows(start_ns, end_ns, wait_end_ns, None if epoch is None else np.array(epoch))

    # THEN
    found = loop_times(windows, np.zeros(0), np.zeros(0), 0.12, epochs=2)
    assert found.ask_s.tolist() == pytest.approx((start_ms[steps] / 1000).tolist())
