"""Waits of PyTorch's loaders on the clock of a GPU that only tfdarshan sees."""

import sys
from types import SimpleNamespace

import pytest

import tfdarshan

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
BATCHES = 6


class Event:
    """Is passed at once, and the GPU was idle for `idle_ms` before it."""

    idle_ms = 0.0

    def __init__(self, *, enable_timing):
        pass

    def record(self):
        pass

    def query(self):
        return True

    def elapsed_time(self, _later):
        return self.idle_ms


class Numbers:
    def __len__(self):
        return BATCHES

    def __getitem__(self, number):
        return number


@pytest.fixture
def cuda(monkeypatch):
    """Stand in for PyTorch's CUDA where tfdarshan looks for it; PyTorch itself goes on without."""
    pytest.importorskip("torch.utils.data")
    made = SimpleNamespace(
        is_initialized=lambda: True,
        is_current_stream_capturing=lambda: False,
        current_device=lambda: 0,
        Event=Event,
    )
    monkeypatch.setitem(sys.modules, "torch.cuda", made)
    return made


def steps_of(logs, *, workers):
    data = sys.modules["torch.utils.data"]
    with tfdarshan.profile(logs) as profile:
        for _ in data.DataLoader(Numbers(), num_workers=workers):
            pass
    return profile.steps


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("idle_ms", [0.0, 1e6])
def test_each_step_says_what_of_its_wait_was_exposed(cuda, tmp_path, monkeypatch, workers, idle_ms):
    # GIVEN a GPU that always works, and one that never does
    monkeypatch.setattr(Event, "idle_ms", idle_ms)

    # WHEN
    steps = steps_of(tmp_path / "logs", workers=workers)

    # THEN a wait is exposed at most as long as it is
    assert len(steps) == BATCHES
    assert (steps["input_wait_ns"] > 0).all()
    assert steps["exposed_wait_ns"].tolist() == (
        steps["input_wait_ns"].tolist() if idle_ms else [0] * BATCHES
    )


def test_a_job_that_uses_no_gpu_has_no_exposed_wait(cuda, tmp_path):
    # GIVEN
    cuda.is_initialized = lambda: False

    # THEN
    assert steps_of(tmp_path / "logs", workers=0)["exposed_wait_ns"].tolist() == [-1] * BATCHES
