"""What is read between epochs alone is no part of what a batch takes, and is read in later epochs, too."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.findings import fits_in_memory
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure

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
