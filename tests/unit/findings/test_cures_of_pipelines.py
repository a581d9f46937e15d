"""Cures take out what the job's own tf.data pipeline has, and are not given where it has them already."""

import ast
from typing import Any

import pytest

from tests.unit.findings.made_up_jobs import (
    BATCH,
    CACHE,
    DECODE,
    GENERATOR,
    INTERLEAVE,
    KB,
    LOAD,
    OPTIONS,
    PATHS,
    PREFETCH,
    SHARDS,
    TAKE_9,
)
from tests.unit.findings.made_up_jobs import pipeline_job as job
from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings import read_parallelism
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.pipeline_api import (
    fewer_readers,
    keep_decoded,
    keep_in_memory,
    more_decoding,
    more_readers,
    read_ahead,
    reads_as_many,
)
from tfdarshan.workloads.laboratory.applied import apply_lines


def names(session):
    return [finding.name for finding in diagnose(session).findings]


@pytest.mark.parametrize(
    ("stages", "pool_threads", "before", "after"),
    [
        ((PATHS, LOAD, BATCH), None, "dataset.map(read_image)", "map(read_image, num_parallel_calls=16,"),
        ((SHARDS, DECODE, BATCH), None, 'TFRecordDataset(shards, compression_type="GZIP")',
         'TFRecordDataset(shards, compression_type="GZIP", num_parallel_reads=16)'),
        ((PATHS, INTERLEAVE, DECODE), None,
         "interleave(lambda s: tf.data.TFRecordDataset(s), cycle_length=4)",
         "interleave(lambda s: tf.data.TFRecordDataset(s), cycle_length=16, num_parallel_calls=16,"),
        ((PATHS, LOAD | {"calls": 2}, BATCH), 32, "dataset.map(read_image, num_parallel_calls=2)",
         "dataset.map(read_image, num_parallel_calls=16, deterministic=False)"),
    ],
    ids=["a map", "packed records", "interleaved records", "a pool of its own"],
)  # fmt: skip
def test_more_calls_are_given_to_the_stage_that_reads(tmp_path, stages, pool_threads, before, after):
    # GIVEN a job that was seen to iterate a pipeline
    measures = measure(job(tmp_path, *stages, pool_threads=pool_threads))

    # WHEN it is told to read with more calls
    cure = more_readers(measures, 16, 1)

    # THEN what goes is what is there, and what comes is complete: a pool of as many threads, but where it has
    assert cure.instead_of.endswith(before)
    assert after in cure.line.splitlines()[0]
    assert ("private_threadpool_size = 16" in cure.line) == (pool_threads is None)


def test_a_generator_is_told_of_threads_within_it(tmp_path):
    cure = more_readers(measure(job(tmp_path, GENERATOR, BATCH)), 16, 1)
    assert cure.instead_of == "for sample in samples:\n    yield read(sample)"
    assert "samples (data.py:7)" in cure.what
    assert cure.line == "yield from map_ahead(read, samples, threads=16)  # of tfdarshan.ahead"


def test_a_generator_that_decodes_is_told_of_threads_that_do_both(tmp_path):
    measures = measure(job(tmp_path, GENERATOR, BATCH))
    cure = more_decoding(measures, 2)
    assert cure.what == (
        "Decode with more calls at a time. A generator decodes one after the other: have threads read and "
        "decode, as NumPy and Pillow let them; give bytes and decode in a map if that is Python code of "
        "yours. read() gives one sample."
    )
    assert "map_ahead(read, samples, threads=" in cure.line
    assert keep_decoded(measures).line == "dataset = dataset.cache().batch(16)"


def test_a_job_without_tf_data_is_told_of_threads(tmp_path):
    # GIVEN two threads, none of them the loop's, and no pipeline that anybody iterated
    measures = measure(job(tmp_path, readers=2))
    for cure in (more_readers(measures, 16, 2), fewer_readers(measures, 1, 2), keep_in_memory(measures)):
        assert "dataset" not in cure.line + cure.instead_of
        ast.parse(f"{cure.line}\n    pass" if cure.line.endswith(":") else cure.line)


