"""What a stall of the loop costs: not what the input pipeline does beside it."""

import dataclasses

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.analysis.step_model import StepModel
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.whole_input import stage_all

MB = 1 << 20
STALL_MS, EVERY, ROUNDS = 200.0, 5, 8


def job(logdir, operation, length, *, reads_beside, output="/out/model", quick_ms=20):
    """Gives steps of 100 ms that wait 50; each fifth then stands still for 200 ms in calls of its loop."""
    at, steps, calls = 0.0, [], []
    for number in range(EVERY * ROUNDS):
        stall = STALL_MS if number % EVERY == EVERY - 1 else 0.0
        end = at + 100 + stall
        steps.append((at, end, 50.0))
        reads = 10 + int(stall / 10 if reads_beside else 0)
        calls += [(at + 10 * n, at + 10 * n + 10, 1, "pread", 0, MB, n * MB) for n in range(reads)]
        for n in range(int(stall / 20)):
            written = at + 100 + 20 * n
            calls.append(
                (written, written + (20 if n % 5 else quick_ms), LOOP, operation, 1, length, n * length)
            )
        at = end
    paths = ["/data/train", output]
    return training(logdir, sorted(calls), steps, paths=paths, sizes=[10**12, 10**10])


@pytest.mark.parametrize(
    ("operation", "length", "name", "share"),
    [
        ("write", 4 * MB, "checkpoint_stall", 0.7),
        ("fsync", 0, "fsync", 0.95),
        ("write", 100, "small_writes", 0.95),
    ],
)
def test_input_that_goes_on_beside_a_stall_is_not_saved_with_it(tmp_path, operation, length, name, share):
    # GIVEN one reader that never rests, and one that rests while the loop stands still
    sessions = [
        job(tmp_path / str(beside), operation, length, reads_beside=beside) for beside in (True, False)
    ]

    # WHEN
    busy, resting = ([one for one in diagnose(session).findings if one.name == name] for session in sessions)

    # THEN 200 of 700 ms give nothing where the input takes as long anyway, and all where it does not
    assert not [one for one in busy if one.kind == "problem"]
    assert all(one.gain.speedup < 1.05 for one in busy)
    assert resting[0].kind == "problem"
    assert resting[0].gain.speedup == pytest.approx(700 / (700 - share * 200), rel=0.05)


@pytest.mark.parametrize(
    ("wait_ms", "saved_ms"),
    # By their pace the calls beside the stall, 10 of its 20 ms, have to be made up for. But 30 ms of calls
    # need no step of 60 ms: where batches are ready the reader may only have had nothing more to do.
    [(0.5, 10 + 5), (6.0, 10)],
    ids=["batches are ready", "steps wait"],
)
def test_a_pipeline_that_waits_for_the_steps_may_be_as_quick_as_its_calls(tmp_path, wait_ms, saved_ms):
    # GIVEN steps of 60 ms, the last 20 of which the loop writes
    steps, calls = [], []
    for at in range(0, 40 * 60, 60):
        steps.append((at, at + 60, wait_ms))
        reads = [(at, at + 20), (at + 45, at + 55)]
        calls += [(*one, 1, "pread", 0, MB, n * MB) for n, one in enumerate(reads)]
        calls += [(at + 40 + n, at + 41 + n, LOOP, "write", 1, 100, n * 100) for n in range(20)]
    session = training(
        tmp_path, sorted(calls), steps, paths=["/data/train", "/out/log"], sizes=[10**12, 10**6]
    )

    # WHEN
    found = next(one for one in diagnose(session).findings if one.name == "small_writes")

    # THEN half of what the calls alone leave room for is expected, and no more is certain
    assert found.gain.saved_s * 1e3 == pytest.approx(saved_ms * 0.95, rel=0.07)
    assert found.gain.low_s * 1e3 < 6


@pytest.mark.parametrize(
    ("output", "beside", "shared_ms"),
    # Writes of 200 ms in each fifth step, in turn with a reader that works beside or half of that.
    [("/data/model", True, 20.0), ("/data/model", False, 13.3), ("/out/model", True, 0.0)],
    ids=["reads throughout", "reads beside some of it", "elsewhere"],
)
def test_writes_to_the_inputs_storage_may_be_quicker_without_its_reads(tmp_path, output, beside, shared_ms):
    measures = measure(job(tmp_path, "write", 4 * MB, reads_beside=beside, output=output))

    # THEN what makes no such reads may save that, too
    def most_s(model):
        calls = measures.input_calls
        return dataclasses.replace(measures, model=model).without(calls, 0.5, 0.9, 1.0, ())[0].high_s

    alone = dataclasses.replace(measures.model, shared_writes_s=0.0)
    assert measures.model.shared_writes_s * 1e3 == pytest.approx(shared_ms, abs=3)
    assert (most_s(measures.model) - most_s(alone)) * 1e3 == pytest.approx(shared_ms, abs=3)
    # ... and so may a copy
    use, facts = measures.use_and_facts
    found = (
        stage_all(use, one, LOCAL_SSD).expected
        for one in (facts, dataclasses.replace(facts, model=alone_of(facts)))
    )
    shared, unshared = (expected.high_s for expected in found)
    assert (shared > unshared) is (shared_ms > 0)


@pytest.mark.parametrize(
    ("length", "quick_ms", "shared_ms"),
    # Others take 160 ms in each fifth step; in turn with a reader that never rests a write gets half of it.
    [(100, 0.1, 32.0), (100, 20, 20.0), (4 * MB, 0.1, 16.0)],
    ids=["some find nobody in front of them", "all take as long", "they are larger than a read"],
)
def test_a_small_write_waits_for_the_reads_in_front_of_it(tmp_path, length, quick_ms, shared_ms):
    # GIVEN writes of 20 ms beside a reader that never rests, and every fifth of them quick or not
    measures = measure(
        job(tmp_path, "write", length, reads_beside=True, output="/data/log", quick_ms=quick_ms)
    )

    # THEN without the reads each may be as quick as these
    assert measures.model.shared_writes_s * 1e3 == pytest.approx(shared_ms, rel=0.03)


def alone_of(facts):
    return dataclasses.replace(facts.model, shared_writes_s=0.0)


def test_the_arithmetic_of_a_stall_beside_input():
    # GIVEN a step of 10 s that waits 4 s, beside whose other 6 s the pipeline works at half its pace
    model = StepModel(
        unit="step", units=1, unit_s=10.0, wait_s=4.0, most_wait_s=4.0, overlap=0.5, storage_s=6.0,
        readers=1.0, busy_share=1.0,
    )  # fmt: skip

    # THEN of a stall of 2 s all is saved, half of it, or none, as the pipeline worked in it
    assert [model.saved_s(0, 2.0, pace) for pace in (0, 0.5, 1)] == pytest.approx([2, 1, 0])
    # and what the pipeline takes less comes on top, up to the wait
    assert model.saved_s(3.0, 2.0, 0.5) == pytest.approx(4.0)
    assert model.saved_s(9.0, 2.0, 0.5) == pytest.approx(6.0)
