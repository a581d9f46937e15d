"""How Python code decodes with more calls, of jobs that have not loaded TensorFlow."""

from dataclasses import replace

import pytest

from tests.unit.findings.made_up_jobs import pipeline_job
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.findings.fix_lines import more_decoding
from tfdarshan.findings.measurement import measure

PLAIN = {"versions": {"numpy": "2.0"}, "machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 1.0}}
PROCESSES = "Decode in processes: threads wait for each other at Python's lock."


def by_threads(folder, readers):
    return measure(pipeline_job(folder, readers=readers, **PLAIN))


@pytest.mark.parametrize(
    ("readers", "before", "after"),
    [
        (2, "pool = ThreadPoolExecutor(2)", "pool = ThreadPoolExecutor(4)"),
        (8, "pool = ThreadPoolExecutor(8)", "pool = ProcessPoolExecutor(4)"),
        (1, "for sample in samples:", "yield from map_ahead(read, samples, threads=4)"),
    ],
)
def test_threads_that_decode_are_given_others_or_processes(readers, before, after, tmp_path):
    # WHEN
    fix = more_decoding(by_threads(tmp_path, readers), 4)

    # THEN
    assert fix.instead_of.splitlines()[0] == before
    assert fix.line.split("  #")[0] == after
    assert (fix.what == PROCESSES) == (readers == 8)
    assert ("Give the pool that decodes " in fix.what) == (readers == 2)


def test_workers_of_a_data_loader_decode(tmp_path):
    # GIVEN
    measures = by_threads(tmp_path, 2)
    summary = replace(measures.summary, processes=3)

    # WHEN
    fix = more_decoding(replace(measures, versions={"torch": "2.8"}, summary=summary), 4)

    # THEN
    assert "Each worker of the DataLoader makes one." in fix.what
    assert "num_workers=4" in fix.line


def test_a_loop_that_decodes_itself_has_threads_do_it(tmp_path):
    # GIVEN
    calls = [(n * 50, n * 50 + 5, LOOP, "pread", 0, 1_000, 1_000 * n) for n in range(80)]
    session = training(tmp_path, calls, epochs_of_steps(80, 50, 45), sizes=[10**9], meta=PLAIN)

    # WHEN
    fix = more_decoding(measure(session), 4)

    # THEN
    assert "The loop decodes one sample after another: let threads read and decode" in fix.what
    assert "dataset" not in fix.line + fix.instead_of
