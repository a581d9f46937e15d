"""Steps of several batches: each wait counts when it was, and no read beside the loop's computing."""

import pytest

from tests.unit.findings.made_up_loaders import accumulated_job, loader_job
from tfdarshan.findings import prefetch
from tfdarshan.findings.measurement import measure


def test_a_loop_that_reads_for_each_batch_of_a_step_reads_while_it_waits(tmp_path):
    # GIVEN steps of eight batches, each of which the loop reads for 100 ms and computes with for 100
    measures = measure(accumulated_job(tmp_path))

    # THEN all of the wait is for file calls, and nothing is read beside computing
    model = measures.model
    assert (model.wait_s, model.compute_s) == pytest.approx((0.8, 0.8))
    assert (model.storage_s, model.overlap) == pytest.approx((0.8, 0.0))
    found = prefetch.find(measures)
    assert "The input pipeline does nothing while steps compute." in found.what


def test_steps_of_a_batch_wait_as_they_say(tmp_path):
    measures = measure(loader_job(tmp_path))

    assert measures.windows.waited_ns is None
