"""What a recorded run says of storage and of readers, against jobs whose times were worked out by hand."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.replay.made_up_jobs import SIZE, file_job, record_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import CacheInMemory, Readers, ShufflePaths, edited
from tfdarshan.replay.job_facts import JobFacts
from tfdarshan.replay.prior_model import batches_ahead
from tfdarshan.replay.priors import SETTING, draw
from tfdarshan.replay.promise import promise
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import LargeReads, Staged


@pytest.fixture
def job_of_tasks(tmp_path):
    """Make a job of a loop that reads so many files itself, ten for each batch."""
    return lambda tasks: calibrated(facts_of(file_job(tmp_path, batches=tasks // 10, files=10, epochs=1)))


@pytest.fixture
def pooled(tmp_path) -> JobFacts:
    """Eight readers of a pipe that serves one call at a time in 4 ms, two calls each for a batch."""
    calls, steps, at = [], [], 0
    for number in range(20):
        for place in range(16):
            begin = at + max(0, place - 7) * 4
            file = number * 16 + place
            end = at + (place + 1) * 4
            calls += [(begin, begin, 200 + place % 8, "open", file, 0),
                      (begin, end, 200 + place % 8, "pread", file, SIZE, 0),
                      (end, end, 200 + place % 8, "close", file, 0)]  # fmt: skip
        steps.append((at, at + 64 + 40, 64))
        at += 64 + 40
    paths = [f"/data/{number:03}" for number in range(320)]
    return facts_of(training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 320))


def test_what_a_full_pipe_takes_is_no_work_of_readers(pooled):
    # GIVEN waits of 64 ms that are 16 turns of 4 ms at storage, and 40 ms of compute
    job = calibrated(pooled)

    # THEN hardly any of it is decoding
    assert job.weight @ job.model.work_s.sum(0) < 0.1 * 20 * 0.064
    assert promise(job, Staged()).expected == pytest.approx(104 / 40, rel=0.1)
    assert promise(job, Readers(16)).expected == pytest.approx(1.0, abs=0.05)
    assert promise(job, Readers(4)).expected == pytest.approx(1.0, abs=0.05)


def test_what_processors_did_while_the_loop_waited_is_the_work_of_readers(pooled):
    # GIVEN the same waits, and two processors that were busy all the time, of 2.08 s
    machine = dataclasses.replace(pooled.processors, cpus=2.0, others=0.0, cpu_s=2 * 2.08, span_s=2.08)
    job = calibrated(dataclasses.replace(pooled, processors=machine))

    # THEN all of 1.28 s is decoding, as far as readers decode at a time, and the storage is as much quicker
    together = np.minimum(1 / job.model.work_serial, 1 + job.drawn["further_processor"])
    work_s = job.model.weight[job.model.batch] @ job.model.work_s
    assert work_s == pytest.approx(1.28 * together, abs=0.1)
    assert job.run.total_s == pytest.approx(np.full(64, 2.08), rel=0.05)
    assert promise(job, Staged()).expected < 1.2


def test_what_follows_reads_that_no_step_marks_may_be_work_on_them(tmp_path):
    # GIVEN 20 files of 10 ms, read twice, and 40 ms behind each: to decode it, or a step
    calls = [(50 * place, 50 * place + 10, LOOP, "pread", place % 20, SIZE, 0) for place in range(40)]
    paths = [f"/data/{number:02}" for number in range(20)]
    job = calibrated(facts_of(training(tmp_path, calls, (), paths=paths, sizes=[SIZE] * 20)))

    # WHEN samples stay in memory as they are decoded
    told = promise(job, CacheInMemory())

    # THEN either is in the range: half of the reads goes, and of the work, too
    assert told.low < 100 / 90 * 1.05
    assert told.high > 100 / 50 * 0.9


def test_a_reader_that_begins_its_next_task_at_once_did_no_work(pooled):
    # THEN the second task of a batch follows the first one
    rest_s = pooled.tasks.rest_s
    assert (rest_s[np.isfinite(rest_s)] < 1e-6).mean() == pytest.approx(1 / 2, abs=0.03)


def test_calls_take_as_long_as_they_took(pooled):
    job = calibrated(pooled)
    assert job.weight @ job.run.called_s == pytest.approx(pooled.tasks.call_s.sum(), rel=0.1)


def body_steps(logdir, *, validated_ms=0):
    """Write a job whose steps are marked around the body: 40 ms of reads before each 20 ms.

    A reader reads ahead for the other half of the batches, so that it reads beside steps, too.
    """
    calls: list[tuple] = []
    steps, at = [], 0
    for number in range(16):
        calls += [(at + 10 * n, at + 10 * n + 10, LOOP, "pread", number, SIZE, n * SIZE) for n in range(4)]
        steps.append((at + 40, at + 60, -1))
        calls.append((at + 45, at + 50, 200, "pread", (number + 1) % 16, SIZE, 4 * SIZE))
        at += 60
        if number == 7 and validated_ms:
            calls.append((at, at + validated_ms, LOOP, "pread", 16, SIZE, 0))
            at += validated_ms
    paths = [f"/data/{number:02}" for number in range(17)]
    return facts_of(training(logdir, calls, steps, paths=paths, sizes=[5 * SIZE] * 17))


def test_the_time_between_steps_around_the_body_is_input_wait(tmp_path):
    # GIVEN steps that do not say what they waited for
    facts = body_steps(tmp_path)

    # THEN all but the first one waited for 40 ms
    assert facts.batches.known
    assert facts.batches.wait_s[1:] == pytest.approx(np.full(15, 0.040))
    assert facts.batches.compute_s == pytest.approx(np.full(16, 0.020))
    assert facts.batches.validation_s.sum() == 0
    assert promise(calibrated(facts), Staged()).expected == pytest.approx(3, rel=0.15)


def test_what_only_pauses_read_is_no_input_wait(tmp_path):
    # GIVEN a validation set read for 100 ms between two of them
    facts = body_steps(tmp_path, validated_ms=100)

    # THEN
    assert facts.batches.validation_s.sum() == pytest.approx(0.100)
    assert facts.batches.wait_s[1:] == pytest.approx(np.full(15, 0.040))


def test_a_part_of_a_long_job_reads_as_much_without_a_shuffle_buffer(job_of_tasks):
    # GIVEN twice as many tasks as are simulated, all of them read before the first batch
    job = job_of_tasks(2 * int(SETTING["most_tasks"]))
    first = job.but(batch=np.zeros_like(job.model.batch))

    # WHEN each batch reads its own
    spread = edited(first, ShufflePaths())

    # THEN one reader that nothing hides takes as long
    assert np.median(spread.run.total_s) == pytest.approx(np.median(first.run.total_s), rel=0.02)


def test_reads_that_memory_serves_are_work_which_fewer_reads_spare(tmp_path):
    # GIVEN 4,000 reads of 512 bytes, of 50 us each, that kept one of two processors busy
    facts = facts_of(record_job(tmp_path, range(4_000), read_ms=[0.05] * 4_000, size=512))
    machine = dataclasses.replace(facts.processors, cpus=2.0, others=0.0, cpu_s=0.208, span_s=0.208)

    # WHEN
    job = calibrated(dataclasses.replace(facts, processors=machine))

    # THEN
    assert np.median(job.model.read_work_s) == pytest.approx(50e-6, rel=0.2)
    spared_s = job.model.processor_s - LargeReads()(job).model.processor_s
    assert np.median(spared_s * job.model.processors) == pytest.approx(0.2, rel=0.2)


@pytest.mark.parametrize(("others", "cpu_s"), [(1.9, 0.1), (0.0, 0.1), (0.0, 3.0)])
def test_storage_is_no_slower_than_the_calls_of_one_reader(tmp_path, others, cpu_s):
    # GIVEN 40 ms between the calls of each task, whoever had the processors
    facts = facts_of(file_job(tmp_path, decode_ms=40))
    machine = dataclasses.replace(facts.processors, cpus=2.0, others=others, cpu_s=cpu_s)

    # WHEN
    job = calibrated(dataclasses.replace(facts, processors=machine))

    # THEN a copy saves 64 times 10 ms of 3.52 s
    assert job.weight @ job.run.called_s == pytest.approx(64 * 0.010, rel=0.03)
    assert promise(job, Staged()).expected == pytest.approx(3.52 / 2.88, rel=0.03)


def test_short_steps_do_not_tell_who_prepares_ahead(tmp_path):
    # GIVEN reads of 5 ms by a reader that goes on beside steps of 5 ms
    calls = [(5 * n, 5 * n + 5, 200, "pread", n // 16, SIZE, n % 16 * SIZE) for n in range(128)]
    steps = [(40 * n, 40 * n + 40, 35) for n in range(16)]
    stages = {"stages": [{"name": "map", "does": ["reads"]}], "datasets": 1, "iterators": 1}
    meta = {"pipelines": {"found": [stages], "left_out": 0}}
    paths = [f"/data/{n}" for n in range(8)]
    facts = facts_of(training(tmp_path, calls, steps, paths=paths, sizes=[16 * SIZE] * 8, meta=meta))
    assert facts.pipeline.overlap > SETTING["beside"] > facts.pipeline.beside

    # THEN some samples do, and some do not
    ahead = batches_ahead(facts, draw(64))
    assert (ahead == 0).any()
    assert (ahead > 0).any()


def test_readers_that_rest_with_all_read_are_ahead(tmp_path):
    # GIVEN a generator whose first eight batches are ten reads of 15 ms each, and 56 more of 0.1 ms each
    lasts = np.repeat([15.0] * 8 + [0.1] * 56, 10)
    ends = np.cumsum(lasts)
    calls = [(end - each, end, 200, "pread", 0, SIZE, place * SIZE)
             for place, (each, end) in enumerate(zip(lasts, ends, strict=True))]  # fmt: skip
    # WHEN it goes on beside steps of 50 ms
    steps, at = [], 0.0
    for ready in ends[9::10]:
        got = max(at, float(ready))
        steps.append((at, got + 50, got - at))
        at = got + 50
    stages = {"stages": [{"name": "from_generator", "does": ["reads"]}], "datasets": 1, "iterators": 1}
    meta = {"pipelines": {"found": [stages], "left_out": 0}}
    facts = facts_of(training(tmp_path, calls, steps, paths=["/data/0"], sizes=[640 * SIZE], meta=meta))

    # THEN it prepares batches ahead, though most of the time it reads nothing beside steps
    assert facts.pipeline.beside < SETTING["beside"]
    assert facts.pipeline.overlap == pytest.approx(1.0, rel=0.01)
    assert (batches_ahead(facts, draw(64)) > 0).all()
