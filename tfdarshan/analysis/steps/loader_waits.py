"""What a training loop waited for at its loader, batch by batch: its making, or its way back.

Also which worker is slow, and how many have nothing to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.thresholds import THRESHOLD

COLUMNS = ("epoch", "batch", "request_ns", "arrival_ns", "worker", "fetch_start_ns", "fetch_end_ns")


@dataclass(frozen=True)
class LoaderWaits:
    """The batches of the training loader whose worker is known; seconds, one entry per batch.

    Attributes:
        wait_s: From its request until it came.
        fetch_s: What of that its worker was still putting it together.
        ready_s: What of that at least one later batch lay ready.
        idle_s: What of that a worker had nothing to do, mean of all workers.
        back_s: From when it was put together, or requested, until it came.
        back_idle_s: What of that a worker had nothing to do, likewise.
        work_s: What it took to put it together.
        worker: Who did.
        begun_ns: When that began, in ns since the session did.
        done_ns: When it ended.
    """

    wait_s: Array
    fetch_s: Array
    ready_s: Array
    idle_s: Array
    back_s: Array
    back_idle_s: Array
    work_s: Array
    worker: Array
    begun_ns: Array
    done_ns: Array

    def __len__(self) -> int:
        return len(self.wait_s)


def training_loader(meta: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]] | None:
    """Return the place and the description of the first loader that is trained on; None without one."""
    found = (meta.get("loaders") or {}).get("found", [])
    return next(((place, one) for place, one in enumerate(found) if one.get("training")), None)


def loader_waits(processes: Sequence[ProcessData]) -> LoaderWaits | None:
    """Return what the owner's loop waited for; None if no batch of a worker is known.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    columns = training_batches(processes, COLUMNS)
    if columns is None:
        return None
    mine = (columns["worker"] >= 0) & (columns["fetch_end_ns"] >= 0)
    return waits_of({name: values[mine] for name, values in columns.items()}) if mine.any() else None


def training_batches(processes: Sequence[ProcessData], names: Sequence[str]) -> dict[str, Array] | None:
    """Return columns of the owner's table of batches, of those that are trained on; None without any.

    Args:
        processes: Of the session.
        names: The columns.

    Raises:
        SessionDataError: The table is damaged or missing.
    """
    owner = processes[0]
    training = training_loader(owner.meta)
    if training is None or "batches" not in owner.meta["tables"]:
        return None
    table = owner.table("batches", tuple(dict.fromkeys(("loader", "epoch", *names))))
    # Batches of no epoch are not trained on.
    mine = (table["loader"].to_numpy() == training[0]) & (table["epoch"].to_numpy() > 0)
    return {name: table[name].to_numpy()[mine] for name in names} if mine.any() else None


def waits_of(columns: Mapping[str, Array]) -> LoaderWaits:
    """Return the waits of batches that are columns of `schema.BATCH_COLUMNS`, times in ns."""
    asked, came = columns["request_ns"], columns["arrival_ns"]
    begun, done = columns["fetch_start_ns"], columns["fetch_end_ns"]
    late = np.minimum(done, came)
    ready = np.minimum(np.maximum(asked, _next_ready(columns["epoch"], columns["batch"], done)), late)
    workers, back = len(np.unique(columns["worker"])), np.minimum(np.maximum(asked, done), came)

    def idle_s(begin: Array, end: Array) -> Array:
        worked = _worked_ns(begun, done, end) - _worked_ns(begun, done, begin)
        return np.maximum(end - begin - worked / workers, 0) / 1e9

    return LoaderWaits(
        wait_s=(came - asked) / 1e9,
        fetch_s=np.maximum(late - np.maximum(asked, begun), 0) / 1e9,
        ready_s=(late - ready) / 1e9,
        idle_s=idle_s(ready, late),
        back_s=(came - back) / 1e9,
        back_idle_s=idle_s(back, came),
        work_s=(done - begun) / 1e9,
        worker=columns["worker"],
        begun_ns=begun,
        done_ns=done,
    )


def _worked_ns(begun: Array, done: Array, until: Array) -> Array:
    """Return how long all workers together have put batches together until some moments."""
    worked = np.zeros(len(until), np.int64)
    for times, sign in ((np.sort(begun), 1), (np.sort(done), -1)):
        count = np.searchsorted(times, until)
        worked += sign * (count * until - np.concatenate([[0], np.cumsum(times)])[count])
    return worked


@dataclass(frozen=True)
class SlowWorker:
    """A worker whose batches take far longer than those of the others.

    Attributes:
        worker: Its id, from 0 on.
        times: How many times as long as others it takes for a batch, median.
        usual_s: What the others take, median.
        spared_s: What the loop would not have waited if it had taken as long as they do.
    """

    worker: int
    times: float
    usual_s: float
    spared_s: float


def slow_worker(waits: LoaderWaits) -> SlowWorker | None:
    """Return the slowest worker if it takes far longer than the others; None if none does."""
    workers = np.unique(waits.worker).tolist()
    each_s = np.array([np.median(waits.work_s[waits.worker == worker]) for worker in workers])
    if len(workers) < 2:
        return None
    place = int(np.argmax(each_s))
    mine, usual_s = waits.worker == workers[place], float(np.median(np.delete(each_s, place)))
    enough = np.count_nonzero(mine) >= THRESHOLD["few"]
    if not enough or each_s[place] < THRESHOLD["slow rank"] * usual_s:
        return None
    longer_s = np.clip(waits.work_s[mine] - usual_s, 0.0, waits.fetch_s[mine])
    return SlowWorker(
        workers[place], float(each_s[place]) / max(usual_s, 1e-9), usual_s, float(longer_s.sum())
    )


def idle_workers(meta: Mapping[str, Any]) -> int:
    """Return how many workers of the training loader never gave a batch, though it had more than workers.

    A worker of an iterable data set reads a part of its own: those that have none end at once.
    """
    training = training_loader(meta)
    if training is None or not training[1].get("iterable"):
        return 0
    loader = training[1]
    workers, working = int(loader.get("workers", 0)), int(loader.get("working", 0))
    enough = int(loader.get("batches", 0)) >= workers * max(int(loader.get("passes", 0)), 1)
    return workers - working if working and enough else 0


def _next_ready(epoch: Array, batch: Array, done: Array) -> Array:
    """Return when the first of the batches behind each one in its epoch was put together, in ns."""
    order = np.lexsort((batch, epoch))[::-1]
    found = np.full(len(done), np.iinfo(np.int64).max)
    passes = np.flatnonzero(np.diff(epoch[order])) + 1
    for places in np.split(order, passes):
        found[places[1:]] = np.minimum.accumulate(done[places[:-1]])
    return found
