"""What promises of hidden jobs once had wrong, in thirteen points: each with a scenario of its own."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from tests.closed_readers import Queue, calls_of
from tests.scenario_sessions import KB, MB, SKETCHES, Sketch, sketched
from tests.unit.findings import (
    test_file_streams,
    test_shuffle_buffer,
    test_small_reads,
    test_straggler,
    test_tried_cures,
    test_validation,
)
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tests.unit.findings.test_cures_of_pipelines import BATCH, CACHE, GENERATOR, LOAD, PATHS
from tests.unit.findings.test_cures_of_pipelines import job as of_tf_data
from tests.unit.findings.test_more_readers import job as of_readers
from tests.unit.findings.test_more_readers import rests
from tests.unit.findings.test_stalls_beside_input import job as that_stands_still
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.pipeline_api import fewer_readers, keep_in_memory, more_readers, read_ahead
from tfdarshan.findings.promise_words import most_words
from tfdarshan.findings.same_seconds import one_of_words
from tfdarshan.findings.staging import NAME as STAGING
from tfdarshan.findings.whatif import StorageChange, what_if


def one(session, name):
    return next((found for found in diagnose(session).findings if found.name == name), None)


def problems(session):
    return [found.name for found in diagnose(session).problems]


def test_1_more_readers_of_storage_that_may_be_full_are_promised_nothing(tmp_path):
    # GIVEN one reader of 5 ms a call: storage may wait, or give 200 calls a second and no more
    session = of_readers(tmp_path, calls_of(Queue(0, 5), readers=1, rest_ms=rests(0.5)))

    # WHEN
    found, readers = diagnose(session), one(session, "read_parallelism")

    # THEN at most half of what they may give is expected, and what they may give is called that
    assert readers.gain.speedup_range[0] == 1.0
    assert readers.gain.saved_s <= 0.5 * readers.gain.if_so_s + 1e-9
    assert most_words(readers.gain) == f"up to {readers.gain.speedup_range[1]:.2f}x"
    assert readers.gain.doubts[0].told_by.startswith("tfdarshan probe --logdir ")
    # ... and a cure that is certain is named before it
    assert found.named is not readers
    assert found.named.gain.speedup_range[0] > 1


def test_1_storage_that_is_full_has_no_reader_added(tmp_path):
    session = of_readers(tmp_path, calls_of(Queue(0, 0, 1 / 30_000), readers=2, rest_ms=rests(2)))

    assert one(session, "read_parallelism") is None
    assert one(session, "full_storage") is not None


def test_2_bursts_from_the_page_cache_are_no_sign_of_too_many_threads(tmp_path):
    # GIVEN 16 readers of 1.5 MB/s, and for a fifth of each half second two that memory serves at 600 MB/s
    calls = []
    for at in range(0, 2_000, 4):
        readers, reads, length = (16, 1, 6_250) if at % 500 < 400 else (2, 4, 600 * KB)
        calls += [
            (at + n * 4 / reads, at + (n + 1) * 4 / reads, tid + 1, "pread", tid, length, (at + n) * MB)
            for n in range(reads)
            for tid in range(readers)
        ]
    paths = [f"/data/{n}" for n in range(16)]
    session = training(tmp_path, calls, epochs_of_steps(20, 100, 90), paths=paths, sizes=[10**11] * 16)

    # THEN nobody is told of fewer. That a job which was cured of too many is not told of 16 again shows
    # test_a_job_that_was_cured_of_too_many_threads_is_not_told_to_use_16.
    assert one(session, "too_many_threads") is None


@pytest.mark.parametrize(("operation", "name"), [("write", "checkpoint_stall"), ("fsync", "fsync")])
def test_3_a_stall_beside_which_the_pipeline_works_is_no_gain(tmp_path, operation, name):
    length = 4 * MB if operation == "write" else 0
    busy = that_stands_still(tmp_path, operation, length, reads_beside=True)

    assert name not in problems(busy)


def test_3_a_save_that_steps_of_2_ms_leave_no_time_for_has_no_lower_bound(tmp_path):
    # GIVEN a save of 40 ms after every fourth step of 2 ms
    steps, calls, at = [], [], 0.0
    for number in range(100):
        end = at + 2 + (40 if number % 4 == 3 else 0)
        steps.append((at, end, 0))
        calls += [(end - 40, end, LOOP, "write", 1, 16 * MB)] if number % 4 == 3 else []
        at = end
    saves = one(training(tmp_path, calls, steps, paths=["/data/a", "/out/model"]), "checkpoint_stall")

    # THEN the next one is due before it is written
    assert saves.gain.low_s == 0
    assert "a checkpoint can be written while training goes on" in [d.claim for d in saves.gain.doubts]


def test_4_nothing_is_certain_of_threads_without_steps(tmp_path):
    sketch = replace(SKETCHES["no steps"], readers=1, open_ms=6.0)

    gains = [found.gain for found in diagnose(sketched(tmp_path, sketch)).findings if found.gain]

    assert gains
    assert all(gain.low_s == 0 for gain in gains)


def test_4_the_main_thread_waits_for_what_it_reads_itself(tmp_path):
    # GIVEN a job without steps whose main thread makes all reads
    copied = one(
        sketched(tmp_path, replace(SKETCHES["no steps"], readers=1, open_ms=6.0, by_loop=True)), STAGING
    )

    # THEN that is shown, and a promise rests on it
    assert copied.gain.supported
    assert copied.gain.speedup_range[0] > 1.5
    seen = next(entry for entry in copied.gain.assumptions if "waits for these files" in entry.claim)
    assert seen.support.startswith("the main thread itself is in them, ")


def test_5_a_slow_time_is_no_slow_file(tmp_path):
    # GIVEN storage that is 30 times slower for 300 ms of each second, and another with slow files
    slow_times = test_straggler.read_whole(tmp_path / "a", lambda file, at: 60.0 if at % 1000 < 300 else 2.0)
    slow_files = test_straggler.read_whole(tmp_path / "b", lambda file, at: 60.0 if file % 40 == 7 else 2.0)

    assert one(slow_times, "straggler") is None
    assert one(slow_files, "straggler") is not None


def test_5_one_slow_shard_read_in_order_is_named_and_no_more_readers(tmp_path):
    # GIVEN one of ten shards that takes 30 times as long, in one pass; and one read beside seven others
    in_order = test_straggler.shards(
        tmp_path / "one", lambda shard, at: test_straggler.SLOW_MS if shard == 4 else test_straggler.QUICK_MS
    )
    beside = test_file_streams.job(tmp_path / "two", test_file_streams.PARALLEL, BATCH, slow_ms=40.0)

    # THEN
    assert one(in_order, "straggler").files == ("/data/shard-4",)
    assert "straggler" in problems(beside)
    assert "read_parallelism" not in problems(beside)


@pytest.mark.parametrize("asked_by", [LOOP, 1])
def test_6_as_many_stats_as_opens_are_named_and_a_gain_of_a_mirror_alone(tmp_path, asked_by):
    # GIVEN a job of Python alone that asks for each file, 30 ms, before it reads it, 10 ms
    calls = []
    for file in range(40):
        at = 40.0 * file
        calls += [(at, at + 30, asked_by, "stat", file, 0), (at + 30, at + 31, 1, "open", file, 0)]
        calls += [(at + 31, at + 40, 1, "read", file, 200 * KB)]
    session = training(
        tmp_path, calls, epochs_of_steps(16, 100, 95), paths=[f"/data/{n}" for n in range(40)],
        sizes=[200 * KB] * 40, meta={"pipelines": {"found": [], "left_out": 0}},
    )  # fmt: skip

    # THEN
    assert "stat_storm" in problems(session)
    copied = one(session, STAGING).cure.line
    assert "\ntfdarshan stage apply plan.json --mirror\n" in copied
    assert "run --staged" not in copied


def test_7_checkpoints_200_ms_apart_are_as_many_as_there_are(tmp_path):
    # GIVEN ten saves of 16 MB, 100 ms each, one after each step of 100 ms
    steps = [(200.0 * n, 200.0 * n + 200, 0) for n in range(10)]
    calls = [(200.0 * n + 100, 200.0 * n + 200, LOOP, "write", n, 16 * MB) for n in range(10)]
    session = training(tmp_path, calls, steps, paths=[f"/out/ckpt-{n}" for n in range(10)])

    # THEN
    shown = {entry.label: entry.value for entry in one(session, "checkpoint_stall").evidence}
    assert shown["checkpoints"] == 10


def test_8_the_cure_that_gives_most_is_named_and_others_of_the_same_seconds_as_its_alternatives(tmp_path):
    # GIVEN files of 4 kB on a slow disk
    found = diagnose(sketched(tmp_path, SKETCHES["many small files"]))

    # THEN no other problem promises more, and of those that give the same seconds one will do
    assert found.named.gain.speedup >= max(problem.gain.speedup for problem in found.problems)
    assert "prefetch" in found.named.one_of
    assert one_of_words(found.named).startswith("Choose one: this cure, ")


@pytest.mark.parametrize("name", [name for name in SKETCHES if name.startswith("healthy")])
def test_9_a_healthy_job_has_no_problem_and_no_note_with_a_promise(tmp_path, name):
    found = diagnose(sketched(tmp_path, SKETCHES[name]))

    assert not found.problems
    assert not [note.name for note in found.findings if note.gain is not None]


def test_9_a_wait_of_5_percent_is_no_problem_and_promises_nothing(tmp_path):
    # GIVEN steps of 100 ms that wait 7 ms of them for reads that rest while they compute
    calls = [(100.0 * n, 100.0 * n + 7, 1, "pread", n, 100 * KB) for n in range(40)]
    paths = [f"/data/{n}" for n in range(40)]
    session = training(tmp_path, calls, epochs_of_steps(40, 100, 7), paths=paths, sizes=[100 * KB] * 40)

    found = diagnose(session)
    assert not found.problems
    assert not [note.name for note in found.findings if note.gain is not None]


WORKERS = {"versions": {"torch": "2.8.0"}, "pipelines": {"found": [], "left_out": 0}}


@pytest.mark.parametrize(
    ("stages", "meta", "goes", "comes"),
    [
        ((PATHS, LOAD, BATCH), {}, "dataset.map(read_image)", "private_threadpool_size = "),
        ((PATHS, GENERATOR), {}, "yield read(sample)", "yield from map_ahead("),
        ((), {}, "yield read(sample)", "yield from map_ahead("),
    ],
    ids=["map", "generator", "threads"],
)
def test_10_the_cure_speaks_the_words_of_what_reads(tmp_path, stages, meta, goes, comes):
    cure = one(of_tf_data(tmp_path, *stages, **meta), "read_parallelism").cure

    assert goes in cure.instead_of
    assert comes in cure.line
    ast.parse(cure.instead_of)
    assert stages or "dataset" not in cure.line


def test_10_a_job_of_torch_is_told_of_the_workers_of_its_loader(tmp_path):
    # GIVEN a loop that reads by itself, and has PyTorch loaded
    sketch = replace(SKETCHES["read by the loop itself"], meta=SKETCHES["one reader"].meta | WORKERS)
    cure = one(sketched(tmp_path, sketch), "read_parallelism").cure

    assert cure.instead_of == "loader = DataLoader(dataset, batch_size=batch_size)"
    assert cure.line.startswith("loader = DataLoader(dataset, batch_size=batch_size, num_workers=")
    assert int(cure.line.split("num_workers=")[1].rstrip(")")) > 1


def test_10_workers_of_a_loader_are_counted_and_told_how_many_to_be(tmp_path):
    # GIVEN a job of PyTorch with four worker processes
    measures = measure(of_tf_data(tmp_path, readers=2, versions={"torch": "2.8.0"}))
    measures = replace(measures, summary=replace(measures.summary, processes=5))

    # THEN what they have is taken out, and what they need is whole
    loader = "loader = DataLoader(dataset, batch_size=batch_size, num_workers={})"
    for cure, workers in ((more_readers(measures, 16, 4), 16), (fewer_readers(measures, 2, 4), 2)):
        assert (cure.instead_of, cure.line) == (loader.format(4), loader.format(workers))
    assert read_ahead(measures).line == f"{loader.format(4)[:-1]}, prefetch_factor=4)"
    assert read_ahead(measures).instead_of == loader.format(4)


def test_10_what_was_in_vain_is_not_offered_again(tmp_path):
    # GIVEN a job that reads with 4 calls at a time since it was told to, and is as slow
    session = test_tried_cures.one_after_the_other(
        tmp_path / "logs",
        test_tried_cures.reading(tmp_path / "before"),
        test_tried_cures.reading(tmp_path / "after", 4),
    )

    assert one(session, "read_parallelism").cure is None


def test_11_the_loops_own_reads_are_to_be_made_ahead_by_a_thread(tmp_path):
    # GIVEN a loop whose own thread reads a batch of five files, 45 of 50 ms
    calls = [
        (50 * n + 9 * part, 50 * n + 9 * part + 9, LOOP, "pread", part, 100 * KB)
        for n in range(40)
        for part in range(5)
    ]
    paths = [f"/data/{n}" for n in range(5)]
    session = training(tmp_path, calls, epochs_of_steps(40, 50, 45), paths=paths, sizes=[1000 * MB] * 5)

    assert one(session, "prefetch").cure.line == "for batch in read_ahead(batches):  # of tfdarshan.ahead"


def test_11_a_cache_that_never_fills_is_moved(tmp_path):
    # GIVEN epochs that end after 9 batches behind a cache()
    take = {"name": "take", "size": 9}
    cure = keep_in_memory(measure(of_tf_data(tmp_path, PATHS, LOAD, CACHE, BATCH, take)))

    assert cure.instead_of == "dataset = dataset.cache()\ndataset = dataset.take(9)"
    assert cure.line == "dataset = dataset.take(144).cache()"


def test_11_small_reads_in_order_are_a_problem(tmp_path):
    assert "small_reads" in problems(test_small_reads.job(tmp_path, lambda part: 3.0))


def test_11_a_buffer_that_each_epoch_fills_is_a_problem(tmp_path):
    session = test_shuffle_buffer.job(tmp_path, PATHS, LOAD, test_shuffle_buffer.SHUFFLE)

    assert "shuffle_buffer" in problems(session)


def test_11_a_validation_set_is_a_problem(tmp_path):
    assert "validation" in problems(test_validation.job(tmp_path))


def test_12_a_copy_of_what_the_page_cache_serves_is_no_problem(tmp_path):
    # GIVEN four epochs, of which storage served the first alone, slowly
    sketch = Sketch(epochs=4, cached_from=1, read_ms=20.0, readers=1, folder="/home/data", size=MB)
    session = sketched(tmp_path, sketch)

    # THEN
    copied = one(session, STAGING)
    assert STAGING not in problems(session)
    assert "Memory served later epochs" in copied.what


def test_13_what_if_has_a_range_where_one_depth_and_one_size_were_seen(tmp_path):
    session = of_readers(tmp_path, calls_of(Queue(0, 5), readers=1, rest_ms=rests(0.5)))

    gain = what_if(measure(session), StorageChange(threads=16)).gain
    assert gain.speedup_range[0] == pytest.approx(1.0)
    assert gain.speedup_range[1] > 2
    assert gain.speedup < gain.speedup_range[1]
