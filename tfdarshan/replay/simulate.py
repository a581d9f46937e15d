"""Runs the queueing network of a job. Its stations and their rules are C code: see csrc/offline/replay/."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.native.network_run import COUNTS, OF_BATCHES, OF_TASKS, SHARES, run_network
from tfdarshan.replay.job_model import TINY_S, JobModel
from tfdarshan.replay.priors import SETTING


@dataclass(frozen=True)
class SimulatedRun:
    """When the loop asked for its batches and got them, in seconds from the first request.

    Attributes:
        ask_s: When it asked, and at last when it ended, shape (batches + 1, samples).
        got_s: When it got each batch, shape (batches, samples).
        weight: How many recorded batches each batch stands for, shape (batches,).
        called_s: What all calls took that these stand for, each by itself, shape (samples,).
        processor_s: What the processors need for all of them, shape (samples,): they take no less.
    """

    ask_s: Array
    got_s: Array
    weight: Array
    called_s: Array
    processor_s: Array

    @property
    def batch_waits_s(self) -> Array:
        """What the loop waited for each batch, shape (batches, samples)."""
        return self.got_s - self.ask_s[:-1]

    @property
    def batch_s(self) -> Array:
        """What each batch took, alike longer if the processors need longer, shape (batches, samples)."""
        took_s: Array = np.diff(self.ask_s, axis=0)
        return took_s * self.total_s / np.maximum(self._steps_s, TINY_S)

    @property
    def wait_s(self) -> Array:
        """What it waited for all batches that these stand for, shape (samples,)."""
        return self.weight @ self.batch_waits_s + (self.total_s - self._steps_s)

    @property
    def total_s(self) -> Array:
        """How long all of them took, shape (samples,)."""
        return np.maximum(self._steps_s, self.processor_s)

    @property
    def _steps_s(self) -> Array:
        return self.weight @ np.diff(self.ask_s, axis=0)


def simulate(model: JobModel) -> SimulatedRun:
    """Return the run of a job.

    Its loop computes as much longer or shorter than recorded as the input's work leaves it less or more of
    the processors.

    Raises:
        ValueError: An array of the network has another shape than `JobModel` says.
    """
    run = _run(model)
    if not model.alone.any():
        return run
    computing_s = model.weight @ model.compute_s
    lost_s, slower = lost_to_crowding(model, run)
    alone_s = model.alone * computing_s
    # Work that is done sooner than the computing leaves the rest of it alone.
    times = np.minimum(alone_s * slower, alone_s + lost_s) / np.maximum(computing_s, TINY_S)
    return run if np.allclose(times, 1.0) else _run(model.but(compute_s=model.compute_s * times))


def lost_to_crowding(model: JobModel, run: SimulatedRun) -> tuple[Array, Array]:
    """Return how much longer the loop computes because of the input's work beside it.

    While that runs, all of them take turns: each is as much slower as processors are fewer, and further ones
    add less than the first.

    Args:
        model: The network.
        run: Its run.

    Returns:
        The seconds, of all computing together, and how many times longer it takes if the work never ends,
        each of shape (samples,).
    """
    tasks = model.weight[model.batch]
    work_s, behind_s = tasks @ model.work_s, tasks @ model.behind_s
    reading_s = np.maximum((run.called_s + work_s) / model.readers, work_s * model.work_serial)
    busy_s = np.maximum(reading_s, behind_s * model.behind_serial)
    computing_s = model.weight @ model.compute_s
    loop_s = computing_s + model.weight @ (model.stall_s + model.write_s)
    beside_s = np.maximum(busy_s - run.wait_s, 0.0) * computing_s / np.maximum(loop_s, TINY_S)
    # What takes turns at a lock does not run meanwhile; what takes turns at the processors does.
    locked = model.work_serial * model.processors > 1
    most = np.where(locked, 1 / np.maximum(model.work_serial, TINY_S), model.readers)
    readers = np.minimum(model.readers * work_s / np.maximum(run.called_s + work_s, TINY_S), most)
    working = model.processors_each * (readers * reading_s + behind_s) / np.maximum(busy_s, TINY_S)
    running = model.steps_compute + working
    further = np.minimum(np.maximum(running - 1, 0.0) / np.maximum(model.cpus - 1, TINY_S), 1.0)
    given = np.minimum(running, 1 + (model.processors - 1) * further)
    part = given / np.maximum(running, TINY_S)
    lost_s: Array = model.steps_compute * beside_s * (1 - part)
    return lost_s, 1 + model.steps_compute * (1 / np.maximum(part, TINY_S) - 1)


def _run(model: JobModel) -> SimulatedRun:
    columns = {name: getattr(model, name) for name in (*OF_TASKS, *OF_BATCHES, *SHARES, *COUNTS)}
    columns["wait_s"] = model.wait_s.sum(0)
    begins = np.diff(model.epoch, prepend=-1) != 0
    columns["late_s"] = np.where(begins[:, None], model.late_s[model.epoch], np.nan)
    batch = model.batch
    if model.whole_batches:
        first = np.flatnonzero(np.diff(batch, prepend=-1))
        columns |= {name: np.add.reduceat(columns[name], first, axis=0) for name in OF_TASKS if model.tasks}
        batch = batch[first]
    ask_s, got_s, called_s = run_network(
        columns, batch, model.weight, rests=int(SETTING["rests"]), in_turns=model.whole_batches
    )
    if model.save_s.any():
        ask_s[-1] += _saves_left(model, np.diff(ask_s, axis=0)) / model.weight[-1]
    processor_s = np.broadcast_to(model.processor_s, called_s.shape)
    return SimulatedRun(ask_s, got_s, model.weight, called_s, processor_s)


def _saves_left(model: JobModel, took_s: Array) -> Array:
    """Return how long a thread makes saves after the loop's end, shape (samples,).

    It has been busy since some batch's save began, which is the one that gives the longest time.

    Args:
        model: The network.
        took_s: What each batch took, shape (batches, samples).
    """
    behind_s = model.weight[:, None] * (model.save_s - took_s)
    since_s = np.cumsum(behind_s[::-1], axis=0)[::-1] + took_s
    return since_s.max(0, initial=0.0, where=np.broadcast_to(model.save_s > 0, took_s.shape))
