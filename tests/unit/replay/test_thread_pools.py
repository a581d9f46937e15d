"""Threads that read for a loop whose short steps are marked, against a run of them worked out here."""

import heapq

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.promise import promise
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import Staged

THREADS, BATCH, STEP_MS = 4, 8, 1.0


def reads_of(taken_ms, *, in_turn, each_batch, step_ms=STEP_MS):
    """Return (start, end, thread) of each read in ms, and (start, end) of each step.

    Args:
        taken_ms: What each takes by itself.
        in_turn: Whether storage serves one at a time; else any number.
        each_batch: Whether threads wait for a batch to be asked for; else they go on.
        step_ms: What a step computes.
    """
    free, turn_ms, asked_ms = [(0.0, thread) for thread in range(THREADS)], 0.0, 0.0
    reads, steps = [], []
    for first in range(0, len(taken_ms), BATCH):
        for taken in taken_ms[first : first + BATCH]:
            at, thread = heapq.heappop(free)
            at = max(at, asked_ms) if each_batch else at
            end = max(turn_ms, at) + taken if in_turn and taken else at + taken
            turn_ms = max(turn_ms, end) if taken else turn_ms
            reads.append((at, end, thread))
            heapq.heappush(free, (end + 0.01, thread))
        got_ms = max(asked_ms, *(end for _, end, _ in reads[first:]))
        asked_ms = got_ms + step_ms
        steps.append((got_ms, asked_ms))
    return reads, steps


def sizes_of(count):
    return np.random.default_rng(1).integers(20_000, 400_000, count)


def pooled(logdir, order, taken_ms, *, within=False, **how):
    """Write the session of a pool that reads files in such an order; `within` steps they are waited for."""
    reads, steps = reads_of(taken_ms[order], **how)
    if within:
        steps = list(zip([0.0, *(end for _, end in steps)], [end for _, end in steps], strict=False))
    calls, size = [], sizes_of(len(taken_ms))
    for file, (start, end, thread) in zip(order.tolist(), reads, strict=True):
        calls += [(start, start, 200 + thread, "open", file, 0),
                  (start, end, 200 + thread, "pread", file, int(size[file]), 0),
                  (end, end, 200 + thread, "close", file, 0)]  # fmt: skip
    paths = [f"/data/{number:03}" for number in range(len(taken_ms))]
    marked = [(start, end, -1) for start, end in steps]
    session = training(logdir, sorted(calls), marked, paths=paths, sizes=[int(one) for one in size])
    return session, steps


def read_once(logdir, *, within=False, in_turn=False, each_batch=False, step_ms=STEP_MS):
    """A pool that reads 240 files once: in 10 ms and 1 ms more for each 20 kB."""
    taken_ms = 10 + sizes_of(240) / 20_000
    how = {"within": within, "in_turn": in_turn, "each_batch": each_batch, "step_ms": step_ms}
    return pooled(logdir, np.arange(240), taken_ms, **how)[0]


def once(logdir, **how):
    """Return what the session of such a pool says."""
    return facts_of(read_once(logdir, **how))


def test_the_time_between_steps_is_input_wait_for_the_verdict_too(tmp_path):
    # GIVEN steps of 1 ms behind waits of 30 ms, which nobody marks
    session = read_once(tmp_path)

    # THEN
    assert session.verdict.wait_share == pytest.approx(0.97, abs=0.01)
    assert session.verdict.sentence.startswith("Training waits for input 9")


@pytest.mark.parametrize("each_batch", [False, True])
def test_steps_that_have_their_request_within_do_not_tell_what_they_wait_for(tmp_path, each_batch):
    # GIVEN the same steps, marked from the request on: threads read all the time
    session = read_once(tmp_path, within=True, each_batch=each_batch)
    job = calibrated(facts_of(session))

    # THEN they may wait as long as files are read, and nothing says that they do not
    assert not job.facts.batches.known
    assert "f training waits for its files" in session.verdict.sentence
    assert promise(job, Staged()).high > 10


