"""Batches of a validation set are no steps: TensorFlow's trace says of which iterator each batch is."""

from __future__ import annotations

import dataclasses

import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.traces.made_up_trace import IO_PLANE, MadeUpTrace, put_trace, space
from tfdarshan.sessions.schema import UNKNOWN
from tfdarshan.sessions.traces import xplane_messages
from tfdarshan.sessions.traces.batch_waits import AskedBatch, batch_waits
from tfdarshan.sessions.traces.tf_steps import HOST_PLANE, input_waits

MS = 1_000_000
TRAINING, VALIDATION, FINE_TUNING = ("Prefetch", 100), ("Batch", 50), ("Map", 70)
# Of a batch its wait, and what is computed on it, in ms.
TRAIN, EVALUATE = (2, 30), (1, 10)


def asked(*turns):
    """Return the batches of turns, each of an iterator: (data set, batches, wait and compute in ms)."""
    at, found = 0, []
    for number, (looks, count, (wait, compute)) in enumerate(turns):
        for _ in range(count):
            found.append(AskedBatch(at * MS, (at + wait) * MS, number, looks))
            at += wait + compute
    return found


def between(*turns):
    """Return for each turn whether it is between epochs."""
    flags = batch_waits(asked(*turns)).between.tolist()
    found = []
    for _, count, _ in turns:
        own, flags = flags[:count], flags[count:]
        assert len(set(own)) == 1
        found.append(own[0])
    return found


EPOCH, PASS = (TRAINING, 10, TRAIN), (VALIDATION, 5, EVALUATE)


