"""Findings on the input's calls, on jobs whose seconds can be worked out by hand."""

import numpy as np
import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.findings.made_up_training import LOOP, MS, epochs_of_steps, training
from tfdarshan.findings import fits_in_memory, reopening, straggler
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure

KB, MB = 1_000, 1 << 20
READERS = 16
STEPS = 20


def paths(count, folder="/data/train"):
    return [f"{folder}/{number:05}.jpg" for number in range(count)]


def busy_readers(make, *, steps=STEPS, readers=READERS, step_ms=100):
    """Gives calls of readers that never rest: `make(n)` gives turn n: operation, file, length, offset, ms."""
    calls, turn = [], 0
    for reader in range(readers):
        at = 0.0
        while at < steps * step_ms:
            for operation, file, length, offset, taken_ms in make(turn):
                calls.append((at, at + taken_ms, reader + 1, operation, file, length, offset))
                at += taken_ms
            turn += 1
    return calls


def found_in(session, name):
    """Gives a finding of a session that has problems, whose costs are no more than a step."""
    found = diagnose(session)
    assert found.problems, found
    assert sum(one.cost_s for one in found.findings if one.gain) <= 0.1
    assert found.verdict.finding == found.problems[0].name
    one = next(one for one in found.findings if one.name == name)
    assert one.gain.low_s <= one.gain.saved_s <= one.gain.high_s
    return one


WAITING = epochs_of_steps(STEPS, 100, 90)


def test_many_small_files_want_shards(tmp_path):
    # GIVEN files of 100 KB that take 3 ms to open and 2 ms to read
    count = 6_000
    calls = busy_readers(
        lambda n: [
            ("open", n % count, 0, -1, 3),
            ("pread", n % count, 100 * KB, 0, 2),
            ("pread", n % count, 0, 0, 0.01),
        ]
    )
    session = training(tmp_path, calls, WAITING, paths=paths(count), sizes=[100 * KB] * count)

    # WHEN
    first = found_in(session, "small_files")

    # THEN a shard is at least as many as readers
    assert "16 TFRecord shards" in first.cure.what
    assert "num_parallel_reads=16" in first.cure.line


def test_probes_for_the_end_are_counted_by_their_time(tmp_path):
    # GIVEN four large files whose readers spend 4 of 5 ms on reads of nothing
    calls = busy_readers(lambda n: [("read", n % 4, MB, n * MB, 1), ("read", n % 4, 0, -1, 4)])
    session = training(tmp_path, calls, WAITING, paths=paths(4), sizes=[10_000 * MB] * 4)

    # WHEN
    first = found_in(session, "eof_probes")

    # THEN 4/5 of 100 ms of the pipeline
    assert 0.015 < first.gain.saved_s <= 0.082


def test_stats_of_folders_are_no_storm(tmp_path):
    # GIVEN imports that ask for each folder above a file, and one file that is read
    names = ["/home/user", "/home/user/lib", "/data/a"]
    calls = [
        (100 * n + k, 100 * n + k + 1, LOOP, "stat", k % 2, 0) for n in range(STEPS) for k in range(10, 40)
    ]
    calls += [
        call
        for n in range(STEPS)
        for call in (
            (100 * n, 100 * n + 1, LOOP, "open", 2, 0),
            (100 * n + 1, 100 * n + 2, LOOP, "read", 2, 100),
        )
    ]
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), paths=names, sizes=[-1, -1, 5000])

    # THEN
    assert "stat_storm" not in [finding.name for finding in diagnose(session).findings]


def test_stats_beyond_the_opens_are_a_storm(tmp_path):
    # GIVEN nine stats of 1 ms to one open and one read of 0.5 ms each
    calls = busy_readers(
        lambda n: (
            [("stat", n % 50, 0, -1, 1)] * 9 + [("open", n % 50, 0, -1, 0.5), ("read", n % 50, 100, 0, 0.5)]
        )
    )
    session = training(tmp_path, calls, WAITING, paths=paths(50), sizes=[10_000] * 50)

    # WHEN
    first = found_in(session, "stat_storm")

    # THEN 8 of 10 ms are needless
    assert 0.015 < first.gain.saved_s <= 0.082
    assert first.files


