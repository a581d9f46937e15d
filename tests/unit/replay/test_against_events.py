"""The network in C against SimPy's events, on jobs that nobody chose."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.unit.replay.event_simulation import EventSimulation
from tests.unit.replay.plain_network import plain_model
from tfdarshan.replay.simulate import simulate

SECONDS = st.integers(0, 40).map(lambda ms: ms / 1000)
SHARES = st.integers(0, 4).map(lambda quarters: quarters / 4)


@st.composite
def jobs(draw, *, overtaking=False):
    """Draw a job; where tasks cannot overtake each other, both have to say the same."""
    batches, each = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    tasks = batches * each

    def per_task(same):
        value = draw(SECONDS)
        return value if same else np.array([draw(SECONDS) for _ in range(tasks)])[:, None]

    def per_batch():
        return np.array([draw(SECONDS) for _ in range(batches)])[:, None]

    epochs = draw(st.integers(1, min(3, batches)))
    values = {
        # Who needs no server overtakes those that wait for it.
        "transfer_s": per_task(False) + 0.001, "transfer_serial": 1.0, "seek_s": per_task(False),
        "wait_s": per_task(not overtaking), "wait_serial": 0.0 if not overtaking else draw(SHARES),
        "work_s": per_task(False), "work_serial": draw(SHARES),
        "behind_s": per_task(False), "behind_serial": draw(SHARES),
        "limit_s": per_task(False) + 0.001 if draw(st.booleans()) else 0.0, "burst_s": draw(SECONDS),
        "compute_s": per_batch(), "stall_s": per_batch(), "hand_s": per_batch(),
        "late_s": np.array([[draw(SECONDS)] for _ in range(epochs)]),
    }  # fmt: skip
    if overtaking:
        values |= {"write_s": per_batch(), "beside_s": per_batch()}
    return plain_model(
        batches=batches, tasks_per_batch=each, epochs=epochs, readers=draw(st.integers(1, 5)),
        calls_ahead=draw(st.integers(0, 7)), batches_ahead=draw(st.integers(0, 3)),
        in_order=draw(st.integers(0, 1)), **values,
    )  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True)
@given(jobs())
def test_tasks_that_keep_their_order_take_as_long_as_their_events(job):
    # WHEN
    run, (ask_s, got_s) = simulate(job), EventSimulation(job).run()

    # THEN
    assert run.ask_s[:, 0].tolist() == pytest.approx(ask_s)
    assert run.got_s[:, 0].tolist() == pytest.approx(got_s)


def test_tasks_that_overtake_each_other_take_about_as_long():
    # GIVEN jobs in which the order of service differs where several tasks, or writes, wait at a time
    errors = []

    @settings(max_examples=60, deadline=None, derandomize=True, phases=[Phase.generate])
    @given(jobs(overtaking=True))
    def compare(job):
        ask_s, _ = EventSimulation(job).run()
        errors.append(abs(np.log((simulate(job).total_s[0] + 0.001) / (ask_s[-1] + 0.001))))

    # WHEN
    compare()

    # THEN
    assert np.median(errors) < 0.1
    assert np.quantile(errors, 0.9) < 0.3


def test_tasks_that_take_next_to_nothing_pass_those_that_take_long():
    # GIVEN 200 tasks of which copies serve some; all need the processor for a moment, one at a time
    dice, errors = np.random.default_rng(0), []
    for _ in range(20):
        quick = dice.random(200) < dice.random()
        job = plain_model(
            batches=2, tasks_per_batch=100, readers=int(dice.integers(2, 17)), work_serial=1.0,
            wait_s=np.where(quick, 1e-4, dice.exponential(0.1, 200))[:, None], wait_serial=0.05,
            work_s=dice.exponential(0.002, 200)[:, None],
        )  # fmt: skip
        ask_s, _ = EventSimulation(job).run()
        errors.append(abs(np.log(simulate(job).total_s[0] / ask_s[-1])))

    # THEN a task that was told first holds up none that comes before it
    assert np.quantile(errors, 0.9) < 0.02
