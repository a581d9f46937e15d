"""What a loop writes to the storage of its input, and elsewhere."""

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import edited
from tfdarshan.replay.loop_edits import BackgroundSaves, BufferedWrites
from tfdarshan.replay.promise import speedups
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import Staged

SIZE, SAVED = 100_000, 16_000_000


def writing_job(logdir, *outputs, length=4096):
    """Makes ten steps that read for 10 ms, compute for 20 and write for 30: to each output in turn."""
    calls = [(60 * n, 60 * n + 10, LOOP, "pread", 0, SIZE, n * SIZE) for n in range(10)]
    calls += [(60 * n + 30, 60 * n + 60, LOOP, "write", 1 + n % len(outputs), length, 0) for n in range(10)]
    steps = [(60 * n, 60 * n + 60, 10) for n in range(10)]
    sizes = [10 * SIZE, *[10 * length] * len(outputs)]
    return training(logdir, calls, steps, paths=["/data/a", *outputs], sizes=sizes)


@pytest.mark.parametrize(
    ("outputs", "here"), [(["/data/log"], 1.0), (["/out/log"], 0.0), (["/data/log", "/out/log"], 0.5)]
)
def test_writes_to_the_mount_of_the_input_wait_in_its_queue(tmp_path, outputs, here):
    # WHEN
    job = calibrated(facts_of(writing_job(tmp_path, *outputs)))

    # THEN
    assert job.facts.storage.writes_here == pytest.approx(here)
    assert job.model.write_s.sum() == pytest.approx(here * 0.300)
    assert job.model.stall_s.sum() == pytest.approx((1 - here) * 0.300)
    assert job.run.total_s == pytest.approx(np.full(64, 0.600), rel=0.03)


@pytest.mark.parametrize(("output", "here"), [("/data/model", True), ("/out/model", False)])
def test_saves_in_the_background_go_on_at_the_storage_they_are_on(tmp_path, output, here):
    job = calibrated(facts_of(writing_job(tmp_path, output, length=SAVED)))

    # WHEN
    model = edited(job, BackgroundSaves()).model

    # THEN
    assert model.write_s.sum() == 0
    assert model.beside_s.sum() == pytest.approx(0.300 if here else 0.0)


@pytest.mark.parametrize("output", ["/data/log", "/out/log"])
def test_buffered_writes_spare_all_of_them_wherever_they_go(tmp_path, output):
    # GIVEN
    job = calibrated(facts_of(writing_job(tmp_path, output)))
    free = job.model.limit_s.sum(0) == 0

    # THEN nothing else changes but where a rate limit gets time to rest
    assert speedups(job, BufferedWrites())[free] == pytest.approx(np.full(free.sum(), 2.0), rel=0.03)


@pytest.mark.parametrize(("saves", "length"), [(BufferedWrites(), 4096), (BackgroundSaves(), SAVED)])
def test_input_that_was_staged_leaves_writes_alone_in_any_order(tmp_path, saves, length):
    # GIVEN output on the input's storage
    job = calibrated(facts_of(writing_job(tmp_path, "/data/model", length=length)))

    # WHEN
    one, other = edited(job, saves, Staged()), edited(job, Staged(), saves)

    # THEN
    assert one.run.total_s == pytest.approx(other.run.total_s)
    assert other.model.beside_s.sum() == 0
