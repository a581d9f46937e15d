"""What fixes of page faults, and of a rank's share, give: against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.findings.made_up_mapped import loop_faults, mapped_training
from tests.unit.findings.made_up_training import epochs_of_steps
from tests.unit.replay.made_up_jobs import file_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import PartOfInput, edited
from tfdarshan.replay.fault_edits import LargerWindow, ReadsAhead, TouchedPages
from tfdarshan.replay.job_model import READ
from tfdarshan.replay.promise import speedups
from tfdarshan.replay.session_facts import facts_of

STEPS, WINDOW = 50, 128 << 10


def job_of(folder, jump):
    """Return a job whose loop waits in four faults of 2.5 ms a step, and computes for 10 ms."""
    faults = loop_faults(STEPS, 20.0, 2.5, 4, jump=jump)
    session = mapped_training(folder, faults, epochs_of_steps(STEPS, 20.0, 10.0), bytes_in=200 * WINDOW)
    return calibrated(facts_of(session))


@pytest.fixture(scope="module")
def in_order(tmp_path_factory):
    return job_of(tmp_path_factory.mktemp("order"), WINDOW)


@pytest.fixture(scope="module")
def jumping(tmp_path_factory):
    return job_of(tmp_path_factory.mktemp("jumps"), 1 << 20)


def every(job):
    return np.ones(len(job.facts.files), bool)


def test_threads_that_read_ahead_leave_computing(jumping):
    # THEN of steps of 20 ms the first one's wait is left, at most all of it
    left_s = 50 * 0.010 + 0.010
    assert np.median(speedups(jumping, ReadsAhead(8))) == pytest.approx(1.0 / left_s, rel=0.02)


def test_what_comes_in_first_is_waited_for(jumping):
    # GIVEN half as many bytes as the run reads, before the first batch
    first = edited(jumping, ReadsAhead(8, 0.5)).model.transfer_s[0]

    assert first == pytest.approx(jumping.model.transfer_s[0] + jumping.model.transfer_s.sum(0) / 2)


def test_a_window_32_times_as_large_waits_once_for_32(in_order):
    made = edited(in_order, LargerWindow(32 * WINDOW, every(in_order)))
    assert made.model.wait_s[READ].sum(0) == pytest.approx(in_order.model.wait_s[READ].sum(0) / 32, rel=0.2)
    assert made.model.transfer_s.sum(0) == pytest.approx(in_order.model.transfer_s.sum(0))


def test_a_window_gives_reads_out_of_order_nothing(jumping):
    made = edited(jumping, LargerWindow(32 * WINDOW, every(jumping)))
    assert made.run.total_s == pytest.approx(jumping.run.total_s, rel=0.005)


def test_single_pages_take_their_part_of_the_bytes(jumping):
    # GIVEN twice as many pages as faults that waited, for each of which 128 KiB came in
    pages = TouchedPages((400, 400), 200, 200 * WINDOW, every(jumping))
    apart, together = (edited(jumping, replace(pages, apart=apart)) for apart in (True, False))

    for made in (apart, together):
        assert made.model.transfer_s.sum(0) == pytest.approx(jumping.model.transfer_s.sum(0) / 16)
    assert apart.model.wait_s[READ].sum(0) == pytest.approx(jumping.model.wait_s[READ].sum(0) * 2)
    assert together.model.wait_s[READ].sum(0) == pytest.approx(jumping.model.wait_s[READ].sum(0))


@pytest.mark.parametrize("edit", [LargerWindow, lambda _, files: TouchedPages((400, 800), 200, 1e9, files)])
def test_reads_of_other_files_stay_as_they_are(in_order, edit):
    nothing = ~every(in_order)
    assert speedups(in_order, edit(32 * WINDOW, nothing)) == pytest.approx(np.ones(64))


def test_half_of_the_input_takes_half_of_the_time(tmp_path):
    # GIVEN 60 ms of preparing a batch, and 20 ms of compute
    job = calibrated(facts_of(file_job(tmp_path, decode_ms=5)))
    told = job.weight >= np.median(job.weight)

    assert speedups(job, PartOfInput(0.5))[told] == pytest.approx(np.full(told.sum(), 80 / 50), rel=0.02)
