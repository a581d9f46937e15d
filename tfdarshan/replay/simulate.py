"""Runs a queueing network of a job for all samples at once, task by task.

Tasks begin in order, so that what they come to first serves them in order of time. Behind a station that
takes some tasks longer than others they may overtake each other: see `Server`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.replay.job_model import JobModel
from tfdarshan.replay.server import Readers, Server


@dataclass(frozen=True)
class SimulatedRun:
    """When the loop asked for its batches and got them, in seconds from the first request.

    Attributes:
        ask_s: When it asked, and at last when it ended, shape (batches + 1, samples).
        got_s: When it got each batch, shape (batches, samples).
        weight: How many recorded batches each batch stands for, shape (batches,).
    """

    ask_s: Array
    got_s: Array
    weight: Array

    @property
    def batch_waits_s(self) -> Array:
        """What the loop waited for each batch, shape (batches, samples)."""
        waits: Array = self.got_s - self.ask_s[:-1]
        return waits

    @property
    def wait_s(self) -> Array:
        """What it waited for all batches that these stand for, shape (samples,)."""
        total: Array = self.weight @ self.batch_waits_s
        return total

    @property
    def total_s(self) -> Array:
        """How long all of them took, shape (samples,)."""
        total: Array = self.weight @ np.diff(self.ask_s, axis=0)
        return total


def simulate(model: JobModel) -> SimulatedRun:
    """Return the run of a job."""
    return _Run(model).run()


class _Run:
    """One run, from batch to batch."""

    def __init__(self, model: JobModel) -> None:
        self._model, samples = model, model.samples
        self._columns = np.arange(samples)
        self._ask_s, self._got_s = np.zeros((model.batches + 1, samples)), np.zeros((model.batches, samples))
        self._begin_s, self._ready_s, self._parsed_s = (
            np.zeros(samples) for _ in ("begin", "ready", "parsed")
        )
        # When each task became part of a batch.
        self._used_s = np.zeros((model.tasks, samples))
        self._first_batch = self._first_task = 0
        writes = bool(np.any(model.write_s > 0) or np.any(model.beside_s > 0))
        self._readers = Readers(model.readers)
        self._limit = Server(samples, in_order=True) if np.any(model.limit_s > 0) else None
        # Writes come when the loop makes them, and what uses up no limit overtakes what does.
        overtaken = writes or (self._limit is not None and not np.all(model.limit_s > 0))
        self._storage = Server(samples, in_order=not overtaken)
        self._processors, self._behind = Server(samples), Server(samples, in_order=True)
        self._spread_demands()

    def _spread_demands(self) -> None:
        """Split what tasks need into what is served one task at a time, and what beside others."""
        model = self._model
        wait_s = model.wait_s.sum(0)
        serial = wait_s * model.wait_serial + model.transfer_s * model.transfer_serial + model.seek_s
        self._serial_s, self._delay_s = serial, model.storage_s - serial
        self._work_s = model.work_s * model.work_serial, model.work_s * (1 - model.work_serial)
        self._after_s = model.behind_s * model.behind_serial, model.behind_s * (1 - model.behind_serial)
        self._works, self._parses = bool(np.any(model.work_s > 0)), bool(np.any(model.behind_s > 0))

    def run(self) -> SimulatedRun:
        model = self._model
        first = np.searchsorted(model.batch, np.arange(model.batches + 1)).tolist()
        for number in range(model.batches):
            if number == 0 or model.epoch[number] != model.epoch[number - 1]:
                self._begin_epoch(number, first[number])
            begin_s = self._put_together_from(number)
            for task in range(first[number], first[number + 1]):
                self._read(task, begin_s)
            self._train(number)
        return SimulatedRun(self._ask_s, self._got_s, model.weight)

    def _begin_epoch(self, number: int, task: int) -> None:
        late_s = self._model.late_s[self._model.epoch[number]]
        if not np.isnan(late_s):
            self._begin_s = self._ask_s[number] + late_s
            self._first_batch, self._first_task = number, task

    def _put_together_from(self, number: int) -> Array:
        """Return when the producer begins a batch: if there is room, and the last one is ready."""
        ahead = self._model.batches_ahead
        before = np.maximum(number - ahead, 0)
        taken_s = np.where(ahead > 0, self._got_s[before, self._columns], self._ask_s[number])
        room_s = np.where(number - ahead < self._first_batch, self._begin_s, taken_s)
        return np.maximum(np.maximum(room_s, self._begin_s), self._ready_s)

    def _read(self, task: int, put_together_s: Array) -> None:
        """Let a reader do a task, and let it become part of its batch."""
        reader, free_s = self._readers.first()
        end_s = self._stored(task, np.maximum(free_s, self._room_from(task, put_together_s)))
        if self._works:
            serial_s, delay_s = self._work_s
            end_s = self._processors.serve(end_s, serial_s[task]) + delay_s[task]
        self._readers.busy(reader, end_s)
        if self._parses:
            serial_s, delay_s = self._after_s
            self._parsed_s = np.maximum(self._parsed_s, end_s)
            end_s = self._behind.serve(self._parsed_s, serial_s[task]) + delay_s[task]
        self._ready_s = np.maximum(self._ready_s, end_s)
        self._used_s[task] = np.maximum(self._ready_s, put_together_s)

    def _room_from(self, task: int, put_together_s: Array) -> Array:
        """Return from when on a task may begin."""
        back = task - self._model.calls_ahead
        used_s = self._used_s[np.maximum(back, 0), self._columns]
        used_s = np.where(back < self._first_task, self._begin_s, used_s)
        return np.where(self._model.calls_ahead > 0, used_s, put_together_s)

    def _stored(self, task: int, at_s: Array) -> Array:
        """Return when storage has served a task that comes at some time."""
        if self._limit is not None:
            # A token bucket: what it lends after a rest is passed at once.
            passed_s = self._limit.serve(at_s, self._model.limit_s[task]) - self._model.burst_s
            at_s = np.maximum(at_s, passed_s)
        served_s: Array = self._storage.serve(at_s, self._serial_s[task]) + self._delay_s[task]
        return served_s

    def _train(self, number: int) -> None:
        """Let the loop take a batch, compute, write and stand still."""
        model, share = self._model, self._model.transfer_serial
        got_s = np.maximum(self._ask_s[number], self._ready_s) + model.hand_s
        computed_s = got_s + model.compute_s[number]
        written_s = self._storage.serve(computed_s, model.write_s[number] * share)
        written_s = written_s + model.write_s[number] * (1 - share)
        self._storage.serve(written_s, model.beside_s[number] * share)
        self._got_s[number] = got_s
        self._ask_s[number + 1] = written_s + model.stall_s[number]