@pytest.mark.parametrize(
    ("readers", "goes", "comes"),
    [
        (1, "for sample in samples:", "yield from map_ahead(read, samples, threads=16)"),
        (2, "pool = ThreadPoolExecutor(2)", "pool = ThreadPoolExecutor(16)"),
    ],
    ids=["a thread that reads ahead", "a pool"],
)
def test_what_goes_is_a_pool_only_where_several_threads_read(tmp_path, readers, goes, comes):
    # GIVEN threads that read, none of them the loop's
    cure = more_readers(measure(job(tmp_path, readers=readers)), 16, readers)
    assert (cure.instead_of.splitlines()[0], cure.line.split("  #")[0]) == (goes, comes)


def test_what_python_code_reads_is_kept_by_a_decorator(tmp_path):
    measures = measure(job(tmp_path, readers=2))
    kept, decoded = keep_in_memory(measures), keep_decoded(measures)
    assert (kept.line, kept.instead_of) == ("@functools.cache\ndef read(path):", "def read(path):")
    assert kept.what.endswith(" read() gives what is in a file.")
    assert decoded.what.endswith(" read() decodes, too.")
    assert decoded.line == kept.line


def test_threads_of_a_database_are_told_of_connections(tmp_path):
    # GIVEN a loop that reads a database by itself
    calls = [(n * 50, n * 50 + 40, LOOP, "pread", 0, 4 * KB, 4 * KB * n) for n in range(80)]
    steps = [(50.0 * n, 50.0 * n + 50, 45.0) for n in range(80)]
    asked = [(0.0, 0.1, LOOP, "stat", 1, 0), *calls]
    paths = ["/data/a.db", "/data/a.db-journal"]
    measures = measure(training(tmp_path, asked, steps, paths=paths, sizes=[10**9, -1]))

    cure = more_readers(measures, 8, 1)
    assert cure.what.endswith(" Each thread needs a connection of its own.")
    assert cure.line.endswith("yield from map_ahead(read, samples, threads=8)  # of tfdarshan.ahead")
    pool = fewer_readers(measure(job(tmp_path / "pool", readers=2)), 1, 2)
    assert (pool.line, pool.instead_of) == (
        "pool = ThreadPoolExecutor(1)  # of concurrent.futures",
        "pool = ThreadPoolExecutor(2)",
    )


def test_a_session_in_which_nobody_looked_keeps_the_usual_words(tmp_path):
    cure = more_readers(measure(job(tmp_path, found=False)), 16, 1)
    assert cure.instead_of == "dataset = dataset.map(load)"


@pytest.mark.parametrize(
    ("calls", "pool_threads", "offered"), [(None, None, True), (8, None, True), (16, 16, False)]
)
def test_more_calls_are_not_offered_again_where_they_are_there(tmp_path, calls, pool_threads, offered):
    session = job(tmp_path, PATHS, LOAD | {"calls": calls}, BATCH, pool_threads=pool_threads)
    assert ("read_parallelism" in names(session)) == offered


def test_a_pool_is_as_large_as_it_is_whichever_thread_meets_the_slow_file(tmp_path):
    # GIVEN sixteen threads that read for 5 ms of each 60, and one of them once for 2 s
    calls = [(0.0, 2000.0, 1, "pread", 0, 4 * KB, 0)]
    calls += [
        (at, at + 5, tid, "pread", tid, 4 * KB, 4 * KB * number)
        for number, at in enumerate(range(0, 2400, 60))
        for tid in range(1 if at >= 2000 else 2, 17)
    ]
    steps = [(60.0 * n, 60.0 * n + 60, 50.0) for n in range(40)]
    session = training(
        tmp_path, sorted(calls), steps, paths=[f"/data/{tid}" for tid in range(17)], sizes=[10**9] * 17,
        meta={"pipelines": {"found": [], "left_out": 0}},
    )  # fmt: skip

    # THEN a pool of as many is none that reads more at a time, and the line that goes says so
    measures = measure(session)
    assert measures.pipeline.readers.threads < 12
    assert reads_as_many(measures, 16)
    assert not reads_as_many(measures, 32)
    assert more_readers(measures, 32, 16).instead_of == "pool = ThreadPoolExecutor(16)"


