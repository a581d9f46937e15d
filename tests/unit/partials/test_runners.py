"""Runners give one result, whatever happens to their workers."""

import pytest

from tests.unit.partials.made_up_question import Number, Sum, SumPartial
from tfdarshan.errors import SessionDataError
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.partials.serial import SERIAL, Done

RUNNERS = {"serial": SERIAL, "pool": ProcessPool(2)}


@pytest.fixture(params=RUNNERS)
def runner(request):
    return RUNNERS[request.param]


def test_all_tasks_are_in_the_result_and_progress_is_told(runner):
    # GIVEN
    told = []

    # WHEN
    gathered = runner.gather(Sum(), [Number(n) for n in range(9)], lambda *at: told.append(at))

    # THEN
    assert (gathered.partial, gathered.lost) == (SumPartial(9, 36), ())
    assert told == [(n, 9) for n in range(1, 10)]


def test_of_no_task_there_is_the_empty_partial(runner):
    assert runner.gather(Sum(), []).partial == SumPartial()


def test_damaged_data_ends_it(runner):
    with pytest.raises(SessionDataError, match="number 3 is damaged"):
        runner.gather(Sum(), [Number(n, damaged=n == 3) for n in range(5)])


def test_a_partial_of_another_version_is_refused(runner):
    with pytest.raises(SessionDataError, match="another version of tfdarshan: its partials have version 2"):
        runner.gather(Sum(version=2), [Number(1)])


def test_a_task_whose_process_was_killed_is_tried_again(tmp_path):
    # GIVEN a task that ends the first two processes that have it
    tasks = [Number(n, str(tmp_path), kills=2 * (n == 3)) for n in range(8)]

    # WHEN
    gathered = ProcessPool(2).gather(Sum(), tasks)

    # THEN
    assert (gathered.partial, gathered.lost) == (SumPartial(8, 28), ())
    assert (tmp_path / "3").read_text() == "xxx"


def test_a_task_that_ends_every_process_is_named_and_the_others_are_there(tmp_path):
    # GIVEN
    tasks = [Number(n, str(tmp_path), kills=99 * (n in (0, 5))) for n in range(8)]

    # WHEN
    gathered = ProcessPool(2).gather(Sum(), tasks)

    # THEN
    assert (gathered.partial, gathered.lost) == (SumPartial(6, 23), ("number 0", "number 5"))


def test_results_can_be_left_halfway(runner):
    # WHEN
    results = runner.each(Sum().map, [Number(n) for n in range(50)])
    first = next(results)
    results.close()

    # THEN
    assert first == Done(Number(0), SumPartial(1, 0))
