"""What copies of some files give, and what each file is worth, against closed forms."""

import numpy as np
import pytest

from tests.unit.findings.made_up_training import training
from tests.unit.replay.made_up_jobs import OPEN_MS, READ_MS, file_job, record_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.promise import epoch_seconds
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import Staged
from tfdarshan.staging.file_seconds import left_on_tier

EACH_S, FILES, EPOCHS = (OPEN_MS + READ_MS) / 1e3, 32, 2


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A loop that reads 32 files of 10 ms in each of two epochs, one after the other."""
    return calibrated(facts_of(file_job(tmp_path_factory.mktemp("job"))))


def rows_of(job, *names):
    paths = job.facts.files.paths.to_pylist()
    return np.isin(np.arange(len(paths)), [paths.index(name) for name in names])


def test_a_measured_tier_takes_what_was_measured(job):
    # GIVEN a tier of 1 ms a call and 100 MB/s: 3 ms for two calls and 100 kB
    after_s = Staged(None, 1e-3, 100e6)(job).run.total_s

    assert job.run.total_s - after_s == pytest.approx(np.full(64, EPOCHS * FILES * (EACH_S - 3e-3)), rel=0.03)


def test_copies_of_half_of_the_files_save_half(job):
    half = rows_of(job, *(f"/data/{number:03}" for number in range(FILES // 2)))
    some_s, all_s = (Staged(files, 0.0, np.inf)(job).run.total_s for files in (half, None))

    assert job.run.total_s - some_s == pytest.approx((job.run.total_s - all_s) / 2, rel=0.03)


@pytest.mark.parametrize("ahead", [True, False])
def test_a_disk_is_asked_for_what_it_reads_ahead_not_for_each_small_read(tmp_path, ahead):
    # GIVEN 32 reads of 64 kB, of 10 ms each, that follow each other, or do not
    places = [number if ahead else 2 * (31 - number) for number in range(32)]
    recorded = record_job(tmp_path, places, read_ms=[10] * 32, size=65_536, file_size=64 * 65_536)
    job = calibrated(facts_of(recorded))

    # WHEN a request takes 5 ms there
    made = Staged(None, 5e-3, np.inf)(job)

    # THEN it makes one of 256 kB, or one of each read
    assert made.model.storage_s.sum(0) == pytest.approx(np.full(64, 5e-3 * (8 if ahead else 32)), rel=0.2)


def test_a_tier_that_is_slower_changes_nothing(job):
    slower = Staged(None, 1.0, 1e3)

    assert slower(job).run.total_s == pytest.approx(job.run.total_s)
    assert left_on_tier(job, slower) == pytest.approx(np.ones(len(job.facts.files)))


def test_what_is_left_of_a_file_is_what_the_tier_takes(job):
    # GIVEN a tier that takes 3 ms of a file's 10 ms
    left = left_on_tier(job, Staged(None, 1e-3, 100e6))

    assert left[rows_of(job, "/data/007")] == pytest.approx(0.3, rel=0.2)


def test_an_epoch_that_memory_served_takes_computing_alone(tmp_path):
    # GIVEN eight batches of four files of 10 ms and 20 ms of computing; memory serves the second epoch
    job = calibrated(facts_of(file_job(tmp_path, cached_ms=0.02)))

    assert epoch_seconds(job) == pytest.approx([8 * 0.060, 8 * 0.020], rel=0.05)


def test_a_burst_of_reads_waits_for_what_is_read_in_it(tmp_path):
    # GIVEN no steps: two threads read 20 files once, but the first ten times, in bursts of unlike length
    order = [*range(1, 12), *[0, 12, 0, 13, 0, 14, 0, 15, 0, 16], 0, 0, 0, 0, 17, 18, 19, 0]
    lengths = np.array([3, 2, 15, len(order) - 20])
    burst = np.repeat(np.arange(4), lengths)
    calls = []
    for number, file in enumerate(order):
        turn = (number - np.searchsorted(burst, burst[number])) // 2
        begin_ms = 1000 * burst[number] + 10 * turn + number % 2
        calls.append((begin_ms, begin_ms + 9, 1 + number % 2, "pread", file, 10**5, 0))
    paths = [f"/data/{number:02}" for number in range(20)]

    # WHEN
    facts = facts_of(training(tmp_path, sorted(calls), (), paths=paths, sizes=[10**5] * 20))

    # THEN each burst has its own reads, and no reader is late
    assert np.bincount(facts.batch).tolist() == lengths.tolist()
    assert not np.nan_to_num(facts.pipeline.late_s).any()


@pytest.mark.parametrize(("seek_s", "wait_share"), [(0.0, 0.0), (4e-3, 0.6)])
def test_calls_that_wait_for_each_other_take_what_their_own_turn_takes(tmp_path, seek_s, wait_share):
    # GIVEN four readers of 200 files of many sizes; one disk serves one read at a time
    dice, free_s, disk_s, calls = np.random.default_rng(1), np.zeros(4), 0.0, []
    size = (100_000 * np.exp(dice.standard_normal(200))).astype(int)
    for file in range(200):
        reader = int(np.argmin(free_s))
        begin_s = free_s[reader]
        disk_s = free_s[reader] = max(begin_s, disk_s) + seek_s + size[file] / 60e6
        calls.append((1e3 * begin_s, 1e3 * disk_s, 1 + reader, "pread", file, size[file], 0))
    paths = [f"/data/{number:03}" for number in range(200)]
    job = calibrated(facts_of(training(tmp_path, sorted(calls), (), paths=paths, sizes=size.tolist())))

    # WHEN the smaller half of the files is copied
    small = np.zeros(len(job.facts.files), bool)
    small[rows_of(job, *(paths[number] for number in np.argsort(size)[:100]))] = True
    gain = job.run.total_s / Staged(small, 0.0, np.inf)(job).run.total_s

    # THEN what is left takes what the disk takes for it, though all reads took about as long
    left = np.sort(seek_s + size / 60e6)[100:].sum() / (seek_s + size / 60e6).sum()
    serial = (job.model.transfer_serial > 0.5) & (job.model.wait_serial > 0.5)
    assert job.facts.storage.wait_share == pytest.approx(wait_share, abs=0.15)
    assert np.median(gain[serial]) == pytest.approx(1 / left, rel=0.1)
