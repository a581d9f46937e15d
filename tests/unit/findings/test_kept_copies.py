"""Copies on a disk that was not measured: what is certain of them is what memory serves again."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.staging import find

FILES, BYTES, FILES_A_STEP = 256, 8_000, 16
DISK = "150.0 us a file and 1.0 GB/s"
UNMEASURED = f"a local disk, which was not measured, takes {DISK}"
KEPT = f"the page cache keeps a copy from its first pass on, and is no slower than {DISK}"


def job(logdir, *, epochs=3, folder_of="/data", memory=1 << 34, taken_ms=0.5):
    """Gives epochs of 256 files, each of which one reader opens and reads: nothing but that takes time."""
    calls: list[tuple] = []
    for number in range(FILES * epochs):
        at, file = number * taken_ms, number % FILES
        opened = at + 0.2 * taken_ms
        calls += [(at, opened, 1, "open", file, 0), (opened, at + taken_ms, 1, "pread", file, BYTES, 0)]
    step_ms = FILES_A_STEP * taken_ms
    steps = [(n * step_ms, (n + 1) * step_ms, step_ms) for n in range(FILES * epochs // FILES_A_STEP)]
    meta = {"machine": {"cpus": 4, "memory_bytes": memory}}
    names = [f"{folder_of}/{number}.jpg" for number in range(FILES)]
    return training(logdir, calls, steps, paths=names, sizes=[BYTES] * FILES, meta=meta)


def assumed(gain):
    return {one.claim: one.support for one in gain.assumptions}


def test_what_memory_serves_again_is_certain_of_a_copy_whatever_the_disk(tmp_path):
    # GIVEN storage that serves three epochs, each file in 500 us: three times what a local disk may take
    gain = find(measure(job(tmp_path))).gain

    # THEN passes over a copy but the first take 2 x 158 us at most, and the first is promised nothing
    whole = 1 - 2 * 0.158 / 0.5
    assert gain.low_s / gain.before_s == pytest.approx(2 / 3 * whole, abs=0.02)
    assert assumed(gain)[KEPT] == "2.0 MB, which storage serves 3.0 times, are < 0.1 % of the memory"
    # ... and what is expected is what it was
    assert gain.saved_s / gain.before_s == pytest.approx(1 - 0.158 / 0.5, abs=0.02)


@pytest.mark.parametrize(
    "changes",
    [{"epochs": 1}, {"folder_of": "/on-ext4"}, {"memory": 5_000_000}],
    ids=["read once", "a file system that keeps nothing", "larger than memory"],
)
def test_what_memory_does_not_serve_again_is_not_certain(tmp_path, changes):
    gain = find(measure(job(tmp_path, **changes))).gain

    assert gain.low_s == 0
    assert [one.claim for one in gain.doubts] == [UNMEASURED]


def test_storage_that_is_far_slower_than_a_disk_needs_no_memory(tmp_path):
    gain = find(measure(job(tmp_path, taken_ms=1.0))).gain

    assert assumed(gain)[UNMEASURED] == "storage takes 6.3 times as long"
    assert gain.low_s / gain.before_s == pytest.approx(1 - 2 * 0.158, abs=0.03)


def test_a_copy_that_gains_for_certain_is_named_before_a_line_that_gains_far_less(tmp_path):
    # GIVEN two epochs: a cache() spares one of them, a copy two thirds of both
    verdict = diagnose(job(tmp_path, epochs=2)).verdict

    assert verdict.finding == "staging"
