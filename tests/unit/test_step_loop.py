import inspect
import threading
import time
import traceback
import warnings
from itertools import islice

import pytest

import tfdarshan
from tfdarshan.frameworks.batch_log import LOOPED_STEPS
from tfdarshan.recording.steps import ASKED_NS, StepLog


class Batches:
    """An input whose iterator takes a while to start, and so does each batch."""

    def __init__(self, count, wait_s=0.0):
        self.count, self.wait_s = count, wait_s

    def __len__(self):
        return self.count

    def __iter__(self):
        time.sleep(self.wait_s)
        for number in range(self.count):
            time.sleep(self.wait_s)
            yield [number]


def recorded(logs, loop):
    with tfdarshan.profile(logs) as session:
        loop()
    return session.steps


def test_each_batch_is_a_step_that_waits_for_it(tmp_path):
    # GIVEN
    seen = []

    def loop():
        for batch in tfdarshan.steps(Batches(3, 0.01)):
            seen.append(batch)
            time.sleep(0.02)

    # WHEN
    steps = recorded(tmp_path, loop)

    # THEN the first step waits for the start of the iterator, too
    assert seen == [[0], [1], [2]]
    assert steps["step"].tolist() == [0, 1, 2]
    assert set(steps["source"]) == {LOOPED_STEPS}
    assert (steps["input_wait_ns"] >= [20e6, 10e6, 10e6]).all()
    computed = steps["end_ns"] - steps["start_ns"] - steps["input_wait_ns"]
    assert (computed >= 20e6).all()
    assert steps["start_ns"].tolist()[1:] == steps["end_ns"].tolist()[:-1]


def test_each_pass_is_an_epoch(tmp_path):
    # WHEN
    def loop():
        for _ in range(2):
            for _ in tfdarshan.steps(Batches(2)):
                pass

    # THEN
    assert recorded(tmp_path, loop)["epoch"].tolist() == [1, 1, 2, 2]


def test_a_loop_over_epochs_marks_no_steps(tmp_path):
    # WHEN
    def loop():
        for _ in tfdarshan.steps(range(3)):
            for _ in tfdarshan.steps(Batches(2)):
                pass

    # THEN
    steps = recorded(tmp_path, loop)
    assert steps["step"].tolist() == list(range(6))
    assert steps["epoch"].tolist() == [1, 1, 2, 2, 3, 3]
    assert (steps["input_wait_ns"] >= 0).all()


def test_a_loop_over_numbers_that_validates_now_and_then_has_its_steps(tmp_path):
    # WHEN
    def loop():
        for number in tfdarshan.steps(range(1, 7)):
            if number % 3 == 0:
                for _ in tfdarshan.steps(Batches(2)):
                    pass

    # THEN
    steps = recorded(tmp_path, loop)
    assert steps["step"].tolist() == list(range(10))
    assert steps["epoch"].tolist() == [1, 1, 1, 2, 2, 1, 1, 1, 3, 3]


@pytest.mark.parametrize(("chosen", "epochs"), [((0, 2), [1, 1, 2]), ((2, 3), [2, 2]), ((3, 4), [2, 3])])
def test_chosen_steps_are_counted_without_a_loop_over_epochs(tmp_path, chosen, epochs):
    # WHEN
    with tfdarshan.profile(tmp_path, steps=chosen) as session:
        for _ in tfdarshan.steps(range(3)):
            for _ in tfdarshan.steps(Batches(2)):
                pass

    # THEN
    first, last = chosen
    assert session.steps["step"].tolist() == list(range(first, last + 1))
    assert session.steps["epoch"].tolist() == epochs


def test_threads_that_mark_steps_at_once_do_not_end_each_others(tmp_path, capsys):
    # GIVEN a loop within each of whose steps one of another thread begins and ends
    def meanwhile():
        for _ in tfdarshan.steps(Batches(1)):
            time.sleep(0.01)

    def loop():
        for _ in tfdarshan.steps(Batches(4)):
            thread = threading.Thread(target=meanwhile)
            thread.start()
            thread.join()

    # WHEN
    with tfdarshan.profile(tmp_path) as session:
        loop()

    # THEN the steps are those of the loop that has most
    steps = session.steps
    assert steps["epoch"].tolist() == [1] * 4
    assert (steps["end_ns"] - steps["start_ns"] >= 10e6).all()
    assert steps["start_ns"].tolist()[1:] == steps["end_ns"].tolist()[:-1]
    assert "4 steps of other threads left out: a session has steps of one loop at a time" in session.summary()


