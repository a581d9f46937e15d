"""What a session says of its job, against what was written into it."""

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.replay.made_up_jobs import SIZE, file_job
from tests.unit.replay.made_up_writes import epochs_that_save
from tfdarshan.analysis.steps.unsaid_waits import read_in_pauses
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import Readers
from tfdarshan.replay.job_model import OPEN, READ
from tfdarshan.replay.promise import promise
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import Staged


def test_batches_have_their_waits_and_computing(tmp_path):
    # GIVEN 16 batches of four files of 10 ms each, and 20 ms of compute
    facts = facts_of(file_job(tmp_path))

    # THEN
    assert facts.batches.wait_s.tolist() == pytest.approx([0.040] * 16)
    assert facts.batches.compute_s.tolist() == pytest.approx([0.020] * 16)
    assert facts.batches.total_s == pytest.approx(16 * 0.060)
    assert facts.batches.known


def test_a_file_that_is_opened_and_read_is_a_task_of_its_batch(tmp_path):
    facts = facts_of(file_job(tmp_path))
    assert facts.batch.tolist() == np.repeat(np.arange(16), 4).tolist()
    assert facts.tasks.calls[READ].tolist() == [1] * 64
    assert facts.tasks.call_s[OPEN].tolist() == pytest.approx([0.002] * 64)
    assert facts.tasks.call_s[READ].tolist() == pytest.approx([0.008] * 64)
    assert facts.tasks.size.tolist() == [SIZE] * 64


def test_a_second_pass_is_a_second_epoch(tmp_path):
    facts = facts_of(file_job(tmp_path))
    assert facts.tasks.epoch.tolist() == [0] * 32 + [1] * 32
    assert facts.batches.epoch.tolist() == [0] * 8 + [1] * 8


def test_the_loop_s_own_thread_reads(tmp_path):
    pipeline = facts_of(file_job(tmp_path)).pipeline
    assert pipeline.loop_reads
    assert pipeline.readers == pytest.approx(1)
    assert pipeline.beside == pytest.approx(0, abs=1e-6)
    assert not pipeline.framework


def test_a_set_that_only_pauses_read_is_no_input_of_steps(tmp_path):
    # GIVEN ten steps, and a pause of 300 ms in which ten other files are read for 20 ms each
    calls = [(100 * n, 100 * n + 10, LOOP, "pread", n, SIZE, 0) for n in range(10)]
    calls += [(500 + 20 * n, 520 + 20 * n, LOOP, "pread", 10 + n, SIZE, 0) for n in range(10)]
    calls = [
        call if call[4] >= 10 or call[4] < 5 else (call[0] + 300, call[1] + 300, *call[2:]) for call in calls
    ]
    steps = [(100 * n + 300 * (n >= 5), 100 * n + 100 + 300 * (n >= 5), 10) for n in range(10)]
    session = training(tmp_path, calls, steps, paths=[f"/data/{n}" for n in range(20)], sizes=[SIZE] * 20)

    # WHEN
    facts = facts_of(session)

    # THEN
    assert len(facts.batch) == 10
    assert facts.batches.validation_s.sum() == pytest.approx(0.2)
    assert facts.batches.pause_s.sum() == pytest.approx(0.1)
    assert facts.batches.wait_s.sum() == pytest.approx(0.1)


def test_what_follows_the_last_step_is_the_loop_s_time(tmp_path):
    # GIVEN five steps of 100 ms; then five other files are read for 20 ms each, and output takes 30 ms
    calls = [(100 * n, 100 * n + 10, LOOP, "pread", n, SIZE, 0) for n in range(5)]
    calls += [(520 + 20 * n, 540 + 20 * n, LOOP, "pread", 5 + n, SIZE, 0) for n in range(5)]
    calls += [(620, 650, LOOP, "pwrite", 10, SIZE, 0)]
    paths = [*(f"/data/{n}" for n in range(10)), "/out/weights"]
    steps = [(100 * n, 100 * n + 100, 10) for n in range(5)]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 11)

    # WHEN
    batches = facts_of(session).batches

    # THEN
    assert batches.total_s == pytest.approx(0.65)
    assert batches.validation_s.tolist() == pytest.approx([0, 0, 0, 0, 0.1])
    assert batches.write_s.sum() == pytest.approx(0.03)


def test_what_the_loop_writes_is_no_computing(tmp_path):
    # GIVEN a step of which 30 ms are a write of its own, and one beside which another thread writes
    calls = [(100 * n, 100 * n + 10, LOOP, "pread", 0, SIZE, n * SIZE) for n in range(10)]
    calls += [(220, 250, LOOP, "write", 1, 4096, 0), (420, 450, LOOP + 1, "write", 1, 4096, 4096)]
    steps = [(100 * n, 100 * n + 100, 10) for n in range(10)]
    session = training(tmp_path, calls, steps, paths=["/data/a", "/out/log"], sizes=[10 * SIZE, 8192])

    # WHEN
    batches = facts_of(session).batches

    # THEN
    assert batches.write_s.tolist() == pytest.approx([0, 0, 0.030, *[0] * 7])
    assert batches.beside_s.tolist() == pytest.approx([0] * 4 + [0.030, *[0] * 5])
    assert batches.compute_s[2] == pytest.approx(0.060)
    assert batches.compute_s[4] == pytest.approx(0.090)


