"""What is known of storage: what a session says of it, what its bytes allow, and what a limit counts."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.replay.made_up_jobs import SIZE, file_job, record_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import Readers, edited
from tfdarshan.replay.job_model import READ
from tfdarshan.replay.loop_edits import ValidationReaders
from tfdarshan.replay.prior_model import wait_share
from tfdarshan.replay.priors import SETTING, draw
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import LargeReads, SequentialReads, Shards
from tfdarshan.storage_model import HDD, LUSTRE


def emulated(logdir, model):
    """A job whose session says that its calls were made to last as on such storage."""
    block = {"model": dataclasses.asdict(model), "paths": ["/data/"], "delayed_calls": 1}
    return calibrated(facts_of(file_job(logdir, meta={"options": {"as_if": model.name}, "emulation": block})))


def limited(logdir, *, of_calls):
    """A job that validates for 10 ms a batch, and whose calls were held back by a limit of each 100 ms."""
    facts = facts_of(file_job(logdir, size=8192))
    storage = dataclasses.replace(facts.storage, limit_s=0.1, limit_of_calls=of_calls)
    batches = dataclasses.replace(facts.batches, validation_s=np.full(16, 0.01))
    return calibrated(dataclasses.replace(facts, storage=storage, batches=batches))


def test_all_samples_move_the_arm_of_an_emulated_disk(tmp_path):
    job = emulated(tmp_path, HDD)

    # THEN nothing is left of seeks in order, and many readers shorten them as the disk says
    assert (job.model.seek_s.sum(0) > 0).all()
    assert edited(job, SequentialReads()).model.seek_s.sum() == 0
    shorter = edited(job, Readers(16)).model.seek_s / job.model.seek_s
    assert shorter == pytest.approx(np.full_like(shorter, 16**-HDD.seek_exponent))


def test_readers_that_stop_at_a_batch_leave_an_arm_no_more_places_than_its_tasks(tmp_path):
    # GIVEN batches of four files that one reader reads
    job = emulated(tmp_path, HDD)
    model = job.model

    # WHEN sixteen readers read each batch, and no further
    job = dataclasses.replace(job, model=model.but(readers=np.full_like(model.readers, 2)))
    part = edited(job, Readers(16)).model.seek_s.sum(0) / model.seek_s.sum(0)

    # THEN the arm has 4, 3, 2, and 1 places to go to, where it had 2, 2, 2, and 1
    had, has = (np.mean(np.array(places) ** -HDD.seek_exponent) for places in ([2, 2, 2, 1], [4, 3, 2, 1]))
    assert part == pytest.approx(np.full_like(part, has / had))


def test_no_sample_waits_in_turn_for_an_emulated_server(tmp_path):
    job = emulated(tmp_path, LUSTRE)
    assert job.model.wait_serial.tolist() == [1 / LUSTRE.concurrency] * job.model.samples
    assert job.model.seek_s.sum() == job.model.limit_s.sum() == 0


@pytest.mark.parametrize("base_ms", [0.0, 2.0])
def test_reads_of_less_than_twice_the_usual_size_tell_what_bytes_take(tmp_path, base_ms):
    # GIVEN reads of 10 to 73 kB, each of which waits, and then moves 20 kB a millisecond
    sizes = [(10 + number * 5 % 64) * 1000 for number in range(64)]
    calls, steps = [], []
    for number, size in enumerate(sizes):
        took_ms = base_ms + size / 20_000
        calls.append((20 * number, 20 * number + took_ms, LOOP, "pread", number, size, 0))
        steps.append((20 * number, 20 * number + 20, took_ms))
    paths = [f"/data/{number:02}" for number in range(64)]

    # WHEN
    told = facts_of(training(tmp_path, calls, steps, paths=paths, sizes=sizes)).storage.wait_share

    # THEN
    mean_ms = base_ms + np.mean(sizes) / 20_000
    assert told == pytest.approx(base_ms / mean_ms, abs=0.01)


def test_bytes_take_no_longer_than_the_slowest_pipe(tmp_path):
    # GIVEN reads of 8 KiB in 8 ms: 1 MB/s
    slow = wait_share(facts_of(file_job(tmp_path / "slow", size=8192)), draw(64))
    # and of 1 MiB in as much: 131 MB/s
    quick = wait_share(facts_of(file_job(tmp_path / "quick", size=1 << 20)), draw(64))

    # THEN the small ones wait for more than their bytes, and the large ones may not
    assert (slow > 0).all()
    assert (quick == 0).any()
    assert quick.max() <= 1 - 131e6 / SETTING["fastest"]


def test_a_limit_of_calls_holds_back_fewer_large_reads(tmp_path):
    calls, moved = (limited(tmp_path / str(of), of_calls=of) for of in (True, False))

    # THEN in place of a call for each file, records of a shard share requests
    left = [edited(job, Shards()).model.limit_s.sum() / job.model.limit_s.sum() for job in (calls, moved)]
    assert left == pytest.approx([8192 / SETTING["request"], 1.0], rel=1e-3)


def test_a_limit_gives_no_more_to_readers_of_a_validation_set(tmp_path):
    job = limited(tmp_path, of_calls=True)
    assert edited(job, ValidationReaders()).model.stall_s == pytest.approx(np.full((16, 64), 0.01))


def test_one_slow_file_is_gone_from_shards(tmp_path):
    # GIVEN 99 files of 5 ms, and one of a second
    calls: list[tuple] = []
    steps, at = [], 0
    for number in range(100):
        took = 1000 if number == 50 else 5
        calls += [(at, at, LOOP, "open", number, 0), (at, at + took, LOOP, "pread", number, SIZE, 0),
                  (at + took, at + took, LOOP, "close", number, 0)]  # fmt: skip
        steps.append((at, at + took + 5, took))
        at += took + 5
    paths = [f"/data/{number:02}" for number in range(100)]
    job = calibrated(facts_of(training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 100)))

    # THEN
    made = edited(job, Shards()).model
    assert (made.wait_s[READ] + made.transfer_s).max(0).max() < 0.010
    assert (edited(job, LargeReads()).model.wait_s[READ] + job.model.transfer_s).max() > 0.5


def test_a_file_of_unknown_size_is_as_large_as_it_was_read(tmp_path):
    # GIVEN a file that was open before, read twice from end to end
    calls = [(10 * n, 10 * n + 5, LOOP, "pread", 0, SIZE, n % 8 * SIZE) for n in range(16)]
    steps = [(10 * n, 10 * n + 10, 5) for n in range(16)]

    # THEN
    facts = facts_of(training(tmp_path, calls, steps))
    assert facts.tasks.epoch.tolist() == [0] * 8 + [1] * 8


def test_a_stream_from_a_local_disk_mostly_waits_for_its_bytes(tmp_path):
    # GIVEN reads of 256 KiB in order, of which every fourth waits for what was read ahead: 13 MB/s
    calls, steps, at = [], [], 0.0
    for n in range(64):
        took = 80 if n % 4 == 0 else 0.05
        calls.append((at, at + took, LOOP, "pread", 0, 1 << 18, n << 18))
        steps.append((at, at + took + 1, took))
        at += took + 1
    session = training(tmp_path, calls, steps, paths=["/home/a"], sizes=[64 << 18])

    # THEN not only the bytes of those that waited count
    share = wait_share(facts_of(session), draw(64))
    assert 0.7 < (share == 0).mean() < 1


@pytest.mark.parametrize(
    ("going_on_ms", "count", "told"), [(0.01, 64, True), (4, 64, False), (0.01, 0, None)], ids=str
)
def test_reads_that_follow_each_other_tell_who_reads_ahead(tmp_path, going_on_ms, count, told):
    # GIVEN 64 records that wait for 4 ms each at places of their own, and some that follow each other
    places = [2 * n for n in range(64)] + [200 + n for n in range(count)]
    waits = [4.0] * 64 + [going_on_ms] * count

    # WHEN
    facts = facts_of(record_job(tmp_path, places, read_ms=waits))

    # THEN
    assert facts.storage.reads_ahead is told
    drawn = calibrated(facts).drawn["reads_ahead"]
    assert set(drawn.tolist()) == ({True, False} if told is None else {told})