@pytest.mark.parametrize(("last", "offered"), [(BATCH, True), (PREFETCH, False)])
def test_prefetch_is_not_offered_to_a_pipeline_that_prefetches(tmp_path, last, offered):
    # GIVEN steps of 50 ms, beside whose computing nothing is read
    steps = [(50.0 * n, 50.0 * n + 50, 20.0) for n in range(40)]
    calls = [(50.0 * n + 2, 50.0 * n + 19, 1, "pread", 0, 100 * KB, n * 100 * KB) for n in range(40)]
    one = {"stages": [PATHS, LOAD, last], "pool_threads": None, "datasets": 1, "iterators": 1}
    session = training(
        tmp_path, calls, steps, sizes=[10**9], meta={"pipelines": {"found": [one], "left_out": 0}}
    )
    assert ("prefetch" in names(session)) == offered


def test_prefetch_goes_behind_the_last_stage(tmp_path):
    cure = read_ahead(measure(job(tmp_path, PATHS, LOAD, BATCH, {"name": "repeat", "size": -1}, OPTIONS)))
    assert cure.instead_of == "dataset = dataset.repeat()"
    assert cure.line == "dataset = dataset.repeat().prefetch(tf.data.AUTOTUNE)"


@pytest.mark.parametrize(
    ("stages", "datasets", "before", "after"),
    [
        ((PATHS, LOAD, BATCH), 1, "dataset = dataset.map(read_image)",
         "dataset = dataset.map(read_image).cache()"),
        ((PATHS, {"name": "shuffle", "size": 320}, LOAD, BATCH), 1, "dataset = dataset.map(read_image)",
         "dataset = dataset.map(read_image).cache().shuffle(320)"),
        ((GENERATOR, BATCH), 1, "dataset = dataset.batch(16)", "dataset = dataset.cache().batch(16)"),
        ((PATHS, LOAD, CACHE, BATCH, TAKE_9), 1, "dataset = dataset.cache()\ndataset = dataset.take(9)",
         "dataset = dataset.take(144).cache()"),
        ((PATHS, LOAD, CACHE, TAKE_9, BATCH), 1, "dataset = dataset.cache()\ndataset = dataset.take(9)",
         "dataset = dataset.take(9).cache()"),
        ((PATHS, LOAD, TAKE_9 | {"size": 144}, CACHE, BATCH, TAKE_9), 1,
         "dataset = dataset.cache()\ndataset = dataset.take(9)", "dataset = dataset.cache()"),
    ],
    ids=["a map", "shuffled paths", "a generator", "cut in batches", "cut in samples", "cut twice"],
)  # fmt: skip
def test_a_cache_goes_where_it_fills(tmp_path, stages, datasets, before, after):
    cure = keep_in_memory(measure(job(tmp_path, *stages, datasets=datasets)))
    assert (cure.instead_of, cure.line) == (before, after)


def test_a_cache_of_a_data_set_that_is_made_anew_is_said_to_be(tmp_path):
    cure = keep_in_memory(measure(job(tmp_path, PATHS, LOAD, CACHE, BATCH, datasets=3, iterators=3)))
    assert "made anew for each epoch" in cure.what
    assert cure.instead_of == "for batch in make_dataset():"
    assert cure.line == "dataset = make_dataset()  # before the first epoch\nfor batch in dataset:"


def test_what_decodes_gets_the_calls(tmp_path):
    measures = measure(job(tmp_path, PATHS, LOAD, DECODE, BATCH))
    cure = more_decoding(measures, 2)
    assert cure.instead_of == "dataset = dataset.map(decode, num_parallel_calls=2)"
    assert cure.line == "dataset = dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE)"
    assert (
        keep_decoded(measures, "the processors have no more to give").line
        == "dataset = dataset.map(decode, num_parallel_calls=2).cache()"
    )


