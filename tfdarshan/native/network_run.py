"""The run of a queueing network, by C code that takes one sample after the other, task by task."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tfdarshan.native._extension import replay
from tfdarshan.native.call_sums import Array

OF_TASKS = ("limit_s", "wait_s", "transfer_s", "seek_s", "work_s", "behind_s")
OF_BATCHES = ("late_s", "compute_s", "write_s", "stall_s", "hand_s", "beside_s")
SHARES = ("burst_s", "wait_serial", "transfer_serial", "work_serial", "behind_serial")
COUNTS = ("readers", "calls_ahead", "batches_ahead", "in_order")


def run_network(
    columns: Mapping[str, Array],
    batch: Array,
    weight: Array,
    *,
    rests: int,
    in_turns: bool = False,
) -> tuple[Array, Array, Array]:
    """Return when a training loop asked for its batches, when it got them, and what calls took.

    Args:
        columns: What `tfdarshan.replay.job_model` describes, by name. Times of tasks have shape (tasks,
            samples) or (tasks, 1), those of batches likewise, all else (samples,). Tables are not copied.
        batch: The batch that needs each task, int, ascending, shape (tasks,).
        weight: How many batches each batch stands for, shape (batches,).
        rests: How many rests a server remembers, at least 1.
        in_turns: Whether a task is many calls, which take turns with those of the tasks beside it.

    Returns:
        Seconds from the first request, float64: of shape (batches + 1, samples), at last the end of the run,
        of shape (batches, samples), and of shape (samples,) for all tasks that batches stand for.

    Raises:
        ValueError: An array has another shape.
        TypeError: A count is not an integer.
    """
    tasks, batches, samples = len(batch), len(weight), len(columns["readers"])
    tables = {name: _table(name, columns[name], tasks, samples) for name in OF_TASKS}
    tables |= {name: _table(name, columns[name], batches, samples) for name in OF_BATCHES}
    arrays = {name: _of_samples(name, columns[name], samples, np.float64) for name in SHARES}
    arrays |= {name: _of_samples(name, columns[name], samples, np.int64) for name in COUNTS}
    # A reader more than there are tasks has nothing to do.
    arrays["readers"] = np.minimum(arrays["readers"], max(tasks, 1))
    arrays["first_task"] = np.searchsorted(batch, np.arange(batches + 1)).astype(np.int64)
    arrays["weight"] = np.ascontiguousarray(weight, np.float64)
    arrays |= _room(tasks, arrays["readers"], rests)
    ask_s, got_s, called_s = np.empty((batches + 1, samples)), np.empty((batches, samples)), np.empty(samples)
    sizes = {"batches": batches, "samples": samples, "rests": rests, "in_turns": in_turns}
    _run(sizes, tables, arrays | {"ask_s": ask_s, "got_s": got_s, "called_s": called_s})
    return ask_s, got_s, called_s


def _table(name: str, values: Array, rows: int, samples: int) -> Array:
    """Return a table as C reads it: copied only if its numbers are not aligned float64."""
    if values.shape not in ((rows, samples), (rows, 1)):
        raise ValueError(f"{name} has shape {values.shape}: give it ({rows}, {samples}) or ({rows}, 1).")
    return np.broadcast_to(np.require(values, np.float64, "A"), (rows, samples))


def _of_samples(name: str, values: Array, samples: int, kind: type) -> Array:
    if values.shape != (samples,):
        raise ValueError(f"{name} has shape {values.shape}: give it ({samples},).")
    return np.ascontiguousarray(values.astype(kind, casting="same_kind", copy=False))


def _room(tasks: int, readers: Array, rests: int) -> dict[str, Array]:
    """Return the memory in which a sample is run."""
    servers = replay().lib.TFD_REPLAY_SERVERS
    return {
        "free_s": np.empty(readers.max(initial=1)),
        "used_s": np.zeros(tasks),
        "end_s": np.empty(tasks),
        "open": np.empty(tasks, np.int64),
        "rests_s": np.empty((servers, rests, 2)),
    }


def _run(sizes: Mapping[str, float], tables: Mapping[str, Array], arrays: Mapping[str, Array]) -> None:
    ffi, lib = replay()
    job = ffi.new("struct tfd_replay_job *", sizes)
    for name, values in tables.items():
        strides = [stride // values.itemsize for stride in values.strides]
        setattr(job, name, [ffi.cast("double *", values.ctypes.data), *strides])
    for name, values in arrays.items():
        kind = "double *" if values.dtype == np.float64 else "int64_t *"
        setattr(job, name, ffi.cast(kind, values.ctypes.data))
    lib.tfd_replay_run(job)