def test_a_storm_of_the_training_loop_itself_stands_in_its_way(tmp_path):
    # GIVEN a loop that asks 30 times for a file, 1 ms each, after a wait of 1 ms
    calls = [
        (100 * n + 10 + k, 100 * n + 11 + k, LOOP, "stat", 0, 0) for n in range(STEPS) for k in range(30)
    ]
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1))

    # WHEN
    (first,) = diagnose(session).problems

    # THEN 30 ms of 100
    assert first.name == "stat_storm"
    assert first.cost_s == pytest.approx(0.030, rel=0.03)
    assert first.gain.speedup == pytest.approx(100 / 70, rel=0.03)


@pytest.mark.parametrize(("asked_by", "found"), [(LOOP, True), (1, False)])
def test_a_loop_that_asks_before_each_open_is_told_and_a_reader_that_asks_once_is_not(
    tmp_path, asked_by, found
):
    # GIVEN steps that read 8 files each in their wait, by one thread; each file is asked for once, 5 ms long
    calls = []
    for file in range(8 * STEPS):
        at = 100 * (file // 8) + 11.0 * (file % 8)
        calls += [(at, at + 5, asked_by, "stat", file, 0), (at + 5, at + 6, asked_by, "open", file, 0)]
        calls += [(at + 6, at + 11, asked_by, "read", file, 100 * KB)]
    count = 8 * STEPS
    session = training(tmp_path, calls, WAITING, paths=paths(count), sizes=[100 * KB] * count)

    # THEN as many stats as opens are the reader's own, but not those of the loop's code
    assert ("stat_storm" in [one.name for one in diagnose(session).findings]) == found


def test_files_opened_for_every_sample_are_found(tmp_path):
    # GIVEN ten files of 10 GB, opened for 4 ms for each sample that takes 0.5 ms
    calls = busy_readers(
        lambda n: [
            ("open", n % 10, 0, -1, 4),
            ("pread", n % 10, 100 * KB, n * 100 * KB, 0.5),
            ("close", n % 10, 0, -1, 0.5),
        ]
    )
    session = training(tmp_path, calls, WAITING, paths=paths(10), sizes=[10_000 * MB] * 10)

    # WHEN
    found = reopening.find(measure(session))

    # THEN
    assert found.title.startswith("files are opened")
    assert found.evidence[0].value == len(calls) / 3


@pytest.mark.parametrize("processes", [1, 4])
def test_processes_that_share_a_file_do_not_open_it_again(processes, tmp_path):
    # GIVEN four opens of each of ten files and a read, by one process or by one each
    jobs = []
    for process in range(processes):
        calls: list = []
        for turn in range(process, 4, processes):
            for file in range(10):
                at = 100 * turn + 10 * file
                calls += [(at, at + 7, 1, "open", file, 0), (at + 7, at + 9, 1, "pread", file, 100 * KB)]
        calls = [(call[0] * MS, call[1] * MS, *call[2:]) for call in calls]
        jobs.append(job_of(calls, paths(10), [100 * KB] * 10, pid=100 + process, duration_ns=500 * MS))

    # WHEN
    found = {one.name: one for one in diagnose(write_session(tmp_path, *jobs)).findings}

    # THEN
    assert ("reopening" in found) == (processes == 1)
    if processes == 1:
        assert found["reopening"].title == "files are opened 4 times each"


def test_small_reads_out_of_order_are_found(tmp_path):
    # GIVEN reads of 8 KB anywhere in two files, 5 ms each
    rng = np.random.default_rng(1)
    calls = busy_readers(lambda n: [("pread", n % 2, 8 * KB, int(rng.integers(0, 40_000)) * KB, 5)])
    session = training(tmp_path, calls, WAITING, paths=paths(2), sizes=[40 * MB] * 2)

    assert found_in(session, "random_access").gain.speedup > 1


def test_what_memory_serves_is_no_quicker_in_order(tmp_path):
    # GIVEN reads of 60 to 140 kB anywhere in a file, which hardly take longer the larger they are
    rng = np.random.default_rng(1)

    def read(n):
        size = int(rng.integers(60, 141))
        return [("pread", 0, size * KB, int(rng.integers(0, 3_000)) * 100 * KB, 0.2 * (0.9 + size / 1_400))]

    calls = busy_readers(read)
    session = training(tmp_path, calls, WAITING, paths=paths(1), sizes=[300 * MB])

    # THEN those of which memory takes no less find nothing
    assert "random_access" not in {one.name for one in diagnose(session).findings}


def test_reading_in_order_is_not_random_though_several_readers_share_a_file(tmp_path):
    # GIVEN the same reads in order, by 16 readers of as many parts
    place = [0] * READERS

    def next_part(n):
        reader = n % READERS
        place[reader] += 1
        return [("pread", 0, 8 * KB, reader * 100 * MB + place[reader] * 8 * KB, 5)]

    calls, at = [], 0
    for at in range(0, STEPS * 100, 5):
        for reader in range(READERS):
            ((operation, file, length, offset, taken),) = next_part(reader)
            calls.append((at, at + taken, reader + 1, operation, file, length, offset))
    session = training(tmp_path, calls, WAITING, paths=paths(1), sizes=[1600 * MB])

    assert "random_access" not in {finding.name for finding in diagnose(session).findings}


def test_bandwidth_that_falls_with_depth_wants_fewer_threads(tmp_path):
    # GIVEN 2 readers at 400 MB/s together for the last fifth of each half second, else 16 at 25 MB/s together
    calls = []
    for at in range(0, STEPS * 100, 4):
        deep = at % 500 < 400
        readers, length = (16, 25_000 * 4 / 16) if deep else (2, 400_000 * 4 / 2)
        calls += [(at, at + 4, r + 1, "pread", r, int(length), at * MB) for r in range(readers)]
    session = training(tmp_path, calls, WAITING, paths=paths(16), sizes=[100_000 * MB] * 16)

    # WHEN
    first = found_in(session, "too_many_threads")

    # THEN
    assert "full_storage" not in [finding.name for finding in diagnose(session).findings]
    assert "num_parallel_calls=2" in first.cure.line


def test_a_slow_folder_is_named(tmp_path):
    # GIVEN every fifth file in a folder that is 20 times as slow
    names = [("/data/slow" if n % 5 == 0 else "/data/fast") + f"/{n:04}" for n in range(500)]
    calls = busy_readers(lambda n: [("read", n % 500, 100 * KB, 0, 40 if n % 5 == 0 else 2)])
    session = training(tmp_path, calls, WAITING, paths=names, sizes=[100 * KB] * 500)

    # WHEN
    first = found_in(session, "straggler")

    # THEN 190 of 240 ms of thread time are beyond what others take
    assert "/data/slow" in first.title
    assert all(path.startswith("/data/slow/") for path in first.files)
    # ... and what copies these files alone, and runs the job with the copies
    advise, apply, run = first.cure.line.splitlines()
    assert (
        advise == f"tfdarshan advise --logdir {session.path} --fast DIR --slow /data/slow --all -o plan.json"
    )
    assert apply == "tfdarshan stage apply plan.json"
    assert run.startswith("tfdarshan run --staged plan.json")
    assert 0.03 < first.gain.saved_s < 0.1 * 190 / 240 + 0.01


@pytest.mark.parametrize(
    ("size", "stored", "is_straggler"),
    [
        (100 * KB, 0, False),  # the kernel fetched nothing
        (100 * KB, 0.9, True),  # as much as the slow files hold
        (20_000 * KB, None, False),  # of no local file system, but as quick as memory
        (100 * KB, None, True),
    ],
)
def test_slow_files_from_the_page_cache_are_no_stragglers(tmp_path, size, stored, is_straggler):
    # GIVEN every fifth file in a folder that is 20 times as slow; each is read once
    root = "/data" if stored is None else "/local"
    calls = busy_readers(lambda n: [("read", n, size, 0, 40 if n % 5 == 0 else 2)])
    names = [f"{root}/{'slow' if n % 5 == 0 else 'fast'}/{n:04}" for n in range(len(calls))]
    slow_bytes = sum(call[5] for call in calls if call[4] % 5 == 0)
    kernel = {"rchar": len(calls) * size, "read_bytes": int(slow_bytes * (stored or 0))}
    session = training(tmp_path, calls, WAITING, paths=names, sizes=[size] * len(calls), kernel=kernel)

    # THEN
    assert (straggler.find(measure(session)) is not None) == is_straggler


def test_one_standstill_of_the_machine_makes_no_straggler(tmp_path):
    # GIVEN 3 s of reads of 2 ms, each of another file, and then one moment at which all 16 readers' take 100
    count = 30_000
    calls = busy_readers(lambda n: [("read", n, 100 * KB, 0, 2)], steps=30)
    assert len(calls) < count - READERS
    calls += [
        (3_000, 3_100, reader + 1, "read", count - 1 - reader, 100 * KB, 0) for reader in range(READERS)
    ]
    steps = epochs_of_steps(31, 100, 90)
    session = training(tmp_path, calls, steps, paths=paths(count), sizes=[100 * KB] * count)

    assert "straggler" not in {finding.name for finding in diagnose(session).findings}


def test_input_that_storage_serves_again_and_again_fits_in_memory(tmp_path):
    # GIVEN 40 files read over and over, 5 ms each time, on a machine of 16 GB
    calls = busy_readers(lambda n: [("read", n % 40, 100 * KB, 0, 5)])
    machine = {"machine": {"cpus": 8, "memory_bytes": 16_000_000_000, "cpu_s": 1.0}}
    session = training(tmp_path, calls, WAITING, paths=paths(40), sizes=[100 * KB] * 40, meta=machine)

    # WHEN
    first = found_in(session, "fits_in_memory")

    # THEN
    assert ".cache()" in first.cure.line


@pytest.mark.parametrize(
    ("slow_ms", "quick_ms", "storage_share", "is_found", "noted"),
    [(0.04, 0.04, 0.0, False, True), (5, 0.04, 0.05, False, False), (5, 5, 1.0, True, False)],
)
def test_input_that_memory_serves_is_not_said_to_come_from_storage(
    tmp_path, slow_ms, quick_ms, storage_share, is_found, noted
):
    # GIVEN 40 files read over and over, two of them slowly; the kernel says how much storage served
    calls = busy_readers(lambda n: [("read", n % 40, 100 * KB, 0, slow_ms if n % 40 < 2 else quick_ms)])
    machine = {"machine": {"cpus": 8, "memory_bytes": 16_000_000_000, "cpu_s": 1.0}}
    read = len(calls) * 100 * KB
    kernel = {"rchar": read, "read_bytes": int(read * storage_share)}
    session = training(
        tmp_path, calls, WAITING, paths=paths(40), sizes=[100 * KB] * 40, meta=machine, kernel=kernel
    )

    # THEN
    found = {finding.name: finding for finding in diagnose(session).findings}
    assert ("from storage" in fits_in_memory.find(measure(session)).title) is is_found
    # of which a session says much if most of the calls' time went there, though few bytes came from it
    assert ("page_cache" in found) is noted


def test_input_larger_than_memory_does_not_fit(tmp_path):
    calls = busy_readers(lambda n: [("read", n % 40, 100 * KB, 0, 5)])
    machine = {"machine": {"cpus": 8, "memory_bytes": 5_000_000, "cpu_s": 1.0}}
    session = training(tmp_path, calls, WAITING, paths=paths(40), sizes=[100 * KB] * 40, meta=machine)

    assert "fits_in_memory" not in {finding.name for finding in diagnose(session).findings}


def test_large_files_on_slow_storage_want_staging(tmp_path):
    # GIVEN reads of 1 MiB in order that take 100 ms each
    calls = busy_readers(lambda n: [("read", n % READERS, MB, n // READERS * MB, 100)])
    session = training(tmp_path, calls, WAITING, paths=paths(READERS), sizes=[1_000 * MB] * READERS)

    # WHEN
    first = found_in(session, "staging")

    # THEN
    assert "tfdarshan advise" in first.cure.line


def test_a_pipeline_that_computes_is_decode_bound(tmp_path):
    # GIVEN one reader that reads 1 of 10 ms, and decodes the rest on one of four processors
    calls = [(at, at + 1, 1, "read", 0, 100 * KB, at * MB) for at in range(0, STEPS * 100, 10)]
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 1.8}}
    session = training(tmp_path, calls, WAITING, sizes=[10_000 * MB], meta=machine)

    # WHEN
    first = found_in(session, "decode_bound")

    # THEN
    assert "staging will not help" in first.what


def _decoder(tmp_path, cpu_s, calls=None, pool_threads=None):
    """Measures two processors and a map that reads 2 of 10 ms, decodes in the others, and is waited for."""
    reads = [(at, at + 2, 1, "read", 0, 100 * KB, at * MB) for at in range(0, STEPS * 100, 10)]
    load = {"name": "map", "calls": calls, "function": "load", "does": ["reads", "decodes"]}
    pipeline = {"stages": [load], "pool_threads": pool_threads, "datasets": 1, "iterators": 1}
    meta = {
        "machine": {"cpus": 2, "memory_bytes": 1 << 30, "cpu_s": cpu_s},
        "pipelines": {"found": [pipeline], "left_out": 0},
    }
    return training(tmp_path, reads, WAITING, sizes=[10_000 * MB], meta=meta)


@pytest.mark.parametrize(
    ("cpu_s", "calls", "pool_threads", "limit"),
    [
        (3.6, None, None, "the processors have no more to give"),
        (1.8, 2, None, "as many calls decode at a time as there are processors"),
        (1.8, -1, None, "as many calls decode at a time as there are processors"),
        (1.8, -1, 1, None),
        (1.8, None, None, None),
    ],
)
def test_the_cure_says_why_no_more_calls_decode_at_a_time(tmp_path, cpu_s, calls, pool_threads, limit):
    # WHEN
    found = diagnose(_decoder(tmp_path, cpu_s, calls, pool_threads)).findings
    cure = next(finding.cure for finding in found if finding.name == "decode_bound")

    # THEN of one epoch, in which a cache only fills, no cache() is to be typed
    later = "by keeping decoded data if more epochs follow"
    less = f"Decode less, by storing the data smaller, or {later}: {limit}."
    assert (cure.what == less) is (limit is not None)
    assert "cache()" not in cure.line
    assert ("Decode with more calls at a time." in cure.what) is (limit is None)


def test_waiting_for_something_else_is_no_finding_of_calls(tmp_path):
    # GIVEN reads from memory, beside hardly any processor time
    calls = [(at, at + 0.2, 1, "read", 0, 100 * KB, at * MB) for at in range(4, STEPS * 100, 10)]
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 0.1}}
    session = training(tmp_path, calls, WAITING, sizes=[10_000 * MB], meta=machine)

    # WHEN
    found = diagnose(session)

    # THEN
    assert "decode_bound" not in {finding.name for finding in found.findings}
    assert not [one for one in found.problems if one.name in ("staging", "small_reads", "fits_in_memory")]


