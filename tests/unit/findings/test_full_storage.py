"""Storage that gives the same however many reads run at a time, in jobs whose steps nobody marked."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings.diagnosis import diagnose

FILES, BATCH, FILE_MB = 112, 16, 1
# What a file takes of a device of 40 MB/s, and what memory takes for it, in ms.
STORED_MS, KEPT_MS = 25.0, 0.1
STEP_MS, SYNC_MS = 8.0, 6.0


def two_epochs(logdir, *, steps=False):
    """Return a job of 16 readers that a full device serves, and then memory; each step syncs a log."""
    calls, windows, at = [], [], 0.0
    for epoch, file_ms in enumerate((STORED_MS, KEPT_MS)):
        for first in range(0, FILES, BATCH):
            begins = at
            for place in range(BATCH):
                at += file_ms
                starts = begins + place / 100 if epoch == 0 else at - file_ms
                calls.append((starts, at, 1 + place, "read", first + place, FILE_MB * 10**6, 0))
            calls.append((at + 1, at + 1 + SYNC_MS, LOOP, "fsync", FILES, 0, 0))
            windows.append((begins, at + STEP_MS, at - begins))
            at += STEP_MS
    meta = {"machine": {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": 0.1}}
    paths = [*(f"/data/{n}" for n in range(FILES)), "/out/log"]
    sizes = [FILE_MB * 10**6] * FILES + [1000]
    return training(logdir, sorted(calls), windows if steps else (), paths=paths, sizes=sizes, meta=meta)


def full_storage_of(session):
    return next(one for one in diagnose(session).findings if one.name == "full_storage")


def test_storage_that_takes_all_the_time_stands_out_where_no_step_is_known(tmp_path):
    diagnosis = diagnose(two_epochs(tmp_path))

    # THEN it is a note, and nothing is a problem
    assert diagnosis.problems == ()
    assert [one.kind for one in diagnosis.findings if one.name == "full_storage"] == ["note"]


def test_bandwidth_is_storages_without_what_memory_serves(tmp_path):
    found = full_storage_of(two_epochs(tmp_path))

    # THEN 112 MB in 2.8 s, and not 224
    bandwidth, calls, *_ = found.evidence
    assert bandwidth.value == pytest.approx(40e6, rel=0.05)
    assert calls.value == pytest.approx(40, rel=0.05)


def test_steps_say_what_is_waited_for_in_its_place(tmp_path):
    found = full_storage_of(two_epochs(tmp_path, steps=True))

    # THEN the note claims none of the wait
    assert found.kind == "note"
    assert found.cost_s == 0