def test_a_save_of_other_threads_is_waited_for_as_far_as_its_step_is_longer(tmp_path):
    # GIVEN a step of 300 ms among others of 100, during which 16 MB are written
    calls = [(100 * n, 100 * n + 10, LOOP, "pread", 0, SIZE, n * SIZE) for n in range(9)]
    calls += [(820, 1080, LOOP + 1, "write", 1, 16_000_000, 0)]
    steps = [(100 * n, 100 * n + 100, 10) for n in range(8)] + [(800, 1100, 10)]
    session = training(tmp_path, calls, steps, paths=["/data/a", "/out/model"], sizes=[9 * SIZE, 16_000_000])

    # WHEN
    batches = facts_of(session).batches

    # THEN
    assert batches.write_s[8] == pytest.approx(0.2)
    assert batches.compute_s[8] == pytest.approx(0.09)


@pytest.mark.parametrize("saver", [LOOP, LOOP + 1])
@pytest.mark.parametrize("reads", [True, False])
def test_a_save_behind_a_validation_is_no_longer_than_itself(tmp_path, saver, reads):
    # WHEN
    batches = facts_of(epochs_that_save(tmp_path, saver=saver, reads=reads)).batches

    # THEN nothing tells whether training waited for the end of the last save
    saves = np.arange(19, 180, 20)
    assert batches.write_s[saves] == pytest.approx(np.full(9, 0.200))
    assert batches.validation_s[saves] == pytest.approx(np.full(9, 3.9 * reads))
    assert batches.stall_s[saves] == pytest.approx(np.full(9, 4.0))
    assert batches.compute_s == pytest.approx(np.full(200, 0.090))


def test_a_save_beside_a_validation_is_waited_for_as_far_as_nothing_is_read(tmp_path):
    # GIVEN a pause of 300 ms, 200 of which another thread writes for, and 150 of these other files are read
    begins = [100 * n + 300 * (n > 4) for n in range(10)]
    calls = [(at, at + 10, LOOP, "pread", 0, SIZE, n * SIZE) for n, at in enumerate(begins)]
    calls += [(500, 650, LOOP, "pread", 1, SIZE, 0), (500, 700, LOOP + 1, "write", 2, 16_000_000, 0)]
    steps = [(at, at + 100, 10) for at in begins]
    paths = ["/data/a", "/data/b", "/out/model"]
    session = training(tmp_path, sorted(calls), steps, paths=paths, sizes=[10 * SIZE, SIZE, 16_000_000])

    # WHEN
    batches = facts_of(session).batches

    # THEN
    assert (batches.write_s[4], batches.validation_s[4], batches.pause_s[4]) == pytest.approx(
        (0.05, 0.15, 0.1)
    )


def test_a_step_of_several_batches_waits_as_long_as_it_says(tmp_path):
    # GIVEN 20 steps of eight batches, each of which the loop reads for 100 ms and computes with for 100
    calls = [(200 * n, 200 * n + 100, LOOP, "pread", n, SIZE, 0) for n in range(160)]
    steps = [(at, at + 1600, 800) for at in range(0, 32_000, 1600)]
    paths = [f"/data/{n:03}" for n in range(160)]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 160)

    # WHEN
    batches = facts_of(session).batches

    # THEN its reads behind the first 800 ms are part of these
    assert batches.wait_s.tolist() == pytest.approx([0.8] * 20)
    assert batches.compute_s.tolist() == pytest.approx([0.8] * 20)


@pytest.mark.parametrize("reader", [LOOP, LOOP + 1])
def test_the_loop_waits_for_what_it_reads_beyond_its_waits(tmp_path, reader):
    # GIVEN steps of 100 ms that wait for a read of 10 ms; the loop reads for another 30 of them
    begins = [(100 * n + at, LOOP if at else reader, n) for n in range(10) for at in (0, 20, 40, 60)]
    calls = [(at, at + 10, by, "pread", n, SIZE, 0) for at, by, n in begins]
    steps = [(100 * n, 100 * n + 100, 10) for n in range(10)]
    paths = [f"/data/{n}" for n in range(10)]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[4 * SIZE] * 10)

    # WHEN
    batches = facts_of(session).batches

    # THEN
    assert batches.wait_s.tolist() == pytest.approx([0.04] * 10)
    assert batches.compute_s.tolist() == pytest.approx([0.06] * 10)


def test_what_the_loop_reads_while_the_gpu_works_is_hidden(tmp_path):
    # GIVEN steps of 110 ms in which the loop reads for 100, and the GPU is idle for 5
    calls = [(110 * n, 110 * n + 100, LOOP, "pread", n, SIZE, 0) for n in range(40)]
    steps = [(110 * n, 110 * n + 110, 100, 5) for n in range(40)]
    paths = [f"/data/{n}" for n in range(40)]

    # WHEN
    batches = facts_of(training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 40)).batches

    # THEN the last one ends on the processor
    assert batches.wait_s.tolist() == pytest.approx([0.005] * 40)
    assert batches.compute_s.tolist() == pytest.approx([0.105] * 39 + [0.010])