def test_threads_that_mark_steps_one_after_the_other_are_one_loop(tmp_path):
    # WHEN
    def loop():
        for _ in tfdarshan.steps(Batches(2)):
            pass

    with tfdarshan.profile(tmp_path) as session:
        for _ in range(3):
            thread = threading.Thread(target=loop)
            thread.start()
            thread.join()

    # THEN
    assert session.steps["step"].tolist() == list(range(6))
    assert session.steps["epoch"].tolist() == [1, 1, 2, 2, 3, 3]


def test_a_loop_that_is_left_ends_its_step(tmp_path):
    # WHEN
    def loop():
        for _ in tfdarshan.steps(Batches(5)):
            break
        time.sleep(0.05)

    # THEN
    (step,) = recorded(tmp_path, loop).to_dict("records")
    assert step["end_ns"] - step["start_ns"] < 50e6


def test_the_length_is_the_inputs():
    # THEN
    assert len(tfdarshan.steps(Batches(7))) == 7
    assert list(tfdarshan.steps(iter(range(3)))) == [0, 1, 2]
    with pytest.raises(TypeError, match="has no len"):
        len(tfdarshan.steps(iter(range(3))))


def test_what_the_input_raises_comes_out(tmp_path):
    # GIVEN
    def failing():
        yield 1
        raise ValueError("damaged")

    # WHEN
    with tfdarshan.profile(tmp_path) as session, pytest.raises(ValueError, match="damaged"):
        for _ in tfdarshan.steps(failing()):
            pass

    # THEN
    assert len(session.steps) == 1


def test_a_session_that_starts_in_a_loop_has_its_later_steps(tmp_path):
    # GIVEN
    loop = iter(tfdarshan.steps(range(10)))
    next(loop)

    # WHEN two batches are taken while it records, and one is asked for before
    session = tfdarshan.profile(tmp_path).start()
    assert list(islice(loop, 3)) == [1, 2, 3]
    session.stop()
    assert list(loop) == [4, 5, 6, 7, 8, 9]

    # THEN
    assert session.steps["step"].tolist() == [0, 1, 2]


class Failing:
    """An input that warns when its iterator is made and at each batch, and fails at the second one."""

    def __iter__(self):
        warnings.warn("begins", stacklevel=2)
        self.taken = 0
        return self

    def __next__(self):
        warnings.warn("goes on", stacklevel=2)
        self.taken += 1
        if self.taken == 2:
            raise ValueError("damaged")
        return self.taken


def test_a_traceback_and_warnings_are_those_of_the_loop_alone(tmp_path):
    # GIVEN
    line = inspect.currentframe().f_lineno + 3

    def loop():
        for _ in tfdarshan.steps(Failing()):
            pass

    # WHEN
    with tfdarshan.profile(tmp_path), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="damaged") as caught:
            loop()

    # THEN
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[1:] == ["loop", "__next__"]
    assert {(one.filename, one.lineno) for one in seen} == {(__file__, line)}


def test_the_kernel_is_asked_of_no_step_that_is_shorter_than_asking_it_may_cost():
    # GIVEN a clock, and steps of a third of that time and then of twice as long
    now, asked = [10 * ASKED_NS], []

    def kernel_reads():
        asked.append(now[0])
        return len(asked), 0

    noted = []
    log = StepLog(kernel_reads, note=lambda *step: noted.append(step), now=lambda: now[0])

    # WHEN
    for lasts_ns in [ASKED_NS // 3] * 6 + [2 * ASKED_NS] * 4:
        requested = log.request()
        log.begin_requested(requested, LOOPED_STEPS, 1)
        now[0] += lasts_ns
    log.end()

    # THEN both ends are known of each long step but the first, which begins with a short one's end
    assert [rchar for _, _, _, _, rchar, *_ in noted] == [-1] * 7 + [1, 1, 1]
    assert len(asked) == 6


def test_a_batch_is_not_kept_beyond_the_next_one():
    # GIVEN
    class Tensor:
        alive = 0

        def __init__(self):
            Tensor.alive += 1

        def __del__(self):
            Tensor.alive -= 1

    # WHEN
    most = 0
    for _ in tfdarshan.steps(Tensor() for _ in range(5)):
        most = max(most, Tensor.alive)

    # THEN
    assert most == 1


def test_a_loop_over_numbers_does_not_say_what_it_waits_for(tmp_path):
    # GIVEN a loop that takes its batches by itself
    batches = iter(Batches(3, 0.01))

    def loop():
        for _ in tfdarshan.steps(range(3)):
            next(batches)

    # THEN
    steps = recorded(tmp_path, loop)
    assert steps["step"].tolist() == [0, 1, 2]
    assert steps["input_wait_ns"].tolist() == [-1, -1, -1]
