"""How much longer the loop computes while the input's work takes processors: against closed forms."""

import numpy as np
import pytest

from tests.unit.replay.plain_network import plain_model
from tfdarshan.replay.simulate import lost_to_crowding, simulate

BATCHES = 200
# Together they need 20 ms for the four tasks of a batch.
FOUR = {"readers": 4, "tasks_per_batch": 4, "calls_ahead": 8, "work_s": 0.010, "work_serial": 0.5}


def job(*, cpus, processors=None, compute=1.0, ahead=1000, **values):
    """Make one whose reader works for 20 ms on each batch, and whose loop computes for 20 ms."""
    processors = cpus if processors is None else processors
    return plain_model(
        batches=BATCHES, batches_ahead=ahead, **{"work_s": 0.020, "compute_s": 0.020} | values,
        cpus=np.full(1, float(cpus)), processors=np.full(1, float(processors)),
        steps_compute=np.full(1, compute), processors_each=np.ones(1),
    )  # fmt: skip


def alone(model):
    """Return what of its computing the loop would do with the processors for itself."""
    lost_s, slower = lost_to_crowding(model, simulate(model))
    return np.maximum(1 - lost_s / (model.weight @ model.compute_s), 1 / slower)


@pytest.mark.parametrize(
    ("what", "times"),
    [
        ({"cpus": 1}, 2.0),
        ({"cpus": 2}, 1.0),
        # The second processor adds half of the first: both have three quarters.
        ({"cpus": 2, "processors": 1.5}, 4 / 3),
        ({"cpus": 1, "compute": 0.0}, 1.0),
        ({"cpus": 1, "ahead": 0}, 1.0),
        ({"cpus": 1, "work_s": 0.010}, 4 / 3),
        # Four readers are five with the loop, and have two processors: while they have something to do.
        (FOUR | {"cpus": 2}, 2.5),
    ],
    ids=["one", "two", "shared core", "accelerator", "not ahead", "half of the time", "four readers"],
)
def test_all_that_run_at_a_time_have_equal_shares(what, times):
    assert alone(job(**what)) == pytest.approx(1 / times, rel=0.02)


def test_readers_that_wait_for_a_lock_take_no_processor():
    locked = job(cpus=2, readers=4, work_s=0.020, work_serial=1.0)

    assert alone(locked) == pytest.approx(1.0, rel=0.02)


def test_a_loop_computes_as_much_sooner_as_less_work_is_beside_it():
    # GIVEN a loop that computes for 20 ms beside the work, and needs 10 ms alone
    before = job(cpus=1)
    before = before.but(alone=alone(before))

    # WHEN
    alone_s = simulate(before.but(work_s=np.zeros_like(before.work_s))).total_s

    # THEN
    assert alone_s == pytest.approx(BATCHES * 0.010, rel=0.02)
    assert simulate(before).total_s == pytest.approx(BATCHES * 0.020, rel=0.02)


def test_many_readers_slow_the_loop_down_only_until_their_work_is_done():
    # GIVEN a loop that computes for 20 ms beside one of 16 readers at a time, on two processors
    sixteen = {"readers": 16, "tasks_per_batch": 4, "calls_ahead": 32, "work_serial": 0.5}
    before = job(cpus=2, **sixteen, work_s=0.005)
    before = before.but(alone=alone(before))

    # WHEN the work is as much, and nothing but processors holds it back
    took_s = simulate(before.but(work_s=before.work_s * 1.5)).total_s

    # THEN the processors do all of it in no less than it takes, and not much more
    worked_s = BATCHES * 4 * 0.0075
    least_s = (worked_s + float(before.alone[0]) * BATCHES * 0.020) / 2
    assert least_s * 0.98 < took_s[0] < least_s * 1.6
