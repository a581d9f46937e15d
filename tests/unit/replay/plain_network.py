"""Jobs whose batches and tasks are all alike, for closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.job_model import CALLS, JobModel


def plain_model(
    *, batches: int, tasks_per_batch: int = 1, samples: int = 1, epochs: int = 1, **values: Any
) -> JobModel:
    """Return a job whose batches and tasks are all alike, as numbers or arrays say; 0 and one reader else.

    Args:
        batches: Batches of all epochs together.
        tasks_per_batch: Tasks of each of them.
        samples: How many samples.
        epochs: How many epochs, each of as many batches.
        values: Attributes of `JobModel`: a number counts for all batches, tasks or samples. All waits are of
            one kind.
    """
    tasks = batches * tasks_per_batch
    of_batches = dict.fromkeys(("compute_s", "write_s", "stall_s", "hand_s", "beside_s"), (batches, 1))
    of_tasks = dict.fromkeys(("limit_s", "transfer_s", "seek_s", "work_s", "behind_s", "wait_s"), (tasks, 1))
    shares = ("burst_s", "wait_serial", "transfer_serial", "work_serial", "behind_serial")
    shapes = of_batches | of_tasks | dict.fromkeys(shares, (samples,))
    arrays: dict[str, Any] = {
        name: _filled(values.pop(name, 0.0), shape, float) for name, shape in shapes.items()
    }
    arrays["wait_s"] = arrays["wait_s"][None]
    counts = {"readers": 1, "calls_ahead": 0, "batches_ahead": 0, "in_order": 1}
    arrays |= {name: _filled(values.pop(name, least), (samples,), int) for name, least in counts.items()}
    arrays |= {"late_s": _filled(values.pop("late_s", 0.0), (epochs, 1), float)}
    arrays |= {"weight": np.ones(batches), "epoch": np.arange(batches) * epochs // batches}
    arrays |= {"batch": np.repeat(np.arange(batches), tasks_per_batch), "calls": np.ones((len(CALLS), tasks))}
    arrays |= {"jumps": np.zeros(tasks), "requests": np.ones((tasks, 1))}
    return JobModel(**arrays, **values)


def _filled(value: Any, shape: tuple[int, ...], kind: type) -> Array:
    given: Array = np.asarray(value, kind)
    return given if given.ndim == len(shape) else np.broadcast_to(given, shape).copy()
