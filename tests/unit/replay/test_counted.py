"""Jobs of whose calls counters alone are known."""

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.replay.made_up_jobs import SIZE, file_job
from tfdarshan.analysis.calls import session_calls
from tfdarshan.formats.export.darshan_log import export_darshan
from tfdarshan.formats.importing.darshan_log import import_darshan
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.counted_tasks import CountedFiles, counted_tasks
from tfdarshan.replay.edits import CacheInMemory
from tfdarshan.replay.job_model import OPEN, READ
from tfdarshan.replay.loop_edits import BackgroundSaves
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.promise import promise, speedups
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import Staged
from tfdarshan.replay.thinned_facts import kept_batches
from tfdarshan.session import open_session
from tfdarshan.thresholds import THRESHOLD


@pytest.fixture(autouse=True)
def _no_calls_in_memory(monkeypatch):
    monkeypatch.setattr(session_calls, "KEPT_CALLS", 0)


def test_counters_say_how_much_each_task_reads(tmp_path):
    # GIVEN two epochs of 8 batches of 4 files, each opened for 2 ms and read for 8 ms
    facts = facts_of(file_job(tmp_path))

    # THEN
    assert facts.counted
    assert len(facts.batch) == 64
    assert np.bincount(facts.batch).tolist() == [4] * 16
    assert facts.tasks.epoch.tolist() == [0] * 32 + [1] * 32
    assert facts.tasks.call_s[OPEN] == pytest.approx(np.full(64, 0.002))
    assert facts.tasks.first_opens == pytest.approx(np.full(64, 0.5))
    assert facts.tasks.call_s[READ] == pytest.approx(np.full(64, 0.008))
    assert facts.tasks.size == pytest.approx(np.full(64, SIZE))


def test_steps_keep_their_waits_without_a_trace(tmp_path):
    # GIVEN batches that wait for 60 ms, of which 20 ms is decoding, and compute for 20 ms
    job = calibrated(facts_of(file_job(tmp_path, decode_ms=5)))

    # THEN staging saves the 40 ms of calls, and a cache one of two epochs
    assert job.run.wait_s == pytest.approx(np.full(64, 16 * 0.060), rel=0.03)
    assert np.median(speedups(job, Staged())) == pytest.approx(80 / 40, rel=0.05)
    assert np.median(speedups(job, CacheInMemory())) == pytest.approx(160 / 100, rel=0.02)


def test_promises_of_counters_are_open(tmp_path):
    assert not promise(calibrated(facts_of(file_job(tmp_path))), Staged()).firm


@pytest.mark.usefixtures("pydarshan")
def test_without_steps_calls_are_waited_for_or_run_beside_computing(tmp_path):
    # GIVEN a log of a loop that reads for 40 ms, and computes for 40 ms
    session = file_job(tmp_path / "job", compute_ms=40)
    export_darshan(session, tmp_path / "job.darshan")
    facts = facts_of(open_session(import_darshan(tmp_path / "job.darshan", tmp_path / "logs").path))
    assert facts.counted
    assert not facts.batches.known
    assert facts.batches.wait_s.sum() == pytest.approx(facts.batches.total_s / 2, rel=0.02)

    # WHEN
    found = promise(calibrated(facts), Staged())

    # THEN the promise is "up to" what a loop that waits would gain
    assert found.low == pytest.approx(1.0, abs=0.1)
    assert found.high == pytest.approx(2.0, rel=0.3)


def test_a_long_job_stands_for_as_much_as_its_counters_say(tmp_path):
    # GIVEN 4,800 tasks
    facts = facts_of(file_job(tmp_path, batches=60, files=40))

    # THEN
    weight = facts.batches.weight
    assert len(facts.batch) < 1.5 * SETTING["most_tasks"]
    assert weight.sum() == pytest.approx(120)
    assert weight[facts.batch] @ facts.tasks.call_s[READ] == pytest.approx(4800 * 0.008)
    assert weight[facts.batch] @ facts.tasks.size == pytest.approx(4800 * SIZE)
    assert weight @ facts.batches.recorded_s == pytest.approx(120 * 0.420, rel=0.05)


def test_a_large_output_file_is_a_save(tmp_path):
    # GIVEN four batches, after two of which 50 ms are written
    calls: list[tuple] = [(100 * n, 100 * n + 40, LOOP, "pread", 0, SIZE, n * SIZE) for n in range(4)]
    calls += [(100 * n + 45, 100 * n + 95, LOOP, "write", n, 4 << 20) for n in (1, 3)]
    steps = [(100 * n, 100 * n + 45, 40) for n in range(4)]
    session = training(
        tmp_path, calls, steps, paths=[f"/data/{n}" for n in range(4)], sizes=[4 * SIZE] * 4, duration_ms=400
    )

    # WHEN
    facts = facts_of(session)

    # THEN
    assert (facts.batches.write_bytes > THRESHOLD["save"]).sum() == 2
    assert facts.batches.write_s.sum() > 0.050
    assert promise(calibrated(facts), BackgroundSaves()).expected > 1.1


def test_a_job_without_calls_only_computes(tmp_path):
    # GIVEN steps that wait for what no call explains
    job = calibrated(facts_of(training(tmp_path, [], [(0, 10, 1), (10, 20, 1)])))

    # THEN no copy helps
    assert len(job.facts.batch) == 0
    assert promise(job, Staged()).expected == pytest.approx(1.0)


def test_a_log_of_millions_of_calls_is_a_few_thousand_tasks():
    # GIVEN ten million reads of 1,000 files in 300 batches
    calls, call_s = np.zeros((4, 1000)), np.zeros((4, 1000))
    calls[READ], call_s[READ] = 10_000, 20.0
    size = np.full(1000, 1e8)
    counted = CountedFiles(np.arange(1000), calls, calls[OPEN], call_s, size, size)
    weight = kept_batches(np.zeros(300, int), 8, 4167)

    # WHEN
    tasks, batch = counted_tasks(counted, weight, np.arange(300.0))

    # THEN they read as much
    assert len(batch) <= 2 * SETTING["most_tasks"]
    assert set(batch.tolist()) == set(range(np.count_nonzero(weight)))
    assert weight[weight > 0][batch] @ tasks.call_s[READ] == pytest.approx(20_000)
    assert weight[weight > 0][batch] @ tasks.calls[READ] == pytest.approx(1e7)
