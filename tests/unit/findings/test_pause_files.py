"""What is read between epochs alone is no part of what a batch takes, and is read in later epochs, too."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.findings import (
    fits_in_memory,
    random_access,
    reopening,
    small_files,
    small_reads,
    straggler,
)
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.whole_input import stage_all

KB = 1_000
STEPS, FILES, SMALL = 20, 120, 30 * KB


def job(logdir, *, wait_ms=20.0, first_ms=10.0, later_ms=10.0, in_steps=False):
    """Gives three epochs of steps that wait in the first one alone, each followed by a pass over small files.

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
            taken_ms = later_ms if epoch else first_ms
            read_small(at, file, taken_ms)
            at += taken_ms
    paths = [*(f"/data/{n}" for n in range(STEPS)), *(f"/validation/{n}" for n in range(FILES))]
    sizes = [100 * KB] * STEPS + [SMALL] * FILES
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.05}}
    return training(logdir, calls, steps, paths=paths, sizes=sizes, meta=machine)


def kind_of(name, session):
    return next((one.kind for one in diagnose(session).findings if one.name == name), None)


@pytest.mark.parametrize("in_steps", [False, True])
def test_files_that_no_step_reads_do_not_belong_into_shards(tmp_path, in_steps):
    # GIVEN 120 small files that validation reads, or steps
    session = job(tmp_path, in_steps=in_steps)

    # THEN
    assert kind_of("small_files", session) == ("problem" if in_steps else None)


@pytest.mark.parametrize(
    ("later_ms", "kind"),
    [
        (10.0, "problem"),
        (1.1, "problem"),  # 0.11 of the first pass
        (0.9, "note"),  # 0.09: HARDLY
    ],
)
def test_a_copy_helps_later_epochs_if_they_stand_still_for_other_files(tmp_path, later_ms, kind):
    # GIVEN steps that wait in the first epoch alone, and a validation set that is read after each
    session = job(tmp_path, later_ms=later_ms)

    # THEN only where memory serves that, too, a copy takes as much as it spares
    assert kind_of("staging", session) == kind


def test_what_no_step_reads_is_not_kept_with_what_steps_read(tmp_path):
    # GIVEN files that are read between steps in each epoch
    session = job(tmp_path)

    # THEN they are kept as a validation set is
    assert kind_of("validation", session) == "problem"
    assert fits_in_memory.find(measure(session)) is None


def pooled(logdir, *, by=LOOP, asks=False, stat_ms=0.0):
    """Gives two epochs of steps that wait 40 ms for four threads, between which 40 other files take 400 ms.

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


def in_parts(logdir, *, in_order, slow=False):
    """Gives 20 steps that wait 40 ms for 16 parts of a file each, and a pause in which 40 others take 480 ms.

    In place of the last part steps may read one of the last file, in 100 ms.
    """
    part, at = 64 << 10, 0.0
    calls: list[tuple] = []
    steps: list[tuple[float, float, float]] = []
    for step in range(20):
        for place in range(15 if slow else 16):
            offset, start = part * (place if in_order else 7 * place % 16), at + 2.5 * place
            calls.append((start, start + 2.5, 1, "pread", step, part, offset))
        waits_ms = 137.5 if slow else 40.0
        if slow:
            calls.append((at + 37.5, at + waits_ms, 1, "pread", 19, part, part * step))
        steps.append((at, at + waits_ms + 2, waits_ms))
        at += waits_ms + 2
        for file in range(40 * (step == 9)):
            calls.append((at, at + 12, LOOP, "pread", 20 + file, part, 0))
            at += 12
    paths = [*(f"/data/{n}" for n in range(20)), *(f"/validation/{n}" for n in range(40))]
    sizes = [16 * part] * 20 + [part] * 40
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.05}}
    return training(logdir, calls, steps, paths=paths, sizes=sizes, meta=machine)


@pytest.mark.parametrize("rule", [small_files, fits_in_memory, reopening])
def test_what_the_loop_reads_in_pauses_stays_where_other_files_are_read_otherwise(tmp_path, rule):
    # GIVEN a loop whose own thread reads between epochs alone
    measures = measure(pooled(tmp_path))
    assert measures.pauses.loop_s == pytest.approx(0.4)

    # WHEN what steps read is read otherwise, kept, or left open
    found = rule.find(measures)

    # THEN it saves of the waits, and nothing of the pause
    assert found.stall_s == 0
    assert 0.2 * 0.040 < found.gain.saved_s <= 0.040


@pytest.mark.parametrize("rule", [small_reads, random_access])
def test_reads_of_the_loop_in_pauses_stay_where_steps_read_otherwise(tmp_path, rule):
    # GIVEN files that steps read in 16 parts, in order or not, and others that the loop reads whole
    found = rule.find(measure(in_parts(tmp_path, in_order=rule is small_reads)))

    # THEN reading the parts otherwise saves nothing of the pause
    assert found.stall_s == 0
    assert 0.2 * 0.040 < found.gain.saved_s <= 0.040


def test_slow_files_of_steps_cost_nothing_of_the_pauses(tmp_path):
    # GIVEN a file whose parts take 40 times as long as others, of which each step reads one
    found = straggler.find(measure(in_parts(tmp_path, in_order=True, slow=True)))

    # THEN
    assert found.stall_s == 0
    assert found.gain.saved_s > 0


@pytest.mark.parametrize("by", [LOOP, 1])
def test_a_copy_saves_a_pause_as_a_whole_whoever_reads_in_it(tmp_path, by):
    # GIVEN steps whose stats by name a copy leaves, 8 ms of each file's 10, and a pause of 400 ms
    use, facts = measure(pooled(tmp_path, by=by, stat_ms=8.0)).use_and_facts

    # WHEN all files are staged
    expected = stage_all(use, facts, LOCAL_SSD).expected

    # THEN it takes the pause, though stats are most of what others call
    assert (facts.loop_share, facts.pauses_s) == (0.0, pytest.approx(0.4))
    assert 2 * expected.still_s == pytest.approx(0.4, rel=0.1)


@pytest.mark.parametrize("by", [LOOP, 1])
def test_readers_are_those_of_the_pipeline_whoever_reads_in_pauses(tmp_path, by):
    # GIVEN four threads that read in all waits, and a pause in which the loop reads, or one of them
    model = measure(pooled(tmp_path, by=by)).model

    # THEN the loop's pace is none of theirs
    assert model.readers == pytest.approx(4.0 if by == LOOP else 2.8, abs=0.2)


def test_what_the_loop_asks_about_files_it_may_ask_of_shards(tmp_path):
    # GIVEN 16 stats of 1 ms after each wait
    found = small_files.find(measure(pooled(tmp_path, asks=True)))

    # THEN shards save of the waits alone
    assert found.stall_s == 0
    assert found.gain.saved_s > 0.02
