"""What is read between epochs alone is no part of what a batch takes, and is kept as a validation set is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings import fits_in_memory, small_files, validation
from tfdarshan.findings.measurement import measure
from tfdarshan.replay.edits import CacheInMemory, edited
from tfdarshan.replay.storage_edits import KeptOpen, Shards

KB = 1_000
STEPS, FILES, SMALL = 20, 120, 30 * KB


def job(logdir, *, wait_ms=20.0, each_ms=10.0, in_steps=False):
    """Return three epochs of steps that wait in the first alone, each followed by a pass over small files.

    Opening one takes as long as reading it. They may be read in the steps instead.
    """
    at = 0.0
    calls: list[tuple] = []
    steps: list[tuple[float, float, float]] = []

    def read_small(at: float, file: int, taken_ms: float) -> None:
        half = at + taken_ms / 2
        calls.append((at, half, 1, "open", STEPS + file, 0))
        calls.append((half, at + taken_ms, 1, "pread", STEPS + file, SMALL, 0))

    for epoch in range(3):
        for step in range(STEPS):
            waits_ms = wait_ms if epoch == 0 else 0.2
            if in_steps:
                for file in range(6):
                    read_small(at + file * waits_ms / 6, 6 * step + file, waits_ms / 6)
            elif epoch == 0:
                calls.append((at, at + waits_ms, 1, "pread", step, 100 * KB, 0))
            steps.append((at, at + waits_ms + 30, waits_ms))
            at += waits_ms + 30
        for file in range(0 if in_steps else FILES):
            read_small(at, file, each_ms)
            at += each_ms
    paths = [*(f"/data/{n}" for n in range(STEPS)), *(f"/validation/{n}" for n in range(FILES))]
    sizes = [100 * KB] * STEPS + [SMALL] * FILES
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.05}}
    return training(logdir, calls, steps, paths=paths, sizes=sizes, meta=machine)


@pytest.mark.parametrize("in_steps", [False, True])
def test_files_that_no_step_reads_do_not_belong_into_shards(tmp_path, in_steps):
    # GIVEN 120 small files that validation reads, or steps
    found = small_files.find(measure(job(tmp_path, in_steps=in_steps)))

    # THEN
    assert (found is not None) is in_steps


def test_what_no_step_reads_is_not_kept_with_what_steps_read(tmp_path):
    # GIVEN files that are read between steps in each epoch
    measures = measure(job(tmp_path))

    # THEN they are kept as a validation set is
    assert validation.find(measures) is not None
    assert fits_in_memory.find(measures) is None


def pooled(logdir, *, by=LOOP, asks=False, stat_ms=0.0):
    """Return two epochs of steps that wait 40 ms for four threads, between which 40 other files take 400 ms.

    Each step's 16 files are opened in 5 ms, and read in 5 ms, or asked about for a part of that; the loop may
    ask about them after it waited.
    """
    at = 0.0
    calls: list[tuple] = []
    steps: list[tuple[float, float, float]] = []

    def read(at: float, thread: int, file: int, asked_ms: float = 0.0) -> None:
        half = (10 - asked_ms) / 2
        if asked_ms:
            calls.append((at, at + asked_ms, thread, "stat", file, 0))
        calls.append((at + asked_ms, at + 10 - half, thread, "open", file, 0))
        calls.append((at + 10 - half, at + 10, thread, "pread", file, SMALL, 0))

    for epoch in range(2):
        for step in range(8):
            for place in range(16):
                read(at + 10 * (place // 4), 1 + place % 4, 16 * step + place, stat_ms)
            steps.append((at, at + 42 + 16 * asks, 40.0))
            calls += [(at + 41 + n, at + 42 + n, LOOP, "stat", 16 * step + n, 0) for n in range(16 * asks)]
            at += 42 + 16 * asks
        for file in range(40 * (epoch == 0 and not asks)):
            read(at, by, 128 + file)
            at += 10
    paths = [*(f"/data/{n}" for n in range(128)), *(f"/validation/{n}" for n in range(40))]
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.05}}
    return training(logdir, calls, steps, paths=paths, sizes=[SMALL] * 168, meta=machine)


@pytest.mark.parametrize(
    "edit", [Shards(), CacheInMemory(), KeptOpen()], ids=lambda edit: type(edit).__name__
)
def test_what_is_read_in_pauses_stays_if_steps_read_otherwise(tmp_path, edit):
    # GIVEN a pause of 400 ms between two epochs, in which files are read that no step reads
    modelled = measure(pooled(tmp_path)).job

    # THEN it is as long, however steps read
    assert modelled.facts.batches.validation_s.sum() == pytest.approx(0.4)
    assert np.array_equal(edited(modelled, edit).model.stall_s, modelled.model.stall_s)


@pytest.mark.parametrize("by", [LOOP, 1])
def test_readers_are_those_of_the_pipeline_whoever_reads_in_pauses(tmp_path, by):
    # GIVEN four threads that read in all waits, and a pause in which the loop reads, or one of them
    model = measure(pooled(tmp_path, by=by)).model

    # THEN the pace in pauses is none of theirs
    assert model.readers == pytest.approx(4.0, abs=0.2)
