"""Readers of data sets that are read one after the other are counted set by set."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.analysis.file_table import load_files
from tfdarshan.analysis.input_files import input_files
from tfdarshan.analysis.set_folders import data_sets
from tfdarshan.findings.measurement import measure

KB = 1_000
STEPS, VALIDATED, STEP_MS = 60, 20, 20.0


def job(folder, *, side_by_side=False, names=("/job/train/0.bin", "/job/valid/0.bin", "/job/valid/1.bin")):
    """Gives 60 steps for which two threads in turn read a file, and 20 for which two at a time read others.

    All wait for their input throughout; if sets are read side by side, the two readers read one of each.
    """
    calls = []
    for step in range(STEPS + VALIDATED):
        at, end = STEP_MS * step, STEP_MS * (step + 1) - 0.1
        if side_by_side:
            calls += [(at, end, 1 + n, "pread", n, 100 * KB, step * 100 * KB) for n in range(2)]
        elif step < STEPS:
            calls.append((at, end, 1 + step % 2, "pread", 0, 100 * KB, step * 100 * KB))
        else:
            calls += [(at, end, 3 + n, "pread", 1 + n, 100 * KB, step * 100 * KB) for n in range(2)]
    steps = epochs_of_steps(STEPS + VALIDATED, STEP_MS, STEP_MS)
    return training(
        folder, calls, steps, paths=list(names), sizes=[10**7] * 3,
        meta={"machine": {"cpus": 4, "memory_bytes": 1 << 34}},
    )  # fmt: skip


def test_each_set_has_its_own_readers(tmp_path):
    measures = measure(job(tmp_path))

    # THEN time in calls is divided by 1 in training, and by 2 in validation: 60 + 40 of 20 ms take 60 + 20
    assert measures.model.readers == pytest.approx(100 / 80, rel=0.01)
    assert measures.model.storage_s == pytest.approx(STEP_MS / 1e3, rel=0.01)


def test_sets_that_are_read_side_by_side_share_their_readers(tmp_path):
    assert measure(job(tmp_path, side_by_side=True)).model.readers == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize(
    ("names", "sets"),
    [
        (("/job/train/0.bin", "/job/valid/0.bin", "/job/valid/1.bin"), [1, 2, 2]),
        (("/job/all/train/a/0.bin", "/job/all/valid/b/0.bin", "/job/all/valid/c/1.bin"), [1, 2, 2]),
        (("/job/0.bin", "/job/1.bin", "/job/2.bin"), None),
        (("/job/train/0.bin", "/job/1.bin", "/job/2.bin"), None),
    ],
    ids=["two folders", "deeper folders", "no folders", "one folder and files beside it"],
)
def test_folders_side_by_side_tell_data_sets(tmp_path, names, sets):
    table = load_files(job(tmp_path, names=names).processes)

    found = data_sets(table, input_files(table))

    assert (None if found is None else found[1:].tolist()) == sets
