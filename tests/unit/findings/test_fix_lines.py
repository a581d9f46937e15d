"""Fixes in the words of what reads the input, and complete: every line that it takes."""

import ast
import re

import pytest

from tests.closed_readers import Delay, calls_of
from tests.unit.findings.made_up_jobs import readers_job as job
from tests.unit.findings.made_up_jobs import rests
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.text.findings_text import findings_text
from tfdarshan.workloads.laboratory.applied import apply_lines

KB = 1_000
PROGRAM = """
import tensorflow as tf

def load(path):
    return tf.io.read_file(path)

ds = tf.data.Dataset.list_files("data/*").map(load{threads}).batch(32)
for batch in ds:
    train(batch)
"""


def fix_of(session, name):
    return next(one.fix for one in diagnose(session).findings if one.name == name)


@pytest.mark.parametrize(("readers", "threads"), [(1, ""), (2, ", num_parallel_calls=2")])
def test_more_calls_than_processors_come_with_a_pool_of_as_many_threads(tmp_path, readers, threads):
    # GIVEN readers of 5 ms a call, on a machine of 4 processors
    session = job(tmp_path, calls_of(Delay(5), readers=readers, rest_ms=rests(0.5)))
    fix = fix_of(session, "read_parallelism")

    # WHEN what is printed is typed into a program
    program = apply_lines(PROGRAM.format(threads=threads), fix.line, fix.instead_of, {})

    # THEN as many threads as calls can read, and the printed text has each line
    ast.parse(program)
    at_a_time = re.search(r"num_parallel_calls=(\d+)", program)
    assert at_a_time
    assert int(at_a_time[1]) > 4
    assert f"private_threadpool_size = {at_a_time[1]}" in program
    assert "with_options" in program
    printed = findings_text(diagnose(session))
    assert all(f"+ {line}\n" in printed for line in fix.line.splitlines())


def test_a_loop_that_reads_by_itself_is_told_of_threads_and_not_of_tf_data(tmp_path):
    # GIVEN a loop whose own thread reads its batch, 45 of 50 ms
    calls = [
        (50 * n + 9 * part, 50 * n + 9 * part + 9, LOOP, "pread", part, 100 * KB, 100 * KB * n)
        for n in range(40)
        for part in range(5)
    ]
    paths = [f"/data/{n}" for n in range(5)]
    session = training(tmp_path, calls, epochs_of_steps(40, 50, 45), paths=paths, sizes=[10**9] * 5)

    # THEN
    fixes = {one.name: one.fix for one in diagnose(session).findings}
    assert fixes["prefetch"].line == "for batch in read_ahead(batches):  # from tfdarshan.ahead"
    assert fixes["prefetch"].instead_of == "for batch in batches:"
    assert fixes["read_parallelism"].line.startswith("yield from map_ahead(read, samples, threads=")
    assert "dataset" not in fixes["read_parallelism"].line + fixes["read_parallelism"].instead_of
    ast.parse(fixes["read_parallelism"].line)


def test_what_costs_less_than_runs_differ_by_is_a_note(tmp_path):
    # GIVEN steps of 100 ms, 4 of which the loop spends in ten stats
    calls = [
        (100 * n + 10 + part * 0.4, 100 * n + 10.4 + part * 0.4, LOOP, "stat", 0, 0)
        for n in range(20)
        for part in range(10)
    ]
    calls += [(100 * n, 100 * n + 1, LOOP, "read", 0, 100) for n in range(20)]
    session = training(tmp_path, sorted(calls), epochs_of_steps(20, 100, 1), sizes=[10**6])

    # THEN
    found = diagnose(session)
    assert not found.problems
    assert "stat_storm" in [one.name for one in found.findings if one.kind == "note"]
    assert found.verdict.state == "healthy"


@pytest.mark.parametrize(("operation", "words"), [("read", "read_ahead(batches)"), ("pread", "prefetch(")])
def test_threads_that_read_as_python_does_are_not_told_of_tf_data(tmp_path, operation, words):
    # GIVEN threads that read while steps wait, where TensorFlow is loaded and no pipeline of it was iterated
    calls = [
        (50 * n + 9 * part, 50 * n + 9 * part + 9, part + 1, operation, part, 100 * KB, 100 * KB * n)
        for n in range(40)
        for part in range(4)
    ]
    meta = {"versions": {"tensorflow": "2.21.0"}, "pipelines": {"found": [], "left_out": 0}}
    steps = epochs_of_steps(40, 50, 36)
    paths = [f"/data/{n}" for n in range(4)]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[10**9] * 4, meta=meta)

    # THEN TensorFlow's readers say where they read, and nobody else is told of its API
    assert words in fix_of(session, "prefetch").line
