"""Small writes to storage that serves one call at a time may take nothing once its reads are gone."""

import dataclasses

import pytest

from tests.closed_readers import Delay, Queue, calls_of
from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.test_more_readers import rests
from tfdarshan.findings import staging
from tfdarshan.findings.measurement import measure
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.expectation import LEAST_LEFT
from tfdarshan.staging.whole_input import stage_all

STEP_MS, WRITE_MS, SIZE = 60.0, 8.0, 100_000


def logging_job(logdir, storage, *, alone=False):
    """Gives four readers, and a line that is logged in each step, in 8 ms, or two."""
    calls = calls_of(storage, readers=4, rest_ms=rests(3), count=800)
    made = [(start, end, reader + 1, "pread", 0, SIZE, 0) for start, end, reader, _ in calls]
    count = int(max(call[1] for call in made) // STEP_MS)
    steps = [(STEP_MS * n, STEP_MS * (n + 1), 45.0) for n in range(count)]
    for n in range(count):
        at = STEP_MS * n + 50
        made.append((at, at + WRITE_MS, LOOP, "write", 1, 8, 8 * n))
        if alone:
            made = [call for call in made if call[2] == LOOP or not at <= call[0] < at + 9.9]
            made.append((at + WRITE_MS, at + 9.9, LOOP, "write", 1, 8, 8 * n))
    paths = ["/data/train", "/data/log"]
    return measure(training(logdir, sorted(made), steps, paths=paths, sizes=[10**12, 10**6]))


@pytest.mark.parametrize(
    ("storage", "alone", "least_ms", "most_ms"),
    [(Queue(1, 5), False, 7.9, 8.1), (Queue(1, 5), True, 4.0, 7.0), (Delay(6), False, 0.0, 4.5)],
    ids=["one at a time", "some writes follow each other", "beside each other"],
)
def test_writes_that_always_follow_reads_may_be_their_arms_way_back(
    tmp_path, storage, alone, least_ms, most_ms
):
    # GIVEN writes that all take 8 ms, and reads before each of them
    measures = logging_job(tmp_path, storage, alone=alone)

    # THEN where reads are served one at a time nothing shows what a write takes without them
    assert least_ms <= measures.model.shared_writes_s * 1e3 <= most_ms
    # ... so that a copy of what is read may leave none of it
    use, facts = measures.use_and_facts
    unshared = dataclasses.replace(facts.model, shared_writes_s=0.0)
    with_writes = stage_all(use, facts, LOCAL_SSD).expected
    without = stage_all(use, dataclasses.replace(facts, model=unshared), LOCAL_SSD).expected
    assert with_writes.high_s > without.high_s
    assert with_writes.saved_s == pytest.approx(without.saved_s)


def test_of_what_is_left_writes_may_vanish(tmp_path):
    # GIVEN steps that wait for 45 of 60 ms, and write for 8 of the rest, for the reads alone
    measures = logging_job(tmp_path, Queue(1, 5))
    use, facts = measures.use_and_facts
    expected = stage_all(use, facts, LOCAL_SSD).expected

    # THEN 30 % of what else is expected to be left is left at least, and less than that of all
    left_s, writes_s = expected.epoch_s - expected.saved_s, facts.model.shared_writes_s
    least_s = expected.epoch_s - expected.high_s
    assert LEAST_LEFT * (left_s - writes_s) <= least_s < 0.9 * LEAST_LEFT * left_s


def interrupted(logdir, *, alone_ms, thread=LOOP, operation="write"):
    """Gives steps of 60 ms beside whose compute it reads twice, with writes of 8 ms, and such, after each."""
    steps: list[tuple[float, float, float]] = []
    made: list[tuple[float, float, int, str, int, int, int]] = []
    for at in range(0, 60 * 40, 60):
        steps.append((at, at + 60, 0.5))
        for read in (at, at + 25):
            made.append((read, read + 10, 1, "pread", 0, SIZE, len(made) * SIZE))
            made.append((read + 11, read + 11 + WRITE_MS, thread, operation, 1, 8, 0))
            later = [read + 11 + WRITE_MS + n * alone_ms for n in range(4)]
            made += [(one, one + alone_ms, thread, operation, 1, 8, 0) for one in later]
    paths = ["/data/train", "/data/log"]
    return measure(training(logdir, sorted(made), steps, paths=paths, sizes=[10**12, 10**6]))


@pytest.mark.parametrize(("thread", "operation"), [(7, "write"), (LOOP, "fwrite")])
def test_writes_of_other_threads_and_those_into_a_buffer_show_nothing(tmp_path, thread, operation):
    measures = interrupted(tmp_path, alone_ms=0.01, thread=thread, operation=operation)

    assert measures.model.shared_writes_s > 0
    assert measures.model.writes_for_reads_s == 0


@pytest.mark.parametrize(("alone_ms", "sooner_ms"), [(0.01, 16.0), (1.2, 13.6), (4.0, 0.0)])
def test_writes_that_no_read_interrupts_show_what_the_others_wait_for(tmp_path, alone_ms, sooner_ms):
    # GIVEN two writes a step that follow a read, in 8 ms, and eight that follow these, in less, or half
    measures = interrupted(tmp_path, alone_ms=alone_ms)

    # WHEN what is read is copied
    found = staging.find(measures)

    # THEN the two are expected to take what the eight take, and that is no wait of the steps
    assert found.gain.saved_s * 1e3 == pytest.approx(sooner_ms + 0.3, abs=0.4)
    assert found.stall_s * 1e3 == pytest.approx(sooner_ms, abs=0.2)
    assert found.gain.low_s == pytest.approx(0.0, abs=1e-3)
    said = [one for one in found.gain.assumptions if "writes wait" in one.claim]
    assert [(one.claim, one.support.split(" ms ")[1], one.refuted_by) for one in said] == [
        (
            "the training loop's writes wait for these reads",
            "a step; those with no read between are quick",
            "they take as long without these",
        )
    ] * (sooner_ms > 0)
