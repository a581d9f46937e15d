"""What is promised of more readers: nothing is certain where storage may be full, and nothing where it is."""

import random

import pytest

from tests.closed_readers import Delay, Queue, calls_of, shared_pipe
from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings import read_parallelism
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.more_readers import times_as_long
from tfdarshan.findings.reader_change import if_served, with_readers
from tfdarshan.findings.verdict import LITTLE
from tfdarshan.findings.whatif import StorageChange, what_if


def job(logdir, calls, *, waits=0.9, cpus=None, cpu_s=1.0):
    """Gives a session of steps of 50 ms that wait for calls which read one large file each."""
    readers = 1 + max(reader for _, _, reader, _ in calls)
    made = [
        (start, end, reader + 1, "pread", reader, length, place * length)
        for place, (start, end, reader, length) in enumerate(calls)
    ]
    end = max(call[1] for call in calls)
    steps = [(50.0 * n, 50.0 * n + 50, 50 * waits) for n in range(int(end // 50))]
    paths = [f"/data/{reader}" for reader in range(readers)]
    meta = {} if cpus is None else {"machine": {"cpus": cpus, "memory_bytes": 1 << 34, "cpu_s": cpu_s}}
    return training(logdir, made, steps, paths=paths, sizes=[10**12] * readers, meta=meta)


def rests(mean_ms):
    return lambda noise: noise.expovariate(1 / mean_ms)


def names(session):
    return [finding.name for finding in diagnose(session).findings]


@pytest.mark.parametrize(
    "calls",
    [
        calls_of(Queue(0, 0, 1 / 30_000), readers=2, rest_ms=rests(2)),
        shared_pipe(readers=2, rest_ms=rests(2), alone_ms=4),
        calls_of(Queue(0, 1000 / 240), readers=2, rest_ms=rests(2)),
    ],
    ids=["30 MB/s in a queue", "25 MB/s shared", "240 calls a second"],
)
def test_a_pipe_that_is_full_is_said_to_be_and_no_reader_added(tmp_path, calls):
    session = job(tmp_path, calls)

    # THEN more readers are nobody's cure, and what-if expects nothing of them, and little at most
    gain = what_if(measure(session), StorageChange(threads=16)).gain
    assert "read_parallelism" not in names(session)
    assert "full_storage" in names(session)
    assert gain.low_s == 0
    assert gain.speedup == pytest.approx(1.0)
    assert gain.speedup_range[1] < 1.5


@pytest.mark.parametrize("thread", [LOOP, 1])
def test_a_loop_that_reads_itself_reads_one_after_the_other_without_steps_too(tmp_path, thread):
    # GIVEN 100 files that are opened and read in 10 ms each, a fifth of which is no call, and no steps
    calls = []
    for file in range(100):
        at = 12.5 * file
        calls += [(at, at + 4, thread, "open", file, 0), (at + 4, at + 10, thread, "read", file, 1000)]
    session = training(tmp_path, calls, paths=[f"/data/{n}" for n in range(100)], sizes=[1000] * 100)

    # THEN nothing is certain, half of what 8 readers give is expected, and the loop waits for it
    (found,) = (one for one in diagnose(session).findings if one.name == "read_parallelism")
    assert found.gain.low_s == 0
    assert found.gain.if_so_s == pytest.approx(1.0 * (1 - times_as_long(0.08, 1, 8)), rel=0.1)
    assert found.gain.saved_s == pytest.approx(found.gain.if_so_s / 2, rel=0.05)
    assert (found.stall_s > 0) is (thread == LOOP)


def test_storage_that_waits_promises_for_certain(tmp_path):
    session = job(tmp_path, calls_of(Delay(5), readers=2, rest_ms=rests(1)))

    first = diagnose(session).problems[0]

    assert first.name == "read_parallelism"
    assert first.gain.speedup_range[0] > 1.5
    assert "full_storage" not in names(session)


@pytest.mark.parametrize(
    ("waits", "busy", "certain"),
    [(0.25, 1.5, False), (0.25, 0.5, True), (0.9, 1.5, True)],
    ids=["steps leave half of one", "steps leave more than one", "steps hardly compute"],
)
def test_more_threads_need_a_processor_that_steps_leave(tmp_path, waits, busy, certain):
    # GIVEN storage that waits, two processors, and a job that keeps 1.5 of them busy, or half of one
    calls = calls_of(Delay(5), readers=2, rest_ms=rests(1))
    lasts_s = max(call[1] for call in calls) / 1e3
    session = job(tmp_path, calls, waits=waits, cpus=2, cpu_s=busy * lasts_s)

    # THEN threads that would take a processor from steps which mostly compute give nothing certain
    gain = next(one.gain for one in diagnose(session).findings if one.name == "read_parallelism")
    assert gain.speedup > 1.2
    assert (gain.speedup_range[0] > 1) is certain
    assert [one.refuted_by for one in gain.doubts] == (
        [] if certain else ["steps take longer beside the pipeline"]
    )


def test_one_reader_shows_nothing_so_nothing_is_certain(tmp_path):
    # GIVEN one reader of 5 ms a call: a wait, or 200 calls a second and no more
    session = job(tmp_path, calls_of(Queue(0, 5), readers=1, rest_ms=rests(0.5)))

    found = next(finding for finding in diagnose(session).findings if finding.name == "read_parallelism")

    assert found.gain.speedup_range[0] == 1.0
    assert found.gain.speedup > 1.5
    assert any("not shown by this session" in entry.text for entry in found.evidence)
    assert what_if(measure(session), StorageChange(threads=16)).gain.speedup_range[0] == pytest.approx(1.0)


def test_a_burst_and_reads_from_memory_are_no_shallow_queue_that_gives_more(tmp_path):
    # GIVEN 8 readers of 10 MB/s each, and before them in each second one that memory serves at 4 GB/s
    calls = []
    for second in range(10):
        at = 1000.0 * second
        calls += [(at + n, at + n + 0.25, 0, 1_000_000) for n in range(40)]
        calls += [
            (at + 50 + 10 * n, at + 60 + 10 * n, reader, 100_000) for n in range(94) for reader in range(8)
        ]

    assert "too_many_threads" not in names(job(tmp_path, sorted(calls)))


def test_one_quick_phase_is_no_proof(tmp_path):
    # GIVEN a first second in which one reader has 400 MB/s, of a burst, and then 8 that have 40 MB/s
    calls = [(4.0 * n, 4.0 * n + 4, 0, 1_600_000) for n in range(250)]
    calls += [(1000 + 20.0 * n, 1020 + 20.0 * n, reader, 100_000) for n in range(200) for reader in range(8)]

    assert "too_many_threads" not in names(job(tmp_path, calls))


def test_storage_that_is_slow_at_times_has_not_too_many_readers(tmp_path):
    # GIVEN 8 readers of calls of 2 ms that rest 10 ms, and calls of 40 ms for 300 ms of each second
    calls, free, noise = [], [0.0] * 8, random.Random(1)
    for _ in range(3000):
        reader = min(range(8), key=free.__getitem__)
        at = free[reader]
        end = at + (40 if at % 1000 < 300 else 2)
        calls.append((at, end, reader, 100_000))
        free[reader] = end + noise.expovariate(1 / 10)

    assert "too_many_threads" not in names(job(tmp_path, sorted(calls)))


@pytest.mark.parametrize(
    ("stages", "left"),
    [
        ([{"name": "map", "does": ["reads"], "function": "load"}, {"name": "batch", "size": 16}], 1.0),
        ([{"name": "map", "does": ["reads", "decodes"], "function": "load"}], 0.5),
        ([{"name": "from_generator", "does": ["python"], "function": "samples"}], 0.75),
    ],
    ids=["reads alone", "reads and decodes", "Python that does what it likes"],
)
def test_work_beside_reading_goes_side_by_side_where_the_same_stage_does_it(tmp_path, stages, left):
    # GIVEN a reader on two processors that reads in 1 of 10 ms, and does something else in the others
    calls = [(at, at + 1, 1, "read", 0, 100_000, at * 1_000_000) for at in range(0, 2_000, 10)]
    steps = [(100.0 * n, 100.0 * n + 100, 90.0) for n in range(20)]
    meta = {
        "machine": {"cpus": 2, "memory_bytes": 1 << 30, "cpu_s": 1.8},
        "pipelines": {"found": [{"stages": stages, "datasets": 1, "iterators": 1}], "left_out": 0},
    }
    measures = measure(training(tmp_path, calls, steps, sizes=[10**10], meta=meta))

    # THEN as many readers as there are processors halve what is known to be decoding
    assert with_readers(measures, 16)[1].other == pytest.approx(left)


@pytest.mark.parametrize(
    ("compute_ms", "part", "named"),
    [(20, 256 << 10, True), (140, 100_000, True), (900, 100_000, False)],
    ids=["waits", "waits a quarter", "computes"],
)
@pytest.mark.parametrize("served", [True, False], ids=["by memory later", "by storage"])
def test_a_job_that_waits_for_what_may_be_cured_is_offered_a_trial(
    tmp_path, monkeypatch, compute_ms, part, named, served
):
    # GIVEN one reader that never rests, and reads parts in order, from storage and then from memory: no copy
    # helps later epochs, and nothing says whether more readers do; large parts most likely move bytes
    at, calls, steps = 0, [], []
    for epoch in range(2):
        offset = 0
        for _ in range(12):
            took = 100 + compute_ms if epoch == 0 else compute_ms
            for n in range((100 + compute_ms) // 10):
                begin = at + n * took / ((100 + compute_ms) // 10)
                calls.append((begin, begin + (9.9 if epoch == 0 else 0.05), 1, "pread", 0, part, offset))
                offset += part
            steps.append((at, at + took, took - compute_ms))
            at += took
    session = training(tmp_path, calls, steps, paths=["/data/train"], sizes=[offset])
    monkeypatch.setattr(read_parallelism, "memory_served_later", lambda _: served)

    # WHEN
    found = diagnose(session)

    # THEN what may give nothing, and may give a lot, is named where nothing surer is left; as a guess of the
    # first epoch alone it is no problem. What may give little is named as that, unless it is such a guess
    gain = next(one.gain for one in found if one.name == "read_parallelism")
    assert [one.name for one in found.problems] == (["read_parallelism"] if named and not served else [])
    assert found.verdict.finding == ("read_parallelism" if named or not served else "input_bound")
    assert (LITTLE in found.verdict.sentence) is (not named and not served)
    first_alone = "memory served later epochs. No cure is certain."
    assert (first_alone in found.verdict.sentence) is (named and served)
    trial = f"One is worth a trial, because {found.cause.title}." if found.cause else "-"
    assert (trial in found.verdict.sentence) is (named and served)
    assert named is (gain is not None and gain.speedup_range[0] == 1)
    # ... and less is expected of a guess than of what is as likely to be so as not
    if gain is not None and part > 100_000:
        assert gain.saved_s == pytest.approx((0.2 if served else 0.5) * gain.if_so_s)


def test_a_trial_of_what_a_cache_reads_once_is_no_problem(tmp_path):
    # GIVEN an epoch of reads in order of 200 kB, which move bytes as far as anybody knows, and one more that
    # a cache() serves
    calls = [(10.0 * n, 10.0 * n + 6, 1, "pread", 0, 200_000, 200_000 * n) for n in range(160)]
    steps = [(20.0 * n, 20.0 * n + 20, 18.0) for n in range(80)]
    stages = [{"name": "TFRecordDataset"}, {"name": "map", "does": ["decodes"], "function": "parse"}]
    one = {"stages": [*stages, {"name": "cache"}, {"name": "prefetch"}], "datasets": 1, "iterators": 2}
    machine = {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": 0.4}
    meta = {"machine": machine, "pipelines": {"found": [one], "left_out": 0}}

    # WHEN
    found = diagnose(training(tmp_path, calls, steps, paths=["/data/a"], sizes=[32_000_000], meta=meta))

    # THEN it is named as a trial of the first epoch
    assert not found.problems
    assert found.verdict.finding == "read_parallelism"
    assert "memory served later epochs." in found.verdict.sentence


@pytest.mark.parametrize("paced", [True, False])
def test_what_is_done_beside_storage_that_reads_on_is_not_moved_there_again(tmp_path, paced):
    # GIVEN a reader of parts of 256 KiB who decodes each for 1 to 5 ms. The kernel asks for the next one
    # meanwhile, so that one comes each 10 ms; or it does not, and each takes 7 ms
    noise, calls, at = random.Random(1), [], 0.0
    for _ in range(400):
        rested_ms = noise.uniform(1, 5)
        taken_ms = 10 - rested_ms if paced else 7.0
        calls.append((at + rested_ms, at + rested_ms + taken_ms, 0, 256 << 10))
        at += rested_ms + taken_ms

    # WHEN
    measures = measure(job(tmp_path, calls, cpus=4))
    worst, expected, best = with_readers(measures, 8)

    # THEN four processors decode four times as fast if storage gives more, and as fast as now if it does not
    assert (worst.other, best.other) == (1.0, 1 / 8)
    assert expected.other == pytest.approx((1 + 1 / 4) / 2 if paced else 1 / 4)
    assert if_served(measures, 8).other == 1 / 4