def test_what_the_loop_reads_before_a_line_of_its_log_it_waits_for(tmp_path):
    # GIVEN steps of 20 ms, marked around the body; before each four reads of 10 ms, and a write of 1
    calls: list[tuple] = []
    steps = []
    for number, at in enumerate(range(0, 16 * 61, 61)):
        calls += [(at + 10 * n, at + 10 * n + 10, LOOP, "pread", number, SIZE, n * SIZE) for n in range(4)]
        calls.append((at + 40, at + 41, LOOP, "write", 16, 100, 100 * number))
        steps.append((at + 41, at + 61, -1))
    paths = [*(f"/data/{number:02}" for number in range(16)), "/out/log"]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[4 * SIZE] * 16 + [1600])

    # WHEN
    job = calibrated(facts_of(session))

    # THEN the reads before the first step are of no step
    batches = job.facts.batches
    assert batches.wait_s.sum() == pytest.approx(15 * 0.040)
    assert batches.compute_s == pytest.approx(np.full(16, 0.020))
    assert batches.write_s.sum() == pytest.approx(15 * 0.001)
    assert batches.pause_s == pytest.approx(np.zeros(16))
    assert promise(job, Staged()).expected == pytest.approx((15 * 61 + 20) / (15 * 21 + 20), rel=0.15)


def test_a_step_that_computes_nothing_waits_for_its_batch(tmp_path):
    # GIVEN steps that compute for 0, 30 and 60 ms in turn, each behind a read of 40 ms
    calls, steps, at = [], [], 0
    for number in range(15):
        computed = 30 * (number % 3)
        calls.append((at, at + 40, LOOP, "pread", number, SIZE, 0))
        steps.append((at, at + 40 + computed, 40))
        at += 40 + computed
    paths = [f"/data/{number:02}" for number in range(15)]

    # WHEN
    job = calibrated(facts_of(training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 15)))

    # THEN
    assert job.facts.batches.wait_s == pytest.approx(np.full(15, 0.040))
    assert job.facts.batches.compute_s == pytest.approx(0.030 * (np.arange(15) % 3))
    assert promise(job, Staged()).expected == pytest.approx((15 * 40 + 5 * 90) / (5 * 90), rel=0.15)


def test_what_the_loop_keeps_itself_is_read_for_the_batches_of_its_first_epoch(tmp_path):
    # GIVEN eight batches of two files of 10 ms each, or of six, and as many that find theirs in a dictionary
    calls, steps, at = [], [], 0
    counts = [2, 6] * 4 + [0] * 8
    for number, count in enumerate(counts):
        first = sum(counts[:number])
        calls += [(at + 10 * n, at + 10 * n + 10, LOOP, "pread", first + n, SIZE, 0) for n in range(count)]
        steps.append((at, at + 10 * count + 20, 10 * count))
        at += 10 * count + 20
    paths = [f"/data/{number:02}" for number in range(32)]

    # WHEN
    facts = facts_of(training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 32))

    # THEN
    assert facts.batch.tolist() == np.repeat(np.arange(16), counts).tolist()


def test_a_validation_in_front_of_a_batch_that_is_read_between_marked_bodies_is_none_of_it(tmp_path):
    # GIVEN three epochs of 20 steps of 60 ms behind four files of 10 ms; between epochs 100 others are read
    calls: list[tuple] = []
    steps, at = [], 0
    for number in range(60):
        validated = range(80, 180) if number in (20, 40) else ()
        for file in (*validated, *range(4 * (number % 20), 4 * (number % 20) + 4)):
            calls.append((at, at + 10, LOOP, "pread", file, SIZE, 0))
            at += 10
        steps.append((at, at + 60, -1))
        at += 60
    paths = [f"/data/{number:03}" for number in range(180)]

    # WHEN
    job = calibrated(facts_of(training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 180)))

    # THEN readers that are ahead of the steps do not shorten it
    assert job.facts.batches.validation_s.sum() == pytest.approx(2 * 1.000)
    assert job.facts.batches.wait_s.sum() == pytest.approx(59 * 0.040)
    hidden_s = 59 * 0.060 + 0.060 + 2 * 1.000
    assert promise(job, Readers(4)).expected == pytest.approx(7.960 / hidden_s, rel=0.05)


def test_a_file_that_one_pause_reads_once_is_a_validation_set():
    # GIVEN four steps that read files 0 and 1, and a pause that reads file 2
    file, step = np.array([0, 1, 2, 0, 1]), np.array([0, 1, 1, 2, 3])
    outside = np.array([False, False, True, False, False])

    # THEN
    assert read_in_pauses(file, step, outside, files=3, steps=4).tolist() == [False, False, True]
