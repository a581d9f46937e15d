"""Where a step's time goes: parts that can be worked out by hand, and that add up to the step."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.findings.made_up_loaders import loader_job
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.findings import decode_bound
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.step_split import step_split
from tfdarshan.findings.verdict import make_verdict
from tfdarshan.units import percent

READER = 101
DECODING = "decoding takes longer than reading"
BUSY_OUTSIDE = "the input pipeline is busy longer outside of file calls than in them"


def split_of(session):
    return {part.name: part.seconds for part in step_split(measure(session))}


def test_a_wait_for_reads_alone_is_storage(tmp_path):
    # GIVEN ten steps of 100 ms, of which 60 are waits, in which one reader reads throughout
    calls = [(n * 100, n * 100 + 60, READER, "pread", 0, 1000, 0) for n in range(10)]

    # WHEN
    found = split_of(training(tmp_path, calls, epochs_of_steps(10, 100, 60)))

    # THEN
    assert found["storage"] == pytest.approx(0.060, rel=0.01)
    assert found["compute"] == pytest.approx(0.040, rel=0.01)
    assert found["decoding"] + found["other_wait"] + found["own_calls"] == pytest.approx(0, abs=1e-3)


def test_processor_time_is_decoding_and_the_rest_of_the_wait_is_neither(tmp_path):
    # GIVEN the same waits, of which 20 ms are reads; the job used 30 ms of processor time a step
    calls = [(n * 100, n * 100 + 20, READER, "pread", 0, 1000, 0) for n in range(10)]
    meta = {"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 0.3}}

    # WHEN
    found = split_of(training(tmp_path, calls, epochs_of_steps(10, 100, 60), meta=meta))

    # THEN
    assert found["storage"] == pytest.approx(0.020, rel=0.01)
    assert found["decoding"] == pytest.approx(0.030, rel=0.01)
    assert found["other_wait"] == pytest.approx(0.010, rel=0.02)


@pytest.mark.parametrize(
    ("cpu_ms", "others", "least_ms", "title"),
    [
        (400, 0.0, 0, BUSY_OUTSIDE),
        (405, 0.0, 5, BUSY_OUTSIDE),
        (430, 0.0, 30, DECODING),
        (400, 1.0, 90, DECODING),
        (490, 0.0, 90, DECODING),
    ],
    ids=["all of it may be computing", "less than reads", "more than reads", "others compute", "all of it"],
)
def test_what_computing_can_have_taken_of_processors_is_not_surely_decoding(
    tmp_path, cpu_ms, others, least_ms, title
):
    # GIVEN steps that wait 100 ms, 10 of them in a read, and compute for 100 ms on four processors
    calls = [(n * 200, n * 200 + 10, READER, "pread", 0, 1000, 1000 * n) for n in range(20)]
    machine = {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 20 * cpu_ms / 1e3, "others_cpus": others}
    measures = measure(
        training(tmp_path, calls, epochs_of_steps(20, 200, 100), sizes=[20_000], meta={"machine": machine})
    )

    # WHEN
    parts = {part.name: part for part in step_split(measures)}
    found = decode_bound.find(measures)

    # THEN 90 ms may be decoding, or a service that answers late
    decoding = parts["decoding"]
    assert decoding.seconds == pytest.approx(0.090, rel=0.01)
    assert decoding.seconds - decoding.open_s == pytest.approx(least_ms / 1e3, rel=0.01, abs=1e-9)
    assert decoding.label == f"waiting for decoding{' at most' if least_ms < 90 else ''}"
    assert found.title == title


def test_the_verdict_gives_file_calls_the_part_of_the_wait_that_the_bar_gives(tmp_path):
    # GIVEN steps of 100 ms that wait 6, beside which a reader reads for a fifth of the time, and decodes
    calls = [(at, at + 2, READER, "read", 0, 100_000, at * 1_000_000) for at in range(0, 2000, 10)]
    meta = {"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 1.9}}
    measures = measure(training(tmp_path, calls, epochs_of_steps(20, 100, 6), meta=meta))

    # WHEN
    parts = {part.name: part.seconds for part in step_split(measures)}
    sentence = make_verdict(measures, [], []).sentence

    # THEN calls that ran beside the steps were not waited for
    calls_part, decoding_part = (percent(parts[name], 0.1) for name in ("storage", "decoding"))
    assert parts["storage"] < 0.003 < parts["decoding"]
    assert (
        f"The wait for decoding takes at most {decoding_part} of step time, the wait for file calls "
        f"{calls_part}. No known fix is sure to save much of that time; samples that take less work to "
        "decode would." in sentence
    )


def test_what_no_file_call_explains_is_not_given_to_file_calls(tmp_path):
    # GIVEN steps of 100 ms that wait 90, beside a call of 0.2 ms every 10 ms and hardly any processor time
    calls = [(at, at + 0.2, READER, "read", 0, 100_000, at * 1_000_000) for at in range(4, 2000, 10)]
    meta = {"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 0.1}}
    measures = measure(training(tmp_path, calls, epochs_of_steps(20, 100, 90), meta=meta))

    # WHEN
    found = {part.name: part.seconds for part in step_split(measures)}

    # THEN the verdict says what the bar says
    verdict = make_verdict(measures, [], [])
    assert (
        "The wait for other work of the pipeline takes 88.0 % of step time, the wait for file calls 2.0 %. "
        "Look for locks" in verdict.sentence
    )
    assert found["storage"] == pytest.approx(0.002, rel=0.02)
    assert found["other_wait"] == pytest.approx(0.088, rel=0.1)


def test_starting_workers_is_waited_for_beside_what_they_read(tmp_path):
    # GIVEN three epochs of twelve batches, each of which begins with starting workers for 300 ms
    started, bare = loader_job(tmp_path / "started", start_ms=300), loader_job(tmp_path / "bare")

    # WHEN
    found, without = split_of(started), split_of(bare)

    # THEN it is a part of its own, and the others are as without it
    assert found.pop("worker_starts") == pytest.approx(3 * 0.300 / 36, rel=0.01)
    assert without.pop("worker_starts", 0.0) == pytest.approx(0, abs=1e-6)
    assert found == pytest.approx(without, abs=5e-4)


def test_workers_that_live_on_start_in_the_first_epoch_alone(tmp_path):
    found = split_of(loader_job(tmp_path, start_ms=300, persistent=True))

    assert found["worker_starts"] == pytest.approx(0.300 / 36, rel=0.01)


def test_a_wait_that_is_mostly_the_start_of_workers_is_said_to_be_so(tmp_path):
    # GIVEN one epoch, which leaves nothing to fix for later ones
    measures = measure(loader_job(tmp_path, start_ms=2000, epochs=1, pairs=12))

    sentence = make_verdict(measures, [], []).sentence
    assert "The wait for workers to start takes " in sentence
    assert (
        "No known fix is sure to save much of that time; workers of a program that imports less start sooner."
        in sentence
    )


def test_the_loops_own_writes_are_a_part_of_their_own(tmp_path):
    # GIVEN steps without a wait, whose loop writes for 25 ms of each
    calls = [(n * 100 + 50, n * 100 + 75, LOOP, "write", 0, 1000, 0) for n in range(10)]

    # WHEN
    found = split_of(training(tmp_path, calls, epochs_of_steps(10, 100, 0)))

    # THEN
    assert found["own_calls"] == pytest.approx(0.025, rel=0.01)
    assert found["compute"] == pytest.approx(0.075, rel=0.01)


@pytest.mark.parametrize("steps", [[], [(0, 100, -1), (100, 200, -1)]], ids=["none", "waits unknown"])
def test_nothing_is_split_where_nobody_knows_what_steps_waited(tmp_path, steps):
    calls = [(0, 60, READER, "pread", 0, 1000, 0)]

    assert step_split(measure(training(tmp_path, calls, steps))) == ()


def test_the_reads_of_a_loop_that_does_not_say_its_wait_are_its_own(tmp_path):
    # GIVEN steps of a loop over numbers, which reads for 60 ms of each, and writes for 10
    reads = [(n * 100, n * 100 + 60, LOOP, "pread", 0, 1000, 0) for n in range(10)]
    writes = [(n * 100 + 80, n * 100 + 90, LOOP, "write", 1, 1000, 0) for n in range(10)]
    steps = epochs_of_steps(10, 100, -1)

    # WHEN
    found = split_of(training(tmp_path, sorted(reads + writes), steps, paths=("/data/a", "/out/b")))

    # THEN
    assert found == {"own_calls": pytest.approx(0.07, rel=0.01), "compute": pytest.approx(0.03, rel=0.01)}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    calls=st.lists(
        st.tuples(
            st.integers(0, 900),
            st.integers(0, 150),
            st.sampled_from([LOOP, READER, 102]),
            st.sampled_from(["pread", "write", "stat", "open"]),
        ),
        min_size=1,
        max_size=30,
    ),
    wait_ms=st.integers(0, 100),
    cpu_s=st.floats(0, 10),
)
def test_the_parts_are_not_negative_and_add_up_to_the_step(tmp_path_factory, calls, wait_ms, cpu_s):
    made = [(start, start + length, tid, name, 0, 1000, 0) for start, length, tid, name in calls]
    meta = {"machine": {"cpus": 2, "memory_bytes": 1 << 30, "cpu_s": cpu_s}}
    folder = tmp_path_factory.mktemp("split")
    measures = measure(training(folder, sorted(made), epochs_of_steps(10, 100, wait_ms), meta=meta))

    parts = step_split(measures)

    assert all(part.seconds >= -1e-9 for part in parts)
    assert sum(part.seconds for part in parts) == pytest.approx(measures.model.unit_s)
