"""Page faults on mapped files as calls of a job's tasks, against what was written."""

import numpy as np
import pytest

from tests.unit.findings.made_up_mapped import PATH, loop_faults, mapped_training, without_calls
from tests.unit.findings.made_up_training import epochs_of_steps
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.job_model import READ
from tfdarshan.replay.session_facts import facts_of

MB, WINDOW = 1 << 20, 128 << 10
STEPS = epochs_of_steps(50, 20.0, 10.0)
RANDOM = loop_faults(50, 20.0, 2.5, 4, jump=MB)


def test_a_fault_that_waited_is_a_read_of_its_batch(tmp_path):
    # GIVEN four faults of 2.5 ms a step that jump about, which brought 128 KiB each, and quick ones
    quick = [(20 * n + 12, 20 * n + 12.01, 100, n * 4096) for n in range(50)]
    facts = facts_of(mapped_training(tmp_path, [*RANDOM, *quick], STEPS, bytes_in=200 * WINDOW))

    # THEN
    assert facts.batch.tolist() == np.repeat(np.arange(50), 4).tolist()
    assert facts.tasks.call_s[READ].sum() == pytest.approx(0.5)
    assert facts.tasks.size.sum() == pytest.approx(200 * WINDOW)
    assert facts.tasks.jumps.sum() >= 199
    assert facts.pipeline.loop_reads
    assert facts.tasks.epoch.max() == 0


def test_faults_in_order_go_on_where_the_last_one_ended(tmp_path):
    in_order = loop_faults(50, 20.0, 2.5, 4, jump=WINDOW)

    tasks = facts_of(mapped_training(tmp_path, in_order, STEPS, bytes_in=200 * WINDOW)).tasks

    assert tasks.size.tolist() == [WINDOW] * 200
    assert tasks.jumps.sum() == 1


def test_what_came_in_may_be_unknown(tmp_path):
    tasks = facts_of(mapped_training(tmp_path, RANDOM, STEPS, bytes_in=-1)).tasks

    assert tasks.size.tolist() == [WINDOW] * 200


def test_threads_that_wait_in_faults_are_readers(tmp_path):
    # GIVEN two threads that always wait
    faults = [(5 * n, 5 * n + 5, tid, (n * 2 + tid) * MB) for n in range(200) for tid in (7, 8)]

    pipeline = facts_of(mapped_training(tmp_path, faults, STEPS)).pipeline

    assert pipeline.readers == pytest.approx(2, rel=0.01)
    assert not pipeline.loop_reads


def test_a_job_that_only_faults_is_reproduced(tmp_path):
    job = calibrated(facts_of(without_calls(mapped_training(tmp_path, RANDOM, STEPS))))

    assert job.reproduces
    assert job.run.wait_s == pytest.approx(np.full(64, 0.5), rel=0.03)


def test_faults_that_were_seen_stand_for_all(tmp_path):
    # GIVEN that a quarter of the faults happened while they were seen
    half = {"sampled_ns": 2, "sampled_faults": 25}
    faults = loop_faults(50, 20.0, 2.5, 1, jump=MB)
    tasks = facts_of(mapped_training(tmp_path, faults, STEPS, bytes_in=50 * WINDOW, block=half)).tasks

    assert tasks.calls[READ].tolist() == pytest.approx([4] * 50)
    assert tasks.call_s[READ].sum() == pytest.approx(0.5)
    assert tasks.size.sum() == pytest.approx(50 * WINDOW)


def test_a_program_s_faults_are_no_input(tmp_path):
    session = mapped_training(
        tmp_path, RANDOM, STEPS, path="/usr/lib/libc.so.6", calls=[(1, 2, 100, "read", 0, 10)]
    )

    assert len(facts_of(session).tasks) == 0
    assert PATH not in set(facts_of(session).files.rows["path"])
