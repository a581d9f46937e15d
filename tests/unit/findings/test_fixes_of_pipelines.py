"""Fixes take out what the job's own tf.data pipeline has, and are not given where it has them already."""

from typing import Any

import pytest

from tests import later_tensorflow as tf
from tests.unit.findings.made_up_jobs import (
    BATCH,
    CACHE,
    GENERATOR,
    INTERLEAVE,
    KB,
    LOAD,
    PATHS,
    PREFETCH,
    SHARDS,
    TAKE_9,
)
from tests.unit.findings.made_up_jobs import pipeline_job as job
from tests.unit.findings.made_up_training import training
from tfdarshan.findings import read_parallelism
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.fix_lines import keep_in_memory, more_readers, reads_as_many
from tfdarshan.findings.measurement import measure
from tfdarshan.workloads.laboratory.applied import apply_lines


def names(session):
    return [finding.name for finding in diagnose(session).findings]


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


def test_a_printed_fix_applies_to_a_chain(tmp_path):
    # GIVEN a program whose pipeline is one expression
    program = (
        "import tensorflow as tf\n\nds = (\n    tf.data.Dataset.from_tensor_slices(files)\n"
        "    .map(read_image)\n    .cache()\n    .batch(16)\n    .take(9)\n)\n"
    )
    fix = keep_in_memory(measure(job(tmp_path, PATHS, LOAD, CACHE, BATCH, TAKE_9)))
    typed = apply_lines(f"files = []\n{program}", fix.line, fix.instead_of, {})
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
    tf.needs("tensorflow")
    cut = (TAKE_9, BATCH) if how == "cut in samples" else (BATCH, TAKE_9)
    fix = keep_in_memory(measure(job(tmp_path, PATHS, LOAD, CACHE, *cut)))
    head = "import tensorflow as tf\nread = lambda n: tf.py_function(note, [n], tf.int64)\n"
    program = f"{head}{CUT_SHORT[how]}"

    def read_in(text):
        """Return how many samples three epochs read, and an epoch's batches."""
        made: list[int] = []

        def note(sample):
            made.append(int(sample))
            return sample

        names: dict[str, Any] = {"note": note}
        exec(compile(text, "program", "exec"), names)
        first, *_, last = ([batch.numpy().tolist() for batch in names["ds"]] for _ in range(3))
        assert first == last
        return len(made), first

    # WHEN the printed fix is typed
    typed = apply_lines(program, fix.line, fix.instead_of, {})

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
def test_reads_of_nothing_are_a_fix_where_the_job_makes_them(tmp_path, stages, offered):
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


def test_more_threads_are_no_fix_for_a_database(tmp_path):
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
    line, what = staging.fix.line, staging.fix.what
    assert ("sqlite3.connect" in line, "tfdarshan advise" in line) == (opened, led)
    # ... which says what it is written instead of, where it is the only one
    assert (staging.fix.instead_of == "database = sqlite3.connect(path)") == (opened and not led)
    first = "to a local disk. If the page cache keeps the input, only the first epoch gets faster."
    assert (f"Copy 8.0 MB of SQLite databases {first}" in what) == opened
    assert (f"Copy 8.0 MB{' of other files' if opened else ' of input'} to a local disk" in what) == led
    assert {one.label: one.value for one in staging.evidence}["their size"] == 80 * 100 * KB * (opened + led)
    assert 2 < staging.gain.speedup < 50 / 10 + 1
