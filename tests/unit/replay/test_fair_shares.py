"""The processors that a job has beside other programs: all threads take turns."""

import dataclasses

import numpy as np
import pytest

from tests.unit.replay.made_up_jobs import file_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import Readers, edited
from tfdarshan.replay.prior_model import all_processors
from tfdarshan.replay.session_facts import facts_of

WHOLE = {"further_processor": np.ones(1)}


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    return facts_of(file_job(tmp_path_factory.mktemp("job"), decode_ms=5))


def beside(facts, *, cpus, others):
    machine = dataclasses.replace(facts.processors, cpus=cpus, others=others, cpu_s=0.5)
    return dataclasses.replace(facts, processors=machine)


@pytest.mark.parametrize(
    ("cpus", "others", "readers", "left"),
    [
        (4.0, 0.0, 1, 4.0),
        # What others leave is free, whoever asks.
        (4.0, 1.0, 1, 3.0),
        # Three threads of the job and one of another program have equal shares of two processors.
        (2.0, 1.0, 2, 1.5),
        (2.0, 1.0, 7, 2 * 8 / 9),
    ],
)
def test_threads_have_equal_shares_of_processors(facts, cpus, others, readers, left):
    found = all_processors(beside(facts, cpus=cpus, others=others), WHOLE, np.full(1, readers))

    assert found == pytest.approx(left)


def test_more_readers_get_more_of_the_processors(facts):
    # GIVEN
    job = calibrated(beside(facts, cpus=4.0, others=3.0))

    # WHEN
    many = edited(job, Readers(16))

    # THEN
    assert (many.model.processors > job.model.processors).all()
    assert (many.model.work_serial <= job.model.work_serial).all()
