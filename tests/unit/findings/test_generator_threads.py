"""Threads of a generator's own: what they are told to change, and what they are not."""

from __future__ import annotations

from tests.unit.findings.made_up_jobs import BATCH
from tests.unit.findings.made_up_training import training
from tfdarshan.findings import decode_bound
from tfdarshan.findings.fix_lines import keep_in_memory, more_readers
from tfdarshan.findings.measurement import measure

KB, MB = 1_000, 1_000_000


def job_of_threads(logdir, *, call_ms, apart_ms, file=""):
    """Return a generator with eight threads of its own, four of which call at a time, on two processors."""
    calls = []
    for turn in range(1000):
        at = turn * apart_ms
        calls += [
            (at, at + call_ms, 1 + (4 * turn + n) % 8, "pread", n, 8 * KB, turn * 8 * KB) for n in range(4)
        ]
    step_ms = 20 * apart_ms
    steps = [(n * step_ms, (n + 1) * step_ms, 0.9 * step_ms) for n in range(50)]
    generator = {"name": "from_generator", "does": ["python"], "function": "samples", "file": file}
    meta = {
        "machine": {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": apart_ms},
        "pipelines": {
            "found": [{"stages": [generator, BATCH], "datasets": 1, "iterators": 1}],
            "left_out": 0,
        },
    }
    paths = [f"/data/{n}" for n in range(4)]
    return training(logdir, calls, steps, paths=paths, sizes=[10_000 * MB] * 4, meta=meta)


def test_threads_of_a_generator_are_given_more_by_the_same_line(tmp_path):
    # GIVEN a generator that reads with eight threads
    measures = measure(job_of_threads(tmp_path, call_ms=2, apart_ms=2))

    # WHEN it is told to read with more
    fix = more_readers(measures, 16, 8)

    # THEN it is not told to write what it has
    assert fix.instead_of == "yield from map_ahead(read, samples, threads=8)  # from tfdarshan.ahead"
    assert fix.line == "yield from map_ahead(read, samples, threads=16)  # from tfdarshan.ahead"
    assert "Now 8 threads read in the generator: give their pool, or map_ahead(), 16." in fix.what


def test_a_py_dataset_is_given_workers_by_its_own_arguments(tmp_path):
    # GIVEN batches that threads of Keras' make for a PyDataset
    keras = "/env/keras/src/trainers/data_adapters/py_dataset_adapter.py"
    measures = measure(job_of_threads(tmp_path, call_ms=2, apart_ms=2, file=keras))

    # WHEN
    more, kept = more_readers(measures, 16, 8), keep_in_memory(measures)

    # THEN no line is of what the program does not have
    assert (more.instead_of, more.line) == (
        "dataset = Batches(workers=8)",
        "dataset = Batches(workers=16, max_queue_size=16)",
    )
    assert kept.line == "@functools.cache\ndef __getitem__(self, number):"


def test_a_generator_whose_threads_fill_the_processors_is_offered_no_more_threads(tmp_path):
    # GIVEN one that decodes for most of the time, with eight threads on two processors
    found = decode_bound.find(measure(job_of_threads(tmp_path, call_ms=2, apart_ms=10)))

    # THEN
    assert (found.kind, found.edits) == ("note", ())
    assert "as many samples are decoded at a time as there are processors" in found.fix.what
    assert "map_ahead" not in found.fix.line
