"""Mapped files in memory: storage gives nothing, and a generator over py-lmdb is told of batches."""

import pytest

from tests.unit.findings.made_up_jobs import BATCH, GENERATOR, PATHS, PREFETCH
from tests.unit.findings.made_up_mapped import PATH, loop_faults, mapped_training
from tests.unit.findings.made_up_training import epochs_of_steps
from tfdarshan.findings.diagnosis import diagnose

MB = 1 << 20
STEPS, STEP_MS, WAIT_MS = 50, 20.0, 15.0
QUICK = loop_faults(STEPS, STEP_MS, 0.01, 40, jump=4096)


def job(folder, faults=QUICK, *, kind="lmdb", stages=(GENERATOR, BATCH, PREFETCH)):
    """Return a session of steps that wait beside such faults, by default for a generator over py-lmdb."""
    pipeline = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 1}
    meta = {"pipelines": {"found": [pipeline], "left_out": 0}} if stages else {}
    steps = epochs_of_steps(STEPS, STEP_MS, WAIT_MS)
    return mapped_training(folder, faults, steps, formats={PATH: kind}, meta=meta)


def found(folder, *faults, **more):
    diagnosis = diagnose(job(folder, *faults, **more))
    return {finding.name: finding for finding in diagnosis.findings}.get("mapped_cached")


def test_memory_that_has_a_mapped_file_leaves_nothing_to_gain(tmp_path):
    finding = found(tmp_path, kind="npy")

    assert (finding.kind, finding.gain, finding.fix) == ("note", None, None)
    assert finding.title == "1 mapped file is read from the page cache"
    assert "0 of 2,000 page faults on mapped files waited, 0 ns in all" in finding.what


@pytest.mark.parametrize(
    "faults",
    [
        # too few to tell
        QUICK[:20],
        # they wait
        loop_faults(STEPS, STEP_MS, 2.5, 4, jump=MB) * 2,
        # as many wait as do not, though for no long
        [*QUICK[:300], *((start, start + 0.03, tid, at) for start, _, tid, at in QUICK[300:600])],
    ],
)
def test_it_is_not_said_of_files_that_are_waited_for(tmp_path, faults):
    assert found(tmp_path, faults, kind="npy") is None


def test_a_generator_that_hands_over_cached_records_is_told_what_to_do(tmp_path):
    # GIVEN steps that wait 15 of 20 ms for a generator over py-lmdb
    finding = found(tmp_path)

    # THEN nothing is promised, and a command measures what the data set gives in its place
    assert (finding.kind, finding.gain) == ("note", None)
    assert f"tfdarshan.lmdb.dataset({PATH!r}" in finding.fix.line
    assert f"`tfdarshan lmdb bench {PATH}`" in finding.fix.what


@pytest.mark.parametrize("more", [{"stages": ()}, {"stages": (PATHS, BATCH)}, {"kind": "arrow"}])
def test_what_is_no_generator_over_lmdb_has_no_fix(tmp_path, more):
    assert found(tmp_path, **more).fix is None
