"""What a loop writes to the storage of its input, and elsewhere."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.replay.made_up_writes import SAVED, SIZE, epochs_that_save, writing_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import edited
from tfdarshan.replay.loop_edits import BackgroundSaves, BufferedWrites, SyncsBehind, ValidationReaders
from tfdarshan.replay.promise import promise, speedups
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import OtherStorage, Staged
from tfdarshan.storage_model import BUCKET, HDD


@pytest.mark.parametrize(
    ("outputs", "here"), [(["/data/log"], 1.0), (["/out/log"], 0.0), (["/data/log", "/out/log"], 0.5)]
)
def test_writes_to_the_mount_of_the_input_wait_in_its_queue(tmp_path, outputs, here):
    # WHEN each writes more bytes than reads move in its time
    job = calibrated(facts_of(writing_job(tmp_path, *outputs, length=SAVED)))

    # THEN
    assert job.facts.storage.writes_here == pytest.approx(here)
    queued_s, stall_s = (
        np.broadcast_to(each, (10, 64)).sum(0) for each in (job.model.write_s, job.model.stall_s)
    )
    assert np.median(queued_s) == pytest.approx(here * 0.300)
    assert queued_s + stall_s == pytest.approx(np.full(64, 0.300))
    assert job.run.total_s == pytest.approx(np.full(64, 0.600), rel=0.03)


@pytest.mark.parametrize(("device", "held"), [(HDD, 1.0), (BUCKET, 1 / 64)])
def test_small_writes_hold_reads_up_as_far_as_storage_serves_calls_in_turn(tmp_path, device, held):
    # GIVEN ten writes of 30 ms whose 4096 bytes take no time
    facts = facts_of(writing_job(tmp_path, "/data/log"))
    storage = dataclasses.replace(facts.storage, device=device, wait_share=1.0)

    # WHEN
    model = calibrated(dataclasses.replace(facts, storage=storage)).model

    # THEN
    assert model.write_s.sum(0) == pytest.approx(np.full(64, held * 0.300), rel=0.02)
    assert (model.write_s + model.stall_s).sum(0) == pytest.approx(np.full(64, 0.300))


@pytest.mark.parametrize(("output", "here"), [("/data/model", True), ("/out/model", False)])
def test_saves_in_the_background_go_on_at_the_storage_they_are_on(tmp_path, output, here):
    job = calibrated(facts_of(writing_job(tmp_path, output, length=SAVED)))

    # WHEN
    model = edited(job, BackgroundSaves()).model

    # THEN
    assert model.write_s.sum() == 0
    assert np.median(model.beside_s.sum(0)) == pytest.approx(0.300 if here else 0.0)


@pytest.mark.parametrize("output", ["/data/log", "/out/log"])
def test_buffered_writes_spare_all_of_them_wherever_they_go(tmp_path, output):
    # GIVEN
    job = calibrated(facts_of(writing_job(tmp_path, output)))
    free = job.model.limit_s.sum(0) == 0

    # THEN nothing else changes but where a rate limit gets time to rest
    assert speedups(job, BufferedWrites())[free] == pytest.approx(np.full(free.sum(), 2.0), rel=0.03)


@pytest.mark.parametrize(("saves", "length"), [(BufferedWrites(), 4096), (BackgroundSaves(), SAVED)])
def test_input_that_was_staged_leaves_writes_alone_in_any_order(tmp_path, saves, length):
    # GIVEN output on the input's storage
    job = calibrated(facts_of(writing_job(tmp_path, "/data/model", length=length)))

    # WHEN
    one, other = edited(job, saves, Staged()), edited(job, Staged(), saves)

    # THEN
    assert one.run.total_s == pytest.approx(other.run.total_s)
    assert other.model.beside_s.sum() == 0


def syncing_job(logdir, output, length=4096):
    """Make ten steps that read for 10 ms, compute for 20, write for 10 and sync for 20."""
    calls: list[tuple] = []
    for at in range(0, 600, 60):
        calls.append((at, at + 10, LOOP, "pread", 0, SIZE, at // 60 * SIZE))
        calls.append((at + 30, at + 40, LOOP, "write", 1, length, 0))
        calls.append((at + 40, at + 60, LOOP, "fsync", 1, 0))
    steps = [(at, at + 60, 10) for at in range(0, 600, 60)]
    return training(logdir, calls, steps, paths=["/data/a", output], sizes=[10 * SIZE, 10 * length])


def test_syncs_behind_the_loop_leave_its_writes(tmp_path):
    job = calibrated(facts_of(syncing_job(tmp_path, "/out/log")))
    free = job.model.limit_s.sum(0) == 0

    # THEN of 60 ms a step 20 are spared
    assert speedups(job, SyncsBehind(1.0))[free] == pytest.approx(np.full(free.sum(), 1.5), rel=0.03)


@pytest.mark.parametrize(("length", "left"), [(4096, 0.06), (SAVED, 1.0)], ids=["few syncs", "all bytes"])
def test_syncs_behind_the_loop_keep_the_inputs_storage_busy(tmp_path, length, left):
    # GIVEN ten syncs in 0.6 s, of which one a second is left: 6 % of them
    job = calibrated(facts_of(syncing_job(tmp_path, "/data/log", length)))

    # WHEN
    model = edited(job, SyncsBehind(1.0)).model

    # THEN of what waits in its queue
    queued_s, spared_s = job.model.write_s.sum(0), np.minimum(job.model.write_s, 0.020).sum(0)
    assert model.write_s.sum(0) == pytest.approx(queued_s - spared_s)
    assert model.beside_s.sum(0) == pytest.approx(left * spared_s)


@pytest.mark.parametrize("fast_tier", [False, True])
def test_a_job_ends_when_its_last_save_is_on_disk(tmp_path, fast_tier):
    # GIVEN ten saves of 30 ms, each after a step of 30 ms
    job = calibrated(facts_of(writing_job(tmp_path, "/out/model", length=SAVED)))
    free = job.model.limit_s.sum(0) == 0
    rate = job.drawn["burst_bytes_per_s" if fast_tier else "snapshot_bytes_per_s"]
    copied_s = np.minimum(SAVED / rate, 0.030)[free]

    # WHEN what is on a fast tier is copied and read once more
    total_s = edited(job, BackgroundSaves(fast_tier=fast_tier)).run.total_s[free]

    # THEN one save goes on after the last step, or all of them do since the first step
    save_s = 0.030 * (job.drawn["drained_times"][free] if fast_tier else 1.0)
    assert total_s == pytest.approx(
        np.maximum(0.030 + copied_s + 10 * save_s, 10 * (0.030 + copied_s) + save_s), rel=0.01
    )


@pytest.mark.parametrize(("made", "in_memory"), [(writing_job, True), (syncing_job, False)])
def test_memory_may_have_taken_what_a_local_disk_has_to_take(tmp_path, made, in_memory):
    # GIVEN ten saves of 30 ms on a local disk, with syncs and without
    facts = facts_of(made(tmp_path, "/out/log", length=SAVED))
    job = calibrated(dataclasses.replace(facts, storage=dataclasses.replace(facts.storage, local=True)))

    # WHEN
    save_s = edited(job, BackgroundSaves(fast_tier=True)).model.save_s

    # THEN
    times = job.drawn["drained_times"] * np.where(in_memory, job.drawn["durable_times"], 1.0)
    assert save_s == pytest.approx(np.broadcast_to(0.030 * times, (10, 64)))


@pytest.mark.parametrize(
    ("first_ms", "rested_ms"), [(30, 0), (10, 20), (2, 28), (40, 0)], ids=["like", "a part", "all", "slow"]
)
def test_storage_that_rests_between_saves_takes_as_much_longer_without_rest(tmp_path, first_ms, rested_ms):
    # GIVEN saves of 30 ms after 30 ms without, and a first one that took another time
    starts = [0, *(30 + first_ms + 60 * n for n in range(9))]
    calls = [(at, at + 10, LOOP, "pread", 0, SIZE, n * SIZE) for n, at in enumerate(starts)]
    calls += [(at + 30, at + 30 + (first_ms if at == 0 else 30), LOOP, "write", 1, SAVED, 0) for at in starts]
    steps = [(at, at + 30 + (first_ms if at == 0 else 30), 10) for at in starts]
    session = training(
        tmp_path, sorted(calls), steps, paths=["/data/a", "/out/model"], sizes=[10 * SIZE, 10 * SAVED]
    )  # fmt: skip
    job = calibrated(facts_of(session))

    # WHEN
    save_s = edited(job, BackgroundSaves()).model.save_s

    # THEN what the first one was quicker by, where it was
    assert save_s[0] == pytest.approx(first_ms / 1e3)
    assert save_s[1:] == pytest.approx(np.full_like(save_s[1:], (30 + rested_ms) / 1e3))


@pytest.mark.parametrize("saves", [BackgroundSaves(), BackgroundSaves(fast_tier=True)])
def test_a_part_of_a_long_job_saves_as_long_as_all_of_it(tmp_path, saves):
    # GIVEN batches that stand for two each, but for the last one
    job = calibrated(facts_of(writing_job(tmp_path, "/out/model", length=SAVED)))
    half = job.but(weight=np.array([2.0] * 9 + [1.0]))

    # THEN
    one, other = (edited(each, saves).run for each in (job, half))
    assert other.total_s - one.total_s == pytest.approx(
        np.maximum(one.batch_s[:9], edited(job, saves).model.save_s[:9]).sum(0), rel=0.05
    )


@pytest.mark.parametrize(
    ("serial", "before", "left"), [(0.0, 1, 1 / 16), (1.0, 1, 1.0), (0.0, 16, 1.0), (0.0, 4, 1 / 4)]
)
def test_more_readers_of_a_validation_set_share_what_is_not_served_in_turn(tmp_path, serial, before, left):
    # GIVEN 40 ms between two steps in which a file is read that no step reads
    starts = [20 * n + 40 * (n > 4) for n in range(10)]
    calls = [(at, at + 10, LOOP, "pread", 0, SIZE, n * SIZE) for n, at in enumerate(starts)]
    calls += [(100 + 4 * n, 104 + 4 * n, LOOP, "pread", 1, SIZE, n * SIZE) for n in range(10)]
    steps = [(at, at + 20, 10) for at in starts]
    session = training(
        tmp_path, sorted(calls), steps, paths=["/data/a", "/other/b"], sizes=[10 * SIZE] * 2
    )  # fmt: skip
    job = calibrated(facts_of(session))
    shared = {name: np.full(64, serial) for name in ("wait_serial", "transfer_serial")}
    unlimited = {name: np.zeros_like(job.model.limit_s) for name in ("limit_s", "seek_s")}
    facts = dataclasses.replace(job.facts, validation_readers=before)
    job = dataclasses.replace(job.but(**shared, **unlimited), facts=facts)

    # WHEN
    stall_s = edited(job, ValidationReaders(16)).model.stall_s.sum(0)

    # THEN nothing is shared if storage is at its limit
    assert job.facts.batches.validation_s.sum() == pytest.approx(0.040)
    left_s = np.where(job.model.limit_s.sum(0) > 0, 0.040, left * 0.040)
    assert stall_s == pytest.approx(left_s, rel=0.01)


def test_twice_the_bandwidth_halves_what_is_written_to_the_input_s_storage(tmp_path):
    # GIVEN writes of 300 ms in all
    here, elsewhere = (
        calibrated(facts_of(writing_job(tmp_path / name, f"/{name}/log", length=SAVED)))
        for name in ("data", "out")
    )

    # THEN
    assert np.median(edited(here, OtherStorage(bandwidth=2)).model.write_s.sum(0)) == pytest.approx(0.150)
    assert edited(elsewhere, OtherStorage(bandwidth=2)).model.stall_s.sum(0) == pytest.approx(
        np.full(64, 0.3)
    )


def test_a_reader_that_slow_writes_hid_takes_as_long_as_its_calls(tmp_path):
    # GIVEN a reader that reads two files for 10 ms each, one after the other, beside 90 ms of writes
    calls: list[tuple] = []
    for n, at in enumerate(range(0, 2000, 100)):
        reads = (at + 9, 2 * n), (at + 20, 2 * n + 1)
        calls += [(begin, begin + 10, 7, "pread", file, SIZE, 0) for begin, file in reads]
        calls.append((at + 10, at + 100, LOOP, "write", 40, 15, 0))
    steps = [(at, at + 100, 40 if at == 0 else 1) for at in range(0, 2000, 100)]
    paths = [*(f"/data/{number:02}" for number in range(40)), "/out/log"]
    session = training(tmp_path, sorted(calls), steps, paths=paths, sizes=[SIZE] * 40 + [300])

    # WHEN nothing but the reader is left
    found = promise(calibrated(facts_of(session)), BufferedWrites())

    # THEN each batch takes 20 ms of reads, and 1 ms between them
    assert found.expected == pytest.approx(100 / 21, rel=0.15)


def test_saves_in_the_background_do_not_spare_the_validation_before_them(tmp_path):
    # GIVEN ten epochs of 6.2 s, of which a save takes 0.2
    job = calibrated(facts_of(epochs_that_save(tmp_path)))
    free = job.model.limit_s.sum(0) == 0

    # THEN
    assert speedups(job, BackgroundSaves())[free] == pytest.approx(np.full(free.sum(), 62 / 60), rel=0.01)
