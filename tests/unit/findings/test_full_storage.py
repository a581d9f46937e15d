"""Storage that gives the same however many reads run at a time, in jobs whose steps nobody marked."""

import pytest

from tests.closed_readers import Queue, calls_of
from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings.diagnosis import diagnose

FILES, BATCH, FILE_MB = 112, 16, 1
# What a file takes of a device of 40 MB/s, and what memory takes for it, in ms.
STORED_MS, KEPT_MS = 25.0, 0.1
STEP_MS, SYNC_MS = 8.0, 6.0


def two_epochs(logdir, *, steps=False):
    """Gives a job of 16 readers that a full device serves, and then memory; each step syncs a log."""
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

    # THEN not the syncs, which cost 3 %, though they are a note, too
    assert diagnosis.verdict.cause == diagnosis.verdict.finding == "full_storage"
    assert "What stands out: storage gives" in diagnosis.verdict.sentence
    assert "fsync" in [one.name for one in diagnosis.findings]
    assert diagnosis.problems == ()
    # AND it comes first, with what storage takes at most
    assert diagnosis.findings[0].name == "full_storage"
    assert diagnosis.findings[0].cost_s == pytest.approx(FILES * STORED_MS / 1e3, rel=0.05)


def test_bandwidth_is_storages_without_what_memory_serves(tmp_path):
    found = full_storage_of(two_epochs(tmp_path))

    # THEN 112 MB in 2.8 s, and not 224
    bandwidth, calls, *_ = found.evidence
    assert bandwidth.value == pytest.approx(40e6, rel=0.05)
    assert calls.value == pytest.approx(40, rel=0.05)


def test_what_memory_serves_later_is_not_to_be_kept(tmp_path):
    # GIVEN one job whose later epoch memory serves, and one that reads once
    again = full_storage_of(two_epochs(tmp_path / "again"))
    calls = [
        (start, end, 1 + reader, "read", 0, length, place * length)
        for place, (start, end, reader, length) in enumerate(
            calls_of(Queue(0, 5), readers=4, rest_ms=lambda noise: noise.expovariate(1 / 5))
        )
    ]
    once = full_storage_of(training(tmp_path / "once", calls, sizes=[10**12]))

    assert "Read less from it: stage the files if several runs use them, store them" in again.cure.what
    assert "Read less from it: stage the files, keep them in memory, store them" in once.cure.what


def test_steps_say_what_is_waited_for_in_its_place(tmp_path):
    found = full_storage_of(two_epochs(tmp_path, steps=True))

    # THEN the note claims none of the wait
    assert found.kind == "note"
    assert found.cost_s == 0
