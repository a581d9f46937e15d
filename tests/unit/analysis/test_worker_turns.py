"""How long a training loop takes turns with its workers: against closed forms."""

import numpy as np
import pytest

from tfdarshan.analysis.steps.loader_waits import waits_of
from tfdarshan.analysis.steps.worker_turns import time_by_makers, worker_turns

S = 1_000_000_000


def made(*spans_s):
    """Return batches that were put together in these spans of time."""
    begun, done = np.array(spans_s, np.int64).T * S
    columns = {name: np.arange(len(begun)) for name in ("epoch", "batch", "worker")}
    columns |= {"request_ns": begun, "arrival_ns": done, "fetch_start_ns": begun, "fetch_end_ns": done}
    return waits_of(columns)


def at(*seconds):
    return np.array(seconds, np.int64) * S


def test_time_is_told_by_how_many_make_batches():
    # GIVEN one batch from 0 to 4, two more from 1 to 3, and two stretches that are looked at
    found = time_by_makers(made((0, 4), (1, 3), (1, 3)), at(0, 2), at(2, 10))

    # THEN of 10 seconds none is made in 6, one in 2 and three in 2
    assert found.tolist() == [6, 2, 0, 2]


def test_a_loop_beside_three_workers_has_half_of_a_processor_if_there_are_two():
    # GIVEN three workers that compute for 4 of the 8 seconds in which the loop does
    turns = worker_turns(made(*[(0, 4)] * 3), at(0), at(8), cpus=2, busy=1.0, cpu_s=12.0)

    # THEN it has half a processor for 4 seconds, of which workers took 6 more, and wants all that it has
    assert (turns.beside, turns.had, turns.computes) == (1.5, 0.75, 1.0)
    assert turns.left == 0.75


def test_a_loop_that_waits_for_a_gpu_hardly_takes_turns():
    # GIVEN the same, but for a loop that took 1.5 seconds of processor time
    turns = worker_turns(made(*[(0, 4)] * 3), at(0), at(8), cpus=2, busy=1.0, cpu_s=7.5)

    # THEN it could compute in a quarter of the time that it had
    assert turns.computes == pytest.approx(0.25)
    assert turns.left == pytest.approx(1 - 0.25 * 0.25)


def test_workers_that_wait_for_files_leave_the_processors_alone():
    turns = worker_turns(made(*[(0, 4)] * 3), at(0), at(8), cpus=2, busy=0.25, cpu_s=12.0)

    assert (turns.had, turns.left) == (1.0, 1.0)


def test_a_loop_that_never_computes_takes_no_turns():
    assert worker_turns(made((0, 4)), at(0), at(0), cpus=2, busy=1.0, cpu_s=1.0) is None
