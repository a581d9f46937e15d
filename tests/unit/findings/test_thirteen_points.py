"""What promises of hidden jobs once had wrong, in thirteen points: each with a scenario of its own."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from tests.scenario_sessions import KB, MB, SKETCHES, Sketch, sketched
from tests.unit.findings.made_up_buffers import SHUFFLE, buffer_job
from tests.unit.findings.made_up_jobs import BATCH, CACHE, GENERATOR, LOAD, PATHS
from tests.unit.findings.made_up_jobs import pipeline_job as of_tf_data
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tests.unit.findings.made_up_validation import validation_job
from tests.unit.findings.whole_files import QUICK_MS, SLOW_MS, read_whole, slow_shards
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.fix_lines import fewer_readers, keep_in_memory, more_readers, read_ahead
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.staging import NAME as STAGING


def one(session, name):
    return next((found for found in diagnose(session).findings if found.name == name), None)


def problems(session):
    return [found.name for found in diagnose(session).problems]


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

    # THEN nobody is told of fewer. That a job which was fixed of too many is not told of 16 again shows
    # test_a_job_that_was_fixed_of_too_many_threads_is_not_told_to_use_16.
    assert one(session, "too_many_threads") is None


def test_5_a_slow_time_is_no_slow_file(tmp_path):
    # GIVEN storage that is 30 times slower for 300 ms of each second, and another with slow files
    slow_times = read_whole(tmp_path / "a", lambda file, at: 60.0 if at % 1000 < 300 else 2.0)
    slow_files = read_whole(tmp_path / "b", lambda file, at: 60.0 if file % 40 == 7 else 2.0)

    assert one(slow_times, "straggler") is None
    assert one(slow_files, "straggler") is not None


def test_5_one_slow_shard_read_in_order_is_named(tmp_path):
    # GIVEN one of ten shards that takes 30 times as long, in one pass
    in_order = slow_shards(tmp_path / "one", lambda shard, at: SLOW_MS if shard == 4 else QUICK_MS)

    # THEN
    assert one(in_order, "straggler").files == ("/data/shard-4",)


def test_7_checkpoints_200_ms_apart_are_as_many_as_there_are(tmp_path):
    # GIVEN ten saves of 16 MB, 100 ms each, one after each step of 100 ms
    steps = [(200.0 * n, 200.0 * n + 200, 0) for n in range(10)]
    calls = [(200.0 * n + 100, 200.0 * n + 200, LOOP, "write", n, 16 * MB) for n in range(10)]
    session = training(tmp_path, calls, steps, paths=[f"/out/ckpt-{n}" for n in range(10)])

    # THEN
    shown = {entry.label: entry.value for entry in one(session, "checkpoint_stall").evidence}
    assert shown["checkpoints"] == 10


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
def test_10_the_fix_speaks_the_words_of_what_reads(tmp_path, stages, meta, goes, comes):
    fix = one(of_tf_data(tmp_path, *stages, **meta), "read_parallelism").fix

    assert goes in fix.instead_of
    assert comes in fix.line
    ast.parse(fix.instead_of)
    assert stages or "dataset" not in fix.line


def test_10_a_job_of_torch_is_told_of_the_workers_of_its_loader(tmp_path):
    # GIVEN a loop that reads by itself, and has PyTorch loaded
    sketch = replace(SKETCHES["read by the loop itself"], meta=SKETCHES["one reader"].meta | WORKERS)
    fix = one(sketched(tmp_path, sketch), "read_parallelism").fix

    assert fix.instead_of == "loader = DataLoader(dataset, batch_size=batch_size)"
    assert fix.line.startswith("loader = DataLoader(dataset, batch_size=batch_size, num_workers=")
    assert int(fix.line.split("num_workers=")[1].rstrip(")")) > 1


def test_10_workers_of_a_loader_are_counted_and_told_how_many_to_be(tmp_path):
    # GIVEN a job of PyTorch with four worker processes
    measures = measure(of_tf_data(tmp_path, readers=2, versions={"torch": "2.8.0"}))
    measures = replace(measures, summary=replace(measures.summary, processes=5))

    # THEN what they have is taken out, and what they need is whole
    loader = "loader = DataLoader(dataset, batch_size=batch_size, num_workers={})"
    for fix, workers in ((more_readers(measures, 16, 4), 16), (fewer_readers(measures, 2, 4), 2)):
        assert (fix.instead_of, fix.line) == (loader.format(4), loader.format(workers))
    assert read_ahead(measures).line == f"{loader.format(4)[:-1]}, prefetch_factor=4)"
    assert read_ahead(measures).instead_of == loader.format(4)


def test_11_the_loops_own_reads_are_to_be_made_ahead_by_a_thread(tmp_path):
    # GIVEN a loop whose own thread reads a batch of five files, 45 of 50 ms
    calls = [
        (50 * n + 9 * part, 50 * n + 9 * part + 9, LOOP, "pread", part, 100 * KB, 100 * KB * n)
        for n in range(40)
        for part in range(5)
    ]
    paths = [f"/data/{n}" for n in range(5)]
    session = training(tmp_path, calls, epochs_of_steps(40, 50, 45), paths=paths, sizes=[1000 * MB] * 5)

    assert one(session, "prefetch").fix.line == "for batch in read_ahead(batches):  # from tfdarshan.ahead"


def test_11_a_cache_that_never_fills_is_moved(tmp_path):
    # GIVEN epochs that end after 9 batches behind a cache()
    take = {"name": "take", "size": 9}
    fix = keep_in_memory(measure(of_tf_data(tmp_path, PATHS, LOAD, CACHE, BATCH, take)))

    assert fix.instead_of == "dataset = dataset.cache()\ndataset = dataset.take(9)"
    assert fix.line == "dataset = dataset.take(144).cache()"


def test_11_a_buffer_that_each_epoch_fills_is_named(tmp_path):
    session = buffer_job(tmp_path, PATHS, LOAD, SHUFFLE)

    assert one(session, "shuffle_buffer") is not None


def test_11_a_validation_set_is_named(tmp_path):
    assert one(validation_job(tmp_path), "validation") is not None


def test_12_a_copy_of_what_the_page_cache_serves_is_no_problem(tmp_path):
    # GIVEN four epochs, of which storage served the first alone, slowly
    sketch = Sketch(epochs=4, cached_from=1, read_ms=20.0, readers=1, folder="/home/data", size=MB)
    session = sketched(tmp_path, sketch)

    # THEN
    copied = one(session, STAGING)
    assert STAGING not in problems(session)
    assert "later epochs found them in memory" in copied.what
