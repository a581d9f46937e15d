"""Runners give one result, whatever happens to their workers."""

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.unit.partials.made_up_question import Number, Sum, SumPartial, ask_those_who_linger, linger
from tfdarshan.errors import SessionDataError
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.partials.serial import SERIAL, Done, gather

RUNNERS = {"serial": SERIAL, "pool": ProcessPool(2)}


@pytest.fixture(params=[*RUNNERS, "kept pool"])
def runner(request):
    if request.param in RUNNERS:
        yield RUNNERS[request.param]
        return
    with ProcessPool(2) as pool:
        assert gather(Sum(), [Number(1)], pool).partial == SumPartial(1, 1)
        yield pool
        # Whatever came, it can be asked again.
        assert gather(Sum(), [Number(2)], pool).partial == SumPartial(1, 2)


def test_all_tasks_are_in_the_result(runner):
    gathered = gather(Sum(), [Number(n) for n in range(9)], runner)

    assert (gathered.partial, gathered.lost) == (SumPartial(9, 36), ())


def test_of_no_task_there_is_the_empty_partial(runner):
    assert gather(Sum(), [], runner).partial == SumPartial()


def test_damaged_data_ends_it(runner):
    with pytest.raises(SessionDataError, match="number 3 is damaged"):
        gather(Sum(), [Number(n, damaged=n == 3) for n in range(5)], runner)


def test_a_partial_of_another_version_is_refused(runner):
    with pytest.raises(SessionDataError, match="another version of tfdarshan: its partials have version 2"):
        gather(Sum(version=2), [Number(1)], runner)


def test_a_task_whose_process_was_killed_is_tried_again(tmp_path):
    # GIVEN a task that ends the first two processes that have it
    tasks = [Number(n, str(tmp_path), kills=2 * (n == 3)) for n in range(8)]

    # WHEN
    gathered = gather(Sum(), tasks, ProcessPool(2))

    # THEN
    assert (gathered.partial, gathered.lost) == (SumPartial(8, 28), ())
    assert (tmp_path / "3").read_text() == "xxx"


def test_a_task_that_ends_every_process_is_named_and_the_others_are_there(tmp_path):
    # GIVEN
    tasks = [Number(n, str(tmp_path), kills=99 * (n in (0, 5))) for n in range(8)]

    # WHEN
    gathered = gather(Sum(), tasks, ProcessPool(2))

    # THEN
    assert (gathered.partial, gathered.lost) == (SumPartial(6, 23), ("number 0", "number 5"))


def test_results_can_be_left_halfway(runner):
    # WHEN
    results = runner.each(Sum().map, [Number(n) for n in range(50)])
    first = next(results)
    results.close()

    # THEN
    assert first == Done(Number(0), SumPartial(1, 0))


def waited_for(condition, within_s=120.0):
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_pool_ends_with_who_asked_it(tmp_path, number):
    # GIVEN two processes that would never end their tasks
    asking = multiprocessing.get_context("spawn").Process(target=ask_those_who_linger, args=(str(tmp_path),))
    asking.start()
    waited_for(lambda: len(list(tmp_path.iterdir())) == 2)
    pids = [int(file.name) for file in tmp_path.iterdir()]

    # WHEN
    assert asking.pid is not None
    os.kill(asking.pid, number)
    asking.join()

    # THEN
    waited_for(lambda: not any(map(is_running, pids)))


def test_a_task_under_way_does_not_keep_who_left(tmp_path):
    # GIVEN
    results: Any = ProcessPool(2).each(begin, ["", str(tmp_path)])
    assert next(results) == Done("", None)
    waited_for(lambda: list(tmp_path.iterdir()))

    # WHEN the other task would never end
    results.close()

    # THEN
    assert not is_running(int(next(tmp_path.iterdir()).name))


def begin(folder):
    if folder:
        linger(folder)


def own_id(_number):
    return os.getpid()


def test_a_pool_keeps_its_processes_from_one_question_to_the_next():
    with ProcessPool(2) as pool:
        # GIVEN
        first = {done.result for done in pool.each(own_id, range(8))}

        # WHEN
        again = {done.result for done in pool.each(own_id, range(8))}

        # THEN
        assert again | first <= {process.pid for process in multiprocessing.active_children()}
    assert not any(map(is_running, first | again))


def test_a_kept_pool_that_lost_a_process_begins_anew(tmp_path):
    with ProcessPool(2) as pool:
        # GIVEN
        before = {done.result for done in pool.each(own_id, range(8))}

        # WHEN a task ends the first two processes that have it
        gathered = gather(Sum(), [Number(n, str(tmp_path), kills=2 * (n == 3)) for n in range(8)], pool)

        # THEN
        assert (gathered.partial, gathered.lost) == (SumPartial(8, 28), ())
        assert not before & {done.result for done in pool.each(own_id, range(8))}
