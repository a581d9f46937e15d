"""What it gives if batches come sooner, or workers live on: against closed forms."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_loaders import loader_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import CacheInMemory, Prefetch, Readers, edited
from tfdarshan.replay.loader_edits import SmallerBatches, Sooner, WorkersKept
from tfdarshan.replay.loop_edits import ValidationReaders
from tfdarshan.replay.session_facts import facts_of

PARTS = ("work_s", "hand_s")


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return calibrated(facts_of(loader_job(tmp_path_factory.mktemp("loader"), fetch_ms=(50, 10))))


def test_what_is_spared_is_waited_less(job):
    spared_s = job.run.total_s - edited(job, Sooner(0.5)).run.total_s

    assert np.median(spared_s) == pytest.approx(0.5, rel=0.05)


def test_no_more_is_spared_than_is_waited_for(job):
    left_s = edited(job, Sooner(1e6)).run.total_s

    # Three epochs of twelve batches compute for 5 ms each.
    assert np.median(left_s) == pytest.approx(3 * 12 * 0.005, rel=0.05)


def test_a_quarter_of_the_bytes_spares_no_more_than_they_take(job):
    # GIVEN ways of 36 batches, 0.5 s together
    spared_s = job.run.total_s - edited(job, SmallerBatches(0.25, 0.5, 36)).run.total_s

    # THEN what a batch takes without any bytes is left
    wanted_s = 0.75 * (0.5 - 36 * job.drawn["handed_s"])
    assert np.median(spared_s / wanted_s) == pytest.approx(1.0, rel=0.05)


def test_small_batches_hardly_come_sooner_with_fewer_bytes(job):
    # GIVEN the same of 25 kB, which take long for other reasons
    spared_s = job.run.total_s - edited(job, SmallerBatches(0.25, 0.5, 36, 25_000)).run.total_s

    # THEN no more is spared than these bytes take
    most_s = 0.75 * 36 * 25_000 * job.drawn["handed_s_per_byte"]
    assert (spared_s <= most_s + 1e-3).all()
    assert most_s.max() < 0.01


def test_workers_that_live_on_are_started_once(tmp_path):
    # GIVEN three epochs that each begin with starting workers for 300 ms
    job = calibrated(facts_of(loader_job(tmp_path, start_ms=300)))

    spared_s = job.run.total_s - edited(job, WorkersKept()).run.total_s

    assert np.median(spared_s) == pytest.approx(2 * 0.3, rel=0.05)


def test_starting_more_workers_takes_as_much_longer(tmp_path):
    # GIVEN one processor, and three epochs that each begin with starting two workers for 300 ms
    facts = facts_of(loader_job(tmp_path, start_ms=300, fetch_ms=(1, 1), compute_ms=20))
    facts = dataclasses.replace(facts, processors=dataclasses.replace(facts.processors, cpus=1.0))
    job = calibrated(facts)

    # WHEN
    longer_s = edited(job, Readers(6)).run.total_s - job.run.total_s

    # THEN six take three times as long
    assert np.median(longer_s) == pytest.approx(3 * 0.6, rel=0.05)


def test_workers_that_live_on_are_started_for_the_first_epoch_alone(tmp_path):
    # GIVEN the same, of workers that live on
    facts = facts_of(loader_job(tmp_path, start_ms=300, fetch_ms=(1, 1), compute_ms=20, persistent=True))
    facts = dataclasses.replace(facts, processors=dataclasses.replace(facts.processors, cpus=1.0))
    job = calibrated(facts)

    # WHEN
    longer_s = edited(job, Readers(6)).run.total_s - job.run.total_s

    # THEN
    assert np.median(longer_s) == pytest.approx(0.6, rel=0.1)


def test_what_a_worker_opens_before_its_first_batch_is_part_of_its_start(tmp_path):
    # GIVEN a worker that opens a file as it imports the job's modules, and begins its first batch later
    facts = facts_of(loader_job(tmp_path, start_ms=300, opens_ms=50))

    # THEN
    assert facts.pipeline.late_s[0] == pytest.approx(0.3, rel=0.01)


def test_batches_tell_epochs_where_all_samples_are_of_one_file(tmp_path):
    # GIVEN batches that each read the same bytes, as crops of one picture do
    facts = facts_of(loader_job(tmp_path, start_ms=300, one_file=True))

    # THEN
    assert np.unique(facts.tasks.epoch).tolist() == np.unique(facts.batches.epoch).tolist() == [0, 1, 2]
    assert facts.pipeline.late_s == pytest.approx([0.3] * 3, rel=0.01)


def test_batches_tell_when_workers_had_started_where_these_read_no_file(tmp_path):
    # GIVEN samples that are in memory, or mapped, and a file that the loop reads in its second epoch
    facts = facts_of(loader_job(tmp_path, start_ms=30, read_at_ms=500))

    # THEN the first batch of each epoch was begun after 30 ms, and put together 10 ms later
    assert len(facts.pipeline.late_s) == 3
    assert (facts.pipeline.late_s >= 0.03 - 1e-6).all()
    assert (facts.pipeline.late_s <= 0.04 + 1e-6).all()


def test_workers_work_no_longer_than_they_take_for_batches(tmp_path):
    # GIVEN workers that do nothing but read, and a loop that waits long for the way of each batch
    facts = facts_of(loader_job(tmp_path, fetch_ms=(2, 2), back_ms=30))
    busy = dataclasses.replace(facts.processors, cpus=2.0, cpu_s=2 * facts.batches.total_s)

    # WHEN
    job = calibrated(dataclasses.replace(facts, processors=busy))

    # THEN
    assert job.model.work_s.sum(0) == pytest.approx(0.0, abs=1e-6)


def test_batches_of_the_first_workers_go_from_one_process_to_another(tmp_path):
    # GIVEN a loop that reads its own batches, 3 epochs of 12
    job = calibrated(facts_of(loader_job(tmp_path, workers=0, prefetch_factor=0)))

    # WHEN it is given workers, whatever else is changed with them
    for edits in ([Readers(2)], [Prefetch(), Readers(2)], [Readers(1), Readers(2)]):
        made = edited(job, *edits)

        # THEN each batch takes a while on either side
        work_s, hand_s = ((getattr(made.model, name) - getattr(job.model, name)).sum(0) for name in PARTS)
        assert work_s == pytest.approx(36 * job.drawn["handed_s"])
        assert hand_s == pytest.approx(36 * job.drawn["handed_s"])
        assert (made.model.batches_ahead >= 2).all()


def test_workers_for_a_validation_set_are_started_once(tmp_path):
    # GIVEN two processors, two workers that take 300 ms to start, and 10 ms of validation behind two batches
    facts = facts_of(loader_job(tmp_path, start_ms=300, fetch_ms=(1, 1), compute_ms=20))
    validation_s = np.zeros_like(facts.batches.validation_s)
    validation_s[[11, 23]] = 0.010
    facts = dataclasses.replace(
        facts,
        batches=dataclasses.replace(facts.batches, validation_s=validation_s),
        processors=dataclasses.replace(facts.processors, cpus=2.0),
    )
    job = calibrated(facts)

    # WHEN eight are started, which share the processors
    longer_s = edited(job, ValidationReaders(8)).model.stall_s - job.model.stall_s

    # THEN the first pass waits for four times as long as two took, and no other one waits
    assert longer_s[11] == pytest.approx(4 * 0.3, rel=0.02)
    assert np.all(longer_s[23] <= 0)


@pytest.mark.parametrize(("all_input", "loaded"), [(None, 24), (24 / 72, 24), (8 * 24 / 72, 8 * 24)])
def test_samples_that_are_loaded_first_are_read_by_one(tmp_path, all_input, loaded):
    # GIVEN three epochs of 24 samples, which two workers read for 10 ms each
    job = calibrated(facts_of(loader_job(tmp_path, pairs=12, back_ms=0, compute_ms=1)))
    assert np.median(job.run.total_s) == pytest.approx(3 * 12 * 0.011, rel=0.1)

    # WHEN they are in memory before the first epoch
    total_s = edited(job, CacheInMemory(loads_first=True, all_input=all_input)).run.total_s

    # THEN the loop has read each once itself, those of seven other ranks as well
    assert np.median(total_s) == pytest.approx(loaded * 0.010 + 3 * 24 * 0.001, rel=0.1)


def test_workers_that_get_something_to_read_have_batches_ready_as_the_others_do(tmp_path):
    # GIVEN eight workers, two of which have something to read, and a batch ready each
    job = calibrated(facts_of(loader_job(tmp_path, workers=8, working=2, iterable=True)))
    assert (job.model.batches_ahead == 2).all()

    # THEN
    assert (edited(job, Readers(8)).model.batches_ahead == 8).all()


def test_no_epoch_begins_before_it_is_asked_for(tmp_path):
    # GIVEN 16 workers on a processor, the first of which reads sooner than all can have been started
    facts = facts_of(loader_job(tmp_path, workers=16, start_ms=1))
    job = calibrated(dataclasses.replace(facts, processors=dataclasses.replace(facts.processors, cpus=1.0)))

    # THEN
    assert (edited(job, Readers(1)).model.late_s >= 0).all()
