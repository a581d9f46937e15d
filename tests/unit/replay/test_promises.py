"""Calibrated jobs, and what fixes give them, against closed forms."""

import dataclasses

import numpy as np
import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.findings.made_up_training import LOOP, MS, ORIGIN_NS, training
from tests.unit.replay.made_up_jobs import SIZE, database_job, file_job, record_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import CacheInMemory, DecodeCalls, Prefetch, Readers, ShufflePaths, edited
from tfdarshan.replay.job_model import OPEN
from tfdarshan.replay.loop_edits import (
    BackgroundSaves,
    BufferedWrites,
    SyncsBehind,
    ValidationCached,
    ValidationReaders,
)
from tfdarshan.replay.prior_model import prior_model
from tfdarshan.replay.priors import SETTING, draw
from tfdarshan.replay.promise import epoch_seconds, promise, promise_of, promise_of_many, speedups
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.simulate import simulate
from tfdarshan.replay.storage_edits import (
    KeptOpen,
    LargeReads,
    OtherLink,
    OtherStorage,
    SequentialReads,
    Shards,
    Staged,
)
from tfdarshan.replay.thinned_facts import kept_batches, thinned
from tfdarshan.workloads.laboratory.fix_edits import Uncompressed

EDITS = (
    Readers(), DecodeCalls(), Prefetch(), CacheInMemory(), ShufflePaths(), Staged(), Shards(), LargeReads(),
    SequentialReads(), Uncompressed(), OtherStorage(latency=0.5), OtherLink(1e6, 2e6), KeptOpen(),
    BackgroundSaves(), BufferedWrites(), SyncsBehind(1.0), ValidationReaders(), ValidationCached(),
)  # fmt: skip


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A loop that reads four files of 10 ms, decodes each for 5 ms, and computes for 20 ms."""
    return calibrated(facts_of(file_job(tmp_path_factory.mktemp("job"), decode_ms=5)))


def test_the_network_takes_as_long_as_the_recorded_run(job):
    assert job.reproduces
    assert job.run.total_s == pytest.approx(np.full(64, 16 * 0.080), rel=0.03)
    assert job.run.wait_s == pytest.approx(np.full(64, 16 * 0.060), rel=0.03)


def unlimited(job):
    """Return the samples without a rate limit, which may be all that the job waits for: it hides the work."""
    return job.model.limit_s.sum(0) == 0


def test_calibration_finds_the_time_that_no_call_takes(job):
    work_s = job.model.work_s.sum(0)[unlimited(job)]
    assert work_s == pytest.approx(np.full(len(work_s), 64 * 0.005), rel=0.03)


def test_a_run_that_the_network_does_not_reproduce_promises_nothing_firm(tmp_path):
    # GIVEN steps that wait for 50 ms each, though all calls were made before
    calls = [(10 * n, 10 * n + 5, LOOP, "pread", 0, SIZE, n * SIZE) for n in range(5)]
    steps = [(100 * n, 100 * n + 100, 50) for n in range(1, 10)]
    found = calibrated(facts_of(training(tmp_path, calls, steps, sizes=[5 * SIZE])))

    # THEN the network does not wait, and no fix shortens what it does not explain
    assert found.step_error == pytest.approx(np.full(64, -0.5), rel=0.01)
    assert not found.reproduces
    assert not promise(found, Readers()).firm
    assert found.run.total_s == pytest.approx(np.full(64, 9 * 0.100), rel=0.01)
    assert speedups(found, Readers(), Prefetch(), Staged()) == pytest.approx(np.ones(64), rel=0.02)


@pytest.mark.parametrize(("cpu_s", "bound"), [(0.1, False), (1.0, True)])
def test_no_fix_takes_less_than_the_processor_time_that_is_left(tmp_path, cpu_s, bound):
    # GIVEN 0.96 s of one reader on two processors, of which other programs take 0.4
    machine = {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": cpu_s, "others_cpus": 0.4}
    found = calibrated(facts_of(file_job(tmp_path, meta={"machine": machine})))
    assert found.run.total_s == pytest.approx(np.full(64, 16 * 0.060), rel=0.03)

    # WHEN
    gained = speedups(found, Readers(), Prefetch())

    # THEN 1 s of processor time takes what 17 threads get of two processors, beside 0.4 of others, at least
    assert (gained.max() <= 2 * 17 / 17.4 * 0.96 + 0.01) == bound
    assert (np.median(gained) > 2) != bound

    # AND its epochs take as long together
    fixed = edited(found, Readers(), Prefetch())
    assert epoch_seconds(fixed).sum() == pytest.approx(fixed.run.total_s @ fixed.weight)


@pytest.mark.parametrize("compute_ms", [800, 1600, 4000])
def test_steps_that_hardly_wait_are_reproduced_too(tmp_path, compute_ms):
    # GIVEN steps that wait for 2 to 9 % of their time
    found = calibrated(facts_of(file_job(tmp_path, compute_ms=compute_ms, decode_ms=10)))

    # THEN
    assert (np.abs(found.step_error) <= SETTING["reproduces"]).all()
    assert found.reproduces


def test_prefetch_hides_computing(job):
    # GIVEN 60 ms of preparing and 20 ms of compute, of which both epochs' first and last have nobody beside
    hidden_s = 2 * 7 * 0.020

    # THEN
    assert np.median(speedups(job, Prefetch())) == pytest.approx(1.280 / (1.280 - hidden_s), rel=0.02)


def test_python_s_lock_changes_hands_once_a_query(tmp_path):
    # GIVEN a database whose queries read 100 pages, or one, without Python between them
    many, one = (calibrated(facts_of(database_job(tmp_path / str(pages), pages=pages))) for pages in (100, 1))

    # THEN threads give the long queries no less, and larger pages spare Python no call
    assert (speedups(many, Readers()) > 0.9 * speedups(one, Readers())).all()
    assert speedups(many, LargeReads()) == pytest.approx(np.ones(64), rel=0.03)


def test_a_cache_saves_the_second_epoch(job):
    # THEN what is left of it is computing
    assert speedups(job, CacheInMemory()) == pytest.approx(np.full(64, 1.280 / (0.640 + 8 * 0.020)), rel=0.02)


def test_a_cache_leaves_what_works_behind_it(job):
    # THEN of 32 x 5 ms of decoding in the second epoch a share that nobody knows
    saved_s = 1.280 - 1.280 / speedups(job, CacheInMemory(works_behind=True))
    left_s = job.drawn["worked_behind"] * 32 * 0.005
    assert saved_s[unlimited(job)] == pytest.approx((0.480 - left_s)[unlimited(job)], rel=0.02)


def test_staging_leaves_decoding(job):
    gains = speedups(job, Staged())[unlimited(job)]
    assert (gains <= 1.280 / (1.280 - 64 * 0.010) * 1.03).all()
    assert (gains >= 1.280 / (1.280 - 64 * 0.0095)).all()


def test_files_that_are_not_staged_stay_as_they_are(job):
    nothing = np.zeros(len(job.facts.files), bool)
    assert speedups(job, Staged(nothing)) == pytest.approx(np.ones(64))


def test_two_fixes_together_give_more_than_the_better_one(job):
    alone = [speedups(job, edit) for edit in (Prefetch(), Staged())]
    assert (speedups(job, Prefetch(), Staged()) > np.maximum(*alone)).all()


def test_independent_fixes_go_together_in_any_order(job):
    one, other = (Prefetch(), Staged(), KeptOpen()), (KeptOpen(), Staged(), Prefetch())
    assert speedups(job, *one) == pytest.approx(speedups(job, *other), rel=1e-3)


@pytest.mark.parametrize(
    "edit",
    [KeptOpen(), SequentialReads(), CacheInMemory(), Prefetch(), Staged(), LargeReads(), Shards()],
)
def test_a_fix_that_is_made_twice_gives_as_much(job, edit):
    assert speedups(job, edit, edit) == pytest.approx(speedups(job, edit), rel=0.01)


def test_files_that_stay_open_were_opened_in_each_process(tmp_path):
    # GIVEN four epochs of four files, of which two workers take turns to open each for 2 ms and read it for 8
    read: dict[int, list[tuple]] = {1: [], 2: []}
    steps = []
    for number, at in enumerate(range(0, 160, 10)):
        epoch, file = divmod(number, 4)
        read[1 + (epoch + file) % 2] += [
            (at * MS, (at + 2) * MS, 1, "open", file, 0),
            ((at + 2) * MS, (at + 10) * MS, 1, "pread", file, SIZE, 0),
            ((at + 10) * MS, (at + 10) * MS, 1, "close", file, 0),
        ]
        steps.append([number, *(ORIGIN_NS + ms * MS for ms in (at, at + 10)), 9 * MS, ""])
    paths, sizes = [f"/data/{file}" for file in range(4)], [SIZE] * 4
    owner = job_of([], paths, sizes, duration_ns=160 * MS, meta={"steps": {"rows": steps, "left_out": 0}})
    workers = [job_of(calls, paths, sizes, pid=200 + pid) for pid, calls in read.items()]
    before = calibrated(facts_of(write_session(tmp_path, owner, *workers)))

    # WHEN
    after = edited(before, KeptOpen())

    # THEN each opens each file once
    assert before.model.calls[OPEN].sum() == 16
    assert after.model.calls[OPEN].sum() == 8
    assert after.model.wait_s[OPEN].sum(0) == pytest.approx(before.model.wait_s[OPEN].sum(0) / 2)


def test_members_of_tar_files_take_time_of_python(tmp_path):
    # GIVEN a loop that reads 64 files, as many for each of 16 batches
    job = calibrated(facts_of(file_job(tmp_path, batches=16, epochs=1)))

    # WHEN
    records_s, members_s = (edited(job, one).run.total_s for one in (Shards(), Shards(archives=True)))

    # THEN each member takes its time once
    assert np.median((members_s - records_s) / job.drawn["member_s"]) == pytest.approx(64, rel=0.05)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: type(edit).__name__)
def test_a_fix_leaves_the_recorded_job_as_it_is(job, edit):
    # GIVEN
    before = {one.name: np.copy(getattr(job.model, one.name)) for one in dataclasses.fields(job.model)}

    # WHEN
    edited(job, edit)

    # THEN
    assert all(np.array_equal(values, getattr(job.model, name)) for name, values in before.items())


def test_storage_that_is_the_same_changes_nothing(job):
    assert speedups(job, OtherStorage()).tolist() == [1.0] * 64


def test_slower_storage_takes_longer(job):
    assert np.median(speedups(job, OtherStorage(latency=2, bandwidth=0.5))) == pytest.approx(1.280 / 1.920)


def test_a_faster_link_shortens_transfers_by_what_their_bytes_take_on_it(job):
    # GIVEN a link of 50 MB/s, on which 100 kB take 2 ms, and one of 100 MB/s
    before, after = job.model.transfer_s, OtherLink(50e6, 100e6)(job).model.transfer_s

    # THEN 1 ms is gone, or half of a transfer that took less than that
    assert before - after == pytest.approx(np.minimum(1e-3, before / 2))


def test_a_local_disk_is_behind_no_link(job):
    local = dataclasses.replace(
        job, facts=dataclasses.replace(job.facts, storage=dataclasses.replace(job.facts.storage, local=True))
    )
    assert OtherLink(1e6, 1e9)(local) is local


def test_what_runs_differ_by_is_gone_from_the_mean_of_many(job):
    found = promise_of_many(job, BufferedWrites())
    assert (found.low, found.high) == pytest.approx((1.0, 1.0))


def test_a_range_holds_what_is_expected(job):
    found = promise(job, Readers())
    assert 1 < found.low < found.expected < found.high
    assert found.firm


def test_a_fix_of_nothing_promises_nothing_but_what_runs_differ_by(job):
    found = promise(job, BufferedWrites())
    assert found.expected == pytest.approx(1.0)
    assert found.high / found.low == pytest.approx(np.exp(2 * 1.645 * np.sqrt(2) * 0.03), rel=0.03)


@pytest.mark.parametrize("times", [2.0, 1 / 2])
def test_a_model_is_wrong_in_proportion_to_the_time_that_it_changes(job, times):
    # WHEN each sample is twice as fast, or twice as slow
    found = promise_of(job, np.full(len(job.weight), times))

    # THEN half of the time has changed, by four tenths of which the model may be wrong
    ends = times * np.exp(np.array([-1.645, 1.645]) * np.hypot(np.sqrt(2) * 0.03, 0.4 / 2))
    assert (found.low, found.high) == pytest.approx(ends.tolist(), rel=0.03)


def test_no_range_goes_beyond_a_loop_that_never_waits(job):
    # GIVEN a loop that computes for 20 of 80 ms
    # WHEN the replay finds it 3.5 times as fast, and may be wrong
    found = promise_of(job, np.full(len(job.weight), 3.5))

    # THEN the range is as wide as ever below, and ends where nothing is waited for
    assert found.low == pytest.approx(
        3.5 * np.exp(-1.645 * np.hypot(np.sqrt(2) * 0.03, 0.4 * 2.5 / 3.5)), rel=0.03
    )
    assert found.expected == pytest.approx(3.5)
    assert found.high == pytest.approx(4.0, rel=0.02)


def test_a_part_of_a_long_job_takes_as_long_as_all_of_it(tmp_path):
    # GIVEN more tasks than are simulated, memory serving the second epoch
    facts = facts_of(file_job(tmp_path, batches=120, files=11, cached_ms=0.04))
    assert len(facts.batch) > SETTING["most_tasks"]

    # WHEN
    part = thinned(facts)

    # THEN
    assert len(part.batch) <= SETTING["most_tasks"]
    assert part.batches.weight.sum() == pytest.approx(240)
    assert part.batches.total_s == pytest.approx(facts.batches.total_s)
    assert part.batches.weight @ part.batches.wait_s == pytest.approx(facts.batches.wait_s.sum())
    assert (np.diff(part.batch) >= 0).all()
    taken_s = [np.median(simulate(prior_model(some, draw(8))).total_s) for some in (part, facts)]
    assert taken_s[0] == pytest.approx(taken_s[1], rel=0.01)


def test_batches_that_stand_for_others_go_on_to_do_so(tmp_path):
    # GIVEN so many short epochs that a part of the job still has more tasks than are simulated
    part = thinned(facts_of(file_job(tmp_path, batches=24, files=11, epochs=15)))
    assert len(part.batch) > SETTING["most_tasks"]

    # WHEN
    again = thinned(part)

    # THEN
    assert again.batches.weight.sum() == pytest.approx(24 * 15)
    assert again.batches.total_s == pytest.approx(part.batches.total_s)


def test_an_epoch_s_first_batch_stands_for_no_other():
    # GIVEN 40 batches of an epoch, too few for a second stretch of every fifteenth
    weight = kept_batches(np.zeros(40, int), 8, 15)

    # THEN
    assert weight[0] == weight[-1] == 1
    assert weight.sum() == pytest.approx(40)
    assert (weight[1:8] > 1).all()


def test_a_cache_of_half_a_file_spares_all_passes_but_the_first(tmp_path):
    # GIVEN three passes over the first half of a file, in any order, and steps that compute for 1 ms
    order = [n * step % 32 for step in (1, 5, 7) for n in range(32)]
    session = record_job(tmp_path, order, read_ms=[4] * 96, batches=12, file_size=2 * 32 * 8192)
    job = calibrated(facts_of(session))

    # THEN 96 reads of 4 ms become 32
    made = edited(job, CacheInMemory(decoded=False))
    assert made.run.total_s / job.run.total_s == pytest.approx((32 * 4 + 12) / (96 * 4 + 12), rel=0.02)


@pytest.mark.parametrize("reader", [LOOP, LOOP + 1])
def test_a_buffer_of_one_batch_hides_one_step_of_the_eight_that_a_shard_is_read_for(tmp_path, reader):
    # GIVEN five shards of eight reads of 20 ms, each of which eight batches of 20 ms are made of
    calls, steps, at = [], [], 0
    for number in range(40):
        reads = 8 if number % 8 == 0 else 0
        calls += [(at + 20 * n, at + 20 * n + 20, reader, "pread", number + n, SIZE, 0) for n in range(reads)]
        steps.append((at, at + 20 * reads + 20, 20 * reads))
        at += 20 * reads + 20
    paths = [f"/data/{number:02}" for number in range(40)]
    job = calibrated(facts_of(training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * 40)))

    # THEN
    assert job.facts.batch.tolist() == np.repeat(np.arange(0, 40, 8), 8).tolist()
    assert np.median(speedups(job, Prefetch(1))) == pytest.approx(1600 / (320 + 4 * 300), rel=0.02)
