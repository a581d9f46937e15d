"""Tiers whose times are simulated: one pipe for four threads, and four threads that wait for themselves."""

import numpy as np
import pytest

from tfdarshan.analysis.storage_passes import PassSample
from tfdarshan.analysis.time_model import fit_time_model
from tfdarshan.staging.shared_bandwidth import with_shared_bandwidth

THREADS = 4
SIZE = (100_000 * np.random.default_rng(3).lognormal(0, 1.0, 600)).astype(int)


def pipe(bandwidth):
    """Gives ends and times of passes of threads that queue for one pipe, first come first served."""
    ready, free, ends, took = np.zeros(THREADS), 0.0, [], []
    for size in SIZE:
        thread = int(np.argmin(ready))
        free = max(free, ready[thread]) + size / bandwidth
        took.append(free - ready[thread])
        ready[thread] = free
        ends.append(free)
    return np.array(ends), np.array(took)


def latency(base_s, bandwidth):
    """Gives ends and times of passes of threads that wait each for itself."""
    ready, ends, took = np.zeros(THREADS), [], []
    for size in SIZE:
        thread = int(np.argmin(ready))
        took.append(base_s + size / bandwidth)
        ready[thread] += took[-1]
        ends.append(ready[thread])
    return np.array(ends), np.array(took)


def test_passes_through_one_pipe_cost_by_their_bytes():
    # GIVEN times that grow a little with a file's own size, and much with the others'
    ends, took = pipe(40e6)
    model = fit_time_model(SIZE, took)
    assert model.base_s > 2 * model.s_per_byte * SIZE.mean()

    # WHEN
    shared = with_shared_bandwidth(model, [PassSample(ends, SIZE)], THREADS)

    # THEN a file costs the readers what its bytes take of the pipe, and all files what they took
    assert shared.s_per_byte / THREADS == pytest.approx(1 / 40e6, rel=0.1)
    assert shared.seconds(SIZE).sum() == pytest.approx(took.sum(), rel=0.02)
    assert "share its bandwidth" in shared.note


def test_passes_that_wait_for_themselves_keep_their_model():
    ends, took = latency(5e-3, 1e9)
    model = fit_time_model(SIZE, took)

    assert with_shared_bandwidth(model, [PassSample(ends, SIZE)], THREADS) == model


def test_threads_with_bandwidth_of_their_own_keep_their_model():
    ends, took = latency(1e-4, 20e6)
    model = fit_time_model(SIZE, took)

    assert with_shared_bandwidth(model, [PassSample(ends, SIZE)], THREADS) == model


def test_without_segments_the_model_is_kept():
    _, took = pipe(40e6)
    model = fit_time_model(SIZE, took)

    assert with_shared_bandwidth(model, [], THREADS) == model
    assert with_shared_bandwidth(model, [PassSample(np.zeros(0), np.zeros(0))], THREADS) == model