@pytest.mark.parametrize(("pool_threads", "calls"), [(1, 2), (None, 3)])
def test_calls_that_decode_get_threads_where_the_pool_has_too_few(tmp_path, pool_threads, calls):
    # GIVEN two processors, and a pool of one thread; or of two, and calls that wait for reads meanwhile
    machine = {"cpus": 2, "memory_bytes": 1 << 30, "cpu_s": 1.0}
    measures = measure(job(tmp_path, PATHS, LOAD, DECODE, BATCH, pool_threads=pool_threads, machine=machine))

    # WHEN
    cure = more_decoding(measures, calls)

    # THEN more calls alone would change nothing, and as many as threads leave these idle
    threads = "1 thread" if pool_threads else "2 threads"
    assert cure.what.endswith(
        f"at a time. tf.data has {threads} on that machine: give it {calls}. "
        "Let it make twice as many calls: results that wait to be taken are counted among them."
    )
    assert f"map(decode, num_parallel_calls={2 * calls}, deterministic=False)" in cure.line
    assert f"options.threading.private_threadpool_size = {calls}" in cure.line


def test_fewer_calls_are_taken_from_the_stage_that_reads(tmp_path):
    cure = fewer_readers(measure(job(tmp_path, PATHS, LOAD | {"calls": 32}, BATCH)), 2, 30)
    assert cure.instead_of == "dataset = dataset.map(read_image, num_parallel_calls=32)"
    assert cure.line == "dataset = dataset.map(read_image, num_parallel_calls=2)"


def test_a_printed_cure_applies_to_a_chain(tmp_path):
    # GIVEN a program whose pipeline is one expression
    program = (
        "import tensorflow as tf\n\nds = (\n    tf.data.Dataset.from_tensor_slices(files)\n"
        "    .map(read_image)\n    .cache()\n    .batch(16)\n    .take(9)\n)\n"
    )
    cure = keep_in_memory(measure(job(tmp_path, PATHS, LOAD, CACHE, BATCH, TAKE_9)))
    typed = apply_lines(f"files = []\n{program}", cure.line, cure.instead_of, {})
    assert ".take(144).cache()" in typed.replace("\n    ", "")
    assert ".take(9)" not in typed


CUT_SHORT = {
    "a chain": """\
ds = (
    tf.data.Dataset.range(320)
    .map(read)
    .cache()
    .batch(16)
    .take(9)
)
""",
    "lines": """\
ds = tf.data.Dataset.range(320).map(read)
ds = ds.cache()
ds = ds.batch(16)
ds = ds.take(9)
""",
    "cut in samples": """\
ds = tf.data.Dataset.range(320).map(read)
ds = ds.cache()
ds = ds.take(9)
ds = ds.batch(16)
""",
}


@pytest.mark.parametrize("how", list(CUT_SHORT))
def test_a_cache_that_is_moved_as_printed_fills(tmp_path, how):
    # GIVEN a program whose epochs end before its cache() has been read to its end
    pytest.importorskip("tensorflow")
    cut = (TAKE_9, BATCH) if how == "cut in samples" else (BATCH, TAKE_9)
    cure = keep_in_memory(measure(job(tmp_path, PATHS, LOAD, CACHE, *cut)))
    head = "import tensorflow as tf\nread = lambda n: tf.py_function(note, [n], tf.int64)\n"
    program = f"{head}{CUT_SHORT[how]}"

    def read_in(text):
        """Gives how many samples three epochs read, and an epoch's batches."""
        made: list[int] = []

        def note(sample):
            made.append(int(sample))
            return sample

        names: dict[str, Any] = {"note": note}
        exec(compile(text, "program", "exec"), names)
        first, *_, last = ([batch.numpy().tolist() for batch in names["ds"]] for _ in range(3))
        assert first == last
        return len(made), first

    # WHEN the printed cure is typed
    typed = apply_lines(program, cure.line, cure.instead_of, {})

    # THEN it reads each sample once, and gives the same batches
    before, batches = read_in(program)
    after, same = read_in(typed)
    assert before >= 3 * after
    assert same == batches


