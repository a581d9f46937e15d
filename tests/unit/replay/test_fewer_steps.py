"""Epochs of fewer steps: each step takes as long as before, and so does what comes once an epoch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.findings.made_up_validation import validation_job
from tests.unit.replay.made_up_jobs import file_job
from tests.unit.replay.made_up_writes import SAVED, writing_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.loop_edits import FewerSteps
from tfdarshan.replay.promise import speedups
from tfdarshan.replay.session_facts import facts_of

# A session, the share of its steps that is left, and the speedup.
JOBS: list[tuple[Callable[..., Any], float, float]] = [
    # steps that wait for 40 ms and compute for 20
    (file_job, 1 / 4, 4.0),
    # epochs of 600 ms, each with 300 ms of validation behind it
    (validation_job, 1 / 4, (600 + 300) / (600 / 4 + 300)),
    # steps of 30 ms, each with a save of 30 ms
    (lambda folder: writing_job(folder, "/data/save", length=SAVED), 1 / 2, (30 + 30) / (30 / 2 + 30)),
]


@pytest.mark.parametrize(("made", "part", "expected"), JOBS)
def test_an_epoch_has_so_many_steps_and_all_that_comes_once(tmp_path, made, part, expected):
    job = calibrated(facts_of(made(tmp_path)))

    found = speedups(job, FewerSteps(part))

    told = job.weight >= np.median(job.weight)
    assert found[told] == pytest.approx(np.full(told.sum(), expected), rel=0.02)