@pytest.mark.parametrize(("each_batch", "known"), [(True, True), (False, False)])
def test_steps_that_take_as_much_longer_as_their_reads_wait_for_them(tmp_path, each_batch, known):
    # GIVEN steps that compute for 30 ms, and threads that read a batch when its step begins, or go on
    session = read_once(tmp_path, within=True, each_batch=each_batch, step_ms=30.0)
    batches = facts_of(session).batches

    # THEN the reads of a step are its wait if the rest of it is as long as ever
    assert batches.known is known
    if known:
        assert batches.compute_s == pytest.approx(np.full(30, 0.030), abs=1e-3)
        assert session.verdict.wait_share == pytest.approx(batches.wait_s.sum() / batches.total_s, abs=0.01)


def test_a_save_behind_a_body_is_no_wait(tmp_path):
    # GIVEN a thread that reads all the time, and a loop that waits 10 ms for each batch and then saves
    calls, steps, at = [], [], 0.0
    for number in range(20):
        calls += [(at + 10 * n, at + 10 * n + 9, 200, "pread", number, 100, 100 * n) for n in range(6)]
        steps.append((at + 10, at + 30, -1))
        calls.append((at + 30, at + 60, LOOP, "pwrite", 20, 1000, 0))
        at += 60.0
    paths = [*(f"/data/{number:02}" for number in range(20)), "/out/weights"]
    session = training(tmp_path, sorted(calls), steps, paths=paths, sizes=[600] * 21)

    # THEN
    assert session.verdict.wait_share == pytest.approx(10 * 19 / (60 * 20 - 40), abs=0.02)


@pytest.mark.parametrize("each_batch", [False, True])
@pytest.mark.parametrize("in_turn", [False, True])
def test_threads_that_go_on_with_the_next_batch_read_across_its_beginning(tmp_path, in_turn, each_batch):
    facts = once(tmp_path, in_turn=in_turn, each_batch=each_batch)
    assert facts.pipeline.goes_on is not each_batch
    assert (calibrated(facts).model.calls_ahead > BATCH).all() != each_batch


def test_reads_that_end_as_far_apart_as_they_take_are_served_in_turn(tmp_path):
    # GIVEN four readers all the time
    in_turn, beside = (once(tmp_path / name, in_turn=name == "turn") for name in ("turn", "beside"))

    # THEN depths tell nothing, but ends do: another reader may hide in waits of three turns
    measured, low, high = in_turn.storage.serial
    assert (measured, high) == (1, 1)
    assert low == pytest.approx(1 / 4, rel=0.05)
    assert beside.storage.serial is None or beside.storage.serial[0] < 1 / 4


@pytest.mark.parametrize("in_turn", [False, True])
def test_a_part_of_the_files_on_a_fast_tier_takes_as_long_as_worked_out(tmp_path, in_turn):
    # GIVEN files that differ in how often they are read, and two in five of them copied
    dice = np.random.default_rng(2)
    order = dice.permutation(np.repeat(np.arange(240), dice.choice([1, 1, 1, 5], 240)))
    taken_ms, copied = 10 + sizes_of(240) / 20_000, dice.random(240) < 0.4
    rows = {f"/data/{number:03}": one for number, one in enumerate(copied)}
    session, before = pooled(tmp_path, order, taken_ms, in_turn=in_turn, each_batch=False)
    facts = facts_of(session)

    # WHEN
    files = np.array([rows.get(path, False) for path in facts.files.rows["path"]])
    told = promise(calibrated(facts), Staged(files=files, call_s=0.0, bytes_per_s=1e12))

    # THEN what is left is read side by side, whatever batch it is of, in what is one epoch
    steps = reads_of(np.where(copied, 0.0, taken_ms)[order], in_turn=in_turn, each_batch=False)[1]
    speedup = (before[-1][1] - before[0][0]) / (steps[-1][1] - steps[0][0])
    assert told.expected == pytest.approx(speedup, rel=0.1)
    assert told.low < speedup < told.high
    assert facts.tasks.epoch.max() == 0
