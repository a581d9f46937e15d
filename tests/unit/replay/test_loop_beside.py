"""A loop of Python that computes while threads read, and marks no step: against times worked out by hand."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.replay.made_up_jobs import SIZE
from tfdarshan.replay.calibrate import ModelledJob, calibrated
from tfdarshan.replay.edits import Readers
from tfdarshan.replay.promise import promise
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import Staged


def read_by(logdir, *, threads, cpu_s) -> ModelledJob:
    """Return a job of 200 files, read for 10 ms each by threads without a pause, and 300 ms behind them."""
    each, calls = 200 // len(threads), []
    for turn in range(each):
        for place, thread in enumerate(threads):
            file, begin, end = turn * len(threads) + place, 10 * turn, 10 * turn + 10
            calls += [(begin, begin, thread, "open", file, 0), (begin, end, thread, "pread", file, SIZE, 0),
                      (end, end, thread, "close", file, 0)]  # fmt: skip
    machine = {"cpus": 2.0, "memory_bytes": 1 << 34, "cpu_s": cpu_s, "others_cpus": 0.0}
    paths = [f"/data/{number:03}" for number in range(200)]
    session = training(
        logdir, calls, paths=paths, sizes=[SIZE] * 200, duration_ms=10 * each + 300, meta={"machine": machine}
    )
    return calibrated(facts_of(session))


def test_what_follows_the_last_read_is_the_job_s(tmp_path):
    assert read_by(tmp_path, threads=(200, 201), cpu_s=0.1).facts.batches.total_s == pytest.approx(1.3)


def test_a_loop_that_keeps_a_processor_busy_takes_as_long_with_quick_reads(tmp_path):
    # GIVEN 1.3 s of which readers have no time to work, and 1.2 s of processor time
    job = read_by(tmp_path, threads=(200, 201), cpu_s=1.2)

    # THEN the loop's thread still takes these
    assert promise(job, Staged()).expected == pytest.approx(1.3 / 1.2, rel=0.02)
    assert promise(job, Readers(16)).expected < 1.3 / 1.2 * 1.02


def test_a_loop_that_hardly_works_may_compute_on_an_accelerator_meanwhile(tmp_path):
    # GIVEN readers that keep it from nothing but 0.3 s
    found = promise(read_by(tmp_path, threads=(200, 201), cpu_s=0.1), Staged())

    # THEN it may have computed all the time, half of it, or not at all
    assert found.low == pytest.approx(1, abs=0.07)
    assert found.expected == pytest.approx(2, rel=0.1)
    assert found.high > 1.3 / 0.3 * 0.9


def test_more_than_a_thread_can_do_is_the_work_of_several(tmp_path):
    # GIVEN 2.4 s of processor time in 1.3 s
    job = read_by(tmp_path, threads=(200, 201), cpu_s=2.4)

    # THEN nothing tells how much of it runs at a time at most but the two processors
    assert job.model.loop_s == pytest.approx(1.3 * job.drawn["hidden_steps"])


def test_a_loop_that_reads_itself_computes_beside_nothing(tmp_path):
    job = read_by(tmp_path, threads=(LOOP,), cpu_s=2.0)
    assert not job.model.loop_s.any()
