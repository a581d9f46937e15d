"""What arrays the network's C code takes: as they lie in memory, or not at all."""

import numpy as np
import pytest

from tests.unit.replay.plain_network import plain_model
from tfdarshan.native.network_run import OF_BATCHES, OF_TASKS
from tfdarshan.replay.simulate import simulate

# Epochs begin late, not batches.
TABLES = tuple(name for name in (*OF_TASKS, *OF_BATCHES) if name != "late_s")
BATCHES, EACH, SAMPLES = 6, 2, 3


def job(**values):
    return plain_model(batches=BATCHES, tasks_per_batch=EACH, samples=SAMPLES, **values)


def drawn(columns):
    """Draw times of all tasks and batches; waits are of two kinds."""
    dice = np.random.default_rng(1)
    rows = dict.fromkeys(OF_TASKS, BATCHES * EACH) | dict.fromkeys(OF_BATCHES, BATCHES) | {"late_s": 1}
    found = {name: dice.random((count, columns)) for name, count in rows.items()}
    return found | {"wait_s": dice.random((2, BATCHES * EACH, columns))}


def apart(values):
    """Lay numbers out with others between all of them, last row first."""
    room = np.full([2 * size for size in values.shape], np.nan)
    view = room[tuple(slice(None, None, -2) for _ in values.shape)]
    view[...] = values
    return view


def seconds(model):
    return simulate(model).ask_s.tolist()


@pytest.mark.parametrize("columns", [1, SAMPLES])
@pytest.mark.parametrize("laid_out", [apart, np.asfortranarray, lambda values: values.astype(">f8")])
def test_tables_count_alike_however_they_lie_in_memory(columns, laid_out):
    # GIVEN a job, and the same one whose tables have other strides, or another order of bytes
    plain = drawn(columns)
    other = {name: laid_out(values) for name, values in plain.items()}

    # WHEN / THEN
    assert seconds(job(readers=2).but(**other)) == seconds(job(readers=2).but(**plain))


@pytest.mark.parametrize("name", TABLES)
def test_one_column_counts_for_all_samples(name):
    # GIVEN a table of one column, with other numbers between its rows, and that column once a sample
    column = drawn(1)[name]
    every = np.repeat(column, SAMPLES, axis=-1)
    busy = job(transfer_s=0.5, transfer_serial=1, batches_ahead=1, compute_s=0.5)

    # WHEN
    one, each = (seconds(busy.but(**{name: values})) for values in (apart(column), every))

    # THEN it tells, in all samples alike
    assert one == each
    assert one != seconds(busy)


def test_a_sample_has_its_own_column():
    # GIVEN waits of 1, 2 and 3 s
    wait_s = np.tile([1.0, 2.0, 3.0], (1, BATCHES * EACH, 1))

    # THEN
    assert simulate(job().but(wait_s=wait_s)).total_s.tolist() == [12.0, 24.0, 36.0]


@pytest.mark.parametrize(
    ("name", "shape", "wanted"),
    [
        ("limit_s", (12,), r"\(12, 3\) or \(12, 1\)"),
        ("wait_s", (1, 11, 1), r"\(12, 3\) or \(12, 1\)"),
        ("work_s", (12, 2), r"\(12, 3\) or \(12, 1\)"),
        ("seek_s", (1, 3), r"\(12, 3\) or \(12, 1\)"),
        ("stall_s", (7, 1), r"\(6, 3\) or \(6, 1\)"),
        ("burst_s", (1,), r"\(3,\)"),
        ("wait_serial", (3, 1), r"\(3,\)"),
        ("calls_ahead", (4,), r"\(3,\)"),
    ],
)
def test_another_shape_is_refused_before_anything_is_read(name, shape, wanted):
    # GIVEN
    values = np.zeros(shape, getattr(job(), name).dtype)

    # WHEN / THEN the sentence says what it has to be
    with pytest.raises(ValueError, match=rf"^{name} has shape \(.*\): give it {wanted}\.$"):
        simulate(job().but(**{name: values}))


@pytest.mark.parametrize("name", ["readers", "calls_ahead", "batches_ahead", "in_order"])
def test_half_a_reader_is_refused(name):
    with pytest.raises(TypeError, match="Cannot cast"):
        simulate(job().but(**{name: np.full(SAMPLES, 1.5)}))


def test_an_epoch_that_is_not_there_is_refused():
    with pytest.raises(IndexError, match="out of bounds"):
        simulate(job().but(epoch=np.arange(BATCHES)))


@pytest.mark.parametrize("gone", ["batches", "samples", "tasks"])
def test_nothing_takes_no_time(gone):
    # GIVEN a job without any
    counts = {"batches": BATCHES, "tasks_per_batch": EACH, "samples": SAMPLES} | (
        {"tasks_per_batch": 0} if gone == "tasks" else {gone: 0}
    )

    # WHEN
    run = simulate(plain_model(**counts))

    # THEN
    assert run.total_s.shape == (counts["samples"],)
    assert not run.total_s.any()


def test_more_readers_than_tasks_need_no_memory():
    # GIVEN as many readers as memory has no room for
    many = job(wait_s=0.25).but(readers=np.full(SAMPLES, 1 << 60), calls_ahead=np.full(SAMPLES, 1 << 60))

    # THEN all tasks run at once
    assert simulate(many).total_s.tolist() == [0.25] * SAMPLES