def test_a_pass_over_a_validation_set_is_no_step():
    waits = batch_waits(asked(EPOCH, PASS, EPOCH, PASS))

    # THEN each epoch's batches are steps, the last one up to where validation asks
    assert waits.between.tolist() == [*[False] * 10, *[True] * 5] * 2
    assert [(start // MS, end // MS) for start, end, _ in waits.steps] == [
        (begin + 32 * n, begin + 32 * (n + 1)) for begin in (0, 320 + 55) for n in range(10)
    ]


@pytest.mark.parametrize(
    ("turns", "epochs"),
    [
        ([EPOCH, EPOCH], [1] * 10 + [2] * 10),
        ([EPOCH, PASS, EPOCH, PASS], [1] * 10 + [-1] * 5 + [2] * 10 + [-1] * 5),
        # validation after the last epoch alone is no epoch
        ([EPOCH, EPOCH, PASS], [1] * 10 + [2] * 10 + [-1] * 5),
        # who makes an iterator for each batch has no epochs
        ([(TRAINING, 1, TRAIN)] * 4, [-1] * 4),
    ],
)
def test_an_iterator_is_an_epoch(turns, epochs):
    assert batch_waits(asked(*turns)).epoch.tolist() == epochs


def test_each_batch_is_of_an_iterator_that_was_asked_first_at_some_time():
    # GIVEN an epoch of 320 ms, a batch of which nobody knows the iterator, and the next epoch
    batches = asked(EPOCH, (VALIDATION, 1, EVALUATE), EPOCH)
    batches[10] = AskedBatch(batches[10].start_ns, batches[10].end_ns)

    # THEN
    first_ns = batch_waits(batches).first_ns.tolist()
    assert first_ns == [*[0] * 10, UNKNOWN, *[331 * MS] * 10]


def test_data_sets_that_are_trained_on_together_have_no_epochs():
    # GIVEN batches of two iterators in turn, two of each at a time
    batches = [AskedBatch(n * 30 * MS, (n * 30 + 2) * MS, n // 2 % 2, TRAINING) for n in range(12)]

    # THEN
    assert batch_waits(batches).epoch.tolist() == [-1] * 12


@pytest.mark.parametrize(
    ("turns", "found"),
    [
        # a loop that goes over one data set alone
        ([EPOCH, EPOCH], [False, False]),
        # validation after the last epoch alone, as far as anyone knows: or one that is trained on next
        ([EPOCH, PASS], [False, False]),
        # what is trained on as long is trained on, though the job goes back
        ([EPOCH, (FINE_TUNING, 10, (2, 16)), EPOCH], [False, False, False]),
        ([EPOCH, (FINE_TUNING, 10, (2, 14)), EPOCH], [False, True, False]),
        # an epoch that is quicker is an epoch
        ([EPOCH, (TRAINING, 10, EVALUATE), EPOCH], [False, False, False]),
        # data sets of one pipeline are told apart by how many batches they have
        ([EPOCH, (TRAINING, 5, EVALUATE), EPOCH], [False, True, False]),
        # what is gone through before training is none
        ([PASS, EPOCH, EPOCH], [False, False, False]),
        # validation in the midst of an epoch
        ([EPOCH, PASS, (TRAINING, 10, TRAIN), PASS, (TRAINING, 3, TRAIN)], [False, True, False, True, False]),
        # the trace ends in the midst of validation
        ([EPOCH, PASS, EPOCH, (VALIDATION, 2, EVALUATE)], [False, True, False, True]),
    ],
)
def test_what_is_between_epochs(turns, found):
    assert between(*turns) == found


def test_data_sets_that_are_asked_in_turn_are_trained_on_together():
    turns = [(TRAINING, 1, TRAIN), (VALIDATION, 1, EVALUATE)] * 10

    assert not batch_waits(asked(*turns)).between.any()


@pytest.mark.parametrize("unknown", [0, 12])
def test_nothing_is_left_out_if_an_iterator_is_not_known(unknown):
    batches = asked(EPOCH, PASS, EPOCH)
    known = batches[unknown]
    batches[unknown] = AskedBatch(known.start_ns, known.end_ns)

    assert not batch_waits(batches).between.any()


def test_waits_that_overlap_are_one():
    waits = batch_waits([AskedBatch(10, 30, 1), AskedBatch(0, 12, 2), AskedBatch(40, 50, 1)])

    assert (waits.start_ns.tolist(), waits.end_ns.tolist()) == ([0, 40], [30, 50])


@pytest.mark.parametrize("kernel", ["IteratorGetNextOp", "IteratorGetNextAsOptionalOp"])
def test_the_iterator_is_that_of_the_event_below_the_kernels(tmp_path, kernel):
    # GIVEN kernels as TensorFlow writes them, the iterator's and its last stage's events within each
    plane = xplane_messages.Plane()
    names = [
        f"{kernel}::DoCompute",
        "Iterator::Root",
        "Iterator::Root::Prefetch",
        "Iterator::Root::Batch",
    ]
    names += ["Iterator::Root::Prefetch::Batch", "EagerExecute"]
    for number, name in enumerate(names, 1):
        plane.event_metadata[number].name = name.encode()
    for number, name in enumerate(["id", "element_size"], 1):
        plane.stat_metadata[number].name = name.encode()
    line = plane.lines.add(id=1, name=b"python", timestamp_ns=0)
    for batch in asked(EPOCH, PASS, EPOCH):
        stage = 3 if batch.looks == TRAINING else 4
        for inside, event, stat in ((0, 6, 0), (1, 1, 2), (2, 2, 1), (3, stage, 0), (4, 5, 0)):
            lasts_ns = batch.end_ns - batch.start_ns - 2 * inside
            one = line.events.add(
                metadata_id=event, offset_ps=1000 * (batch.start_ns + inside), duration_ps=1000 * lasts_ns
            )
            if stat:
                one.stats.add(metadata_id=stat, int64_value={1: batch.iterator, 2: batch.looks[1]}[stat])
    trace = put_trace(tmp_path, space({IO_PLANE: MadeUpTrace().io_plane(), HOST_PLANE: plane}))

    # THEN
    waits = input_waits(trace, 0)
    assert waits.between.tolist() == [*[False] * 10, *[True] * 5, *[False] * 10]
    assert waits.start_ns.tolist() == [batch.start_ns + 1 for batch in asked(EPOCH, PASS, EPOCH)]


def test_a_trace_in_which_nothing_asks_for_batches_does_not_say_that_steps_never_wait(tmp_path):
    # GIVEN a marked step, and a trace of its time without a batch from tf.data
    trace = put_trace(
        tmp_path, space({IO_PLANE: MadeUpTrace().io_plane(), HOST_PLANE: xplane_messages.Plane()})
    )
    job = job_of([(0, 10, 1, "read", 0, 5)], ["/data/a"], [5])
    origin_ns = 1_700_000_000_000_000_000  # of made-up sessions
    meta = {
        "tensorflow": {"trace": str(trace.relative_to(tmp_path)), "start_ns": 0},
        "steps": {"rows": [[1, origin_ns + MS, origin_ns + 5 * MS, UNKNOWN, "Keras batches"]]},
    }

    # WHEN
    steps = write_session(tmp_path, dataclasses.replace(job, meta=meta)).steps

    # THEN
    assert steps["input_wait_ns"].tolist() == [UNKNOWN]