@pytest.mark.parametrize(
    ("stages", "offered"),
    [
        ((PATHS, LOAD, BATCH), False),
        ((PATHS, LOAD | {"does": ["python"]}, BATCH), True),
        ((SHARDS, BATCH), False),
        ((PATHS, INTERLEAVE, BATCH), False),
        ((GENERATOR, BATCH), True),
        ((), True),
    ],
    ids=["tf.io.read_file", "py_function", "TFRecordDataset", "TFRecordDataset in interleave", "generator",
         "unknown"],
)  # fmt: skip
def test_reads_of_nothing_are_a_cure_where_the_job_makes_them(tmp_path, stages, offered):
    # GIVEN files that are read to their end: 20 ms, and 20 more for a read of nothing
    calls = []
    for n in range(80):
        calls += [(n * 50, n * 50 + 20, 1, "pread", n % 4, 100 * KB, 0)]
        calls += [(n * 50 + 20, n * 50 + 40, 1, "pread", n % 4, 0, 100 * KB)]
    steps = [(50.0 * n, 50.0 * n + 50, 45.0) for n in range(80)]
    one = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 1}
    meta = {"pipelines": {"found": [one] if stages else [], "left_out": 0}}
    paths = [f"/data/{n}" for n in range(4)]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[100 * KB] * 4, meta=meta)

    # THEN nobody is told to change what TensorFlow's own readers do
    assert ("eof_probes" in names(session)) == offered


def test_more_threads_are_no_cure_for_a_database(tmp_path):
    # GIVEN a job that reads one file page by page, which SQLite asked for its journal, or not
    calls = [(n * 50, n * 50 + 40, 1, "pread", 0, 4 * KB, 4 * KB * (n * 37 % 80)) for n in range(80)]
    steps = [(50.0 * n, 50.0 * n + 50, 45.0) for n in range(80)]
    asked = [(0.0, 0.1, 1, "stat", 1, 0), *calls]

    plain = training(tmp_path / "a", calls, steps, paths=["/data/a.db"], sizes=[10**9])
    database = training(
        tmp_path / "b", asked, steps, paths=["/data/a.db", "/data/a.db-journal"], sizes=[10**9, -1]
    )

    assert read_parallelism.find(measure(plain)) is not None
    assert read_parallelism.find(measure(database)) is None


@pytest.mark.parametrize(
    ("database_ms", "files_ms", "opened", "led"),
    [(30, 10, True, True), (10, 30, True, True), (1, 39, False, True)],
    ids=["database first", "files first", "files alone"],
)
def test_a_database_and_other_files_are_copied_where_one_of_them_will_not_do(
    tmp_path, database_ms, files_ms, opened, led
):
    # GIVEN steps that read 100 kB of a database and a file each, 40 of 50 ms, of which one takes longer
    calls: list[tuple[Any, ...]] = [(0.0, 0.1, 1, "stat", 1, 0)]
    for n in range(80):
        middle, at = 50 * n + database_ms, n * 100 * KB
        calls += [(50 * n, middle, 1, "pread", 0, 100 * KB, at)]
        calls += [(middle, middle + 0.1, 1, "open", 2 + n, 0)]
        calls += [(middle + 0.1, middle + files_ms, 1, "read", 2 + n, 100 * KB, 0)]
    steps = [(50.0 * n, 50.0 * n + 50, 45.0) for n in range(80)]
    paths = ["/data/a.db", "/data/a.db-journal", *(f"/data/files/{n}" for n in range(80))]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[80 * 100 * KB, -1, *[100 * KB] * 80])

    # THEN each of both that counts has its own line, and the gain is of what they copy
    staging = next(one for one in diagnose(session).findings if one.name == "staging")
    line, what = staging.cure.line, staging.cure.what
    assert ("sqlite3.connect" in line, "tfdarshan advise" in line) == (opened, led)
    # ... which says what it is written instead of, where it is the only one
    assert (staging.cure.instead_of == "database = sqlite3.connect(path)") == (opened and not led)
    copies = "Copy 8.0 MB of SQLite databases to a local disk, for the first epoch of a run: "
    assert (copies in what) == opened
    assert (f"Copy 8.0 MB{' of other files' if opened else ''} to a local disk" in what) == led
    assert {one.label: one.value for one in staging.evidence}["their size"] == 80 * 100 * KB * (opened + led)
    assert 2 < staging.gain.speedup < 50 / 10 + 1