def test_calls_that_memory_serves_are_no_problem_of_storage(tmp_path):
    # GIVEN files of 100 KB that one reader opens and reads from memory, 3 ms of 100, while steps wait 3.5
    calls = []
    for n in range(100):
        for k in range(10):
            at = 100 * n + 0.3 * k
            calls += [
                (at, at + 0.15, 1, "open", 10 * n + k, 0),
                (at + 0.15, at + 0.3, 1, "read", 10 * n + k, 100 * KB),
            ]
    session = training(
        tmp_path, calls, epochs_of_steps(100, 100, 3.5), paths=paths(1000), sizes=[100 * KB] * 1000
    )

    # WHEN
    found = diagnose(session)

    # THEN
    assert found.problems == ()
    assert "page_cache" in {finding.name for finding in found.findings}
    assert found.verdict.state == "healthy"


@pytest.mark.parametrize(
    ("cpu_s", "cut", "cure"),
    [
        # One of four processors is busy: as many calls would go four times as fast, a cache all but once.
        (1.8, None, "dataset = dataset.map(decode).cache()"),
        # All are: more calls give nothing.
        (7.9, None, "dataset = dataset.map(decode).cache()"),
        (1.8, 9, "dataset = dataset.take(144).cache()"),
    ],
)
def test_what_each_epoch_decodes_again_is_kept_decoded(tmp_path, cpu_s, cut, cure):
    # GIVEN five files of 8 MB that one reader reads ten times, 1 of 10 ms, and decodes the rest
    times = range(0, STEPS * 100, 10)
    calls = [(at, at + 1, 1, "read", at // 10 % 5, 2 * MB, at // 50 % 4 * 2 * MB) for at in times]
    decode = {"name": "map", "does": ["reads", "decodes"], "function": "decode"}
    ends = [{"name": "batch", "size": 16}, *([{"name": "cache"}] if cut else [])]
    stages = [{"name": "from_tensor_slices", "size": 20}, decode, *ends[::-1]]
    stages += [{"name": "take", "size": cut}] if cut else []
    found = [{"stages": stages, "pool_threads": None, "datasets": 1, "iterators": 10}]
    meta = {
        "machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": cpu_s},
        "pipelines": {"found": found, "left_out": 0},
    }
    session = training(tmp_path, calls, WAITING, paths=paths(5), sizes=[8 * MB] * 5, meta=meta)

    # WHEN
    first = found_in(session, "decode_bound")

    # THEN nine of ten passes are spared, if each epoch decodes the same, which nobody knows
    assert first.cure.line == cure
    assert ("processors" in first.cure.what) == (cpu_s > 7)
    assert first.gain.saved_s == pytest.approx(0.9 * 0.090, rel=0.1)


AHEAD = {
    "stages": [
        {"name": "map", "does": ["reads"], "function": "load", "file": "/job/train.py", "line": 12},
        {"name": "prefetch", "size": -1},
    ],
    "pool_threads": None,
    "datasets": 1,
    "iterators": 1,
}
