"""What a training loop waited for at its loader, batch by batch: its making, or its way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.sessions.process_data import ProcessData

COLUMNS = ("loader", "epoch", "batch", "request_ns", "arrival_ns", "worker", "fetch_start_ns", "fetch_end_ns")


@dataclass(frozen=True)
class LoaderWaits:
    """The batches of the training loader whose worker is known; seconds, one entry per batch.

    Attributes:
        wait_s: From its request until it came.
        fetch_s: What of that its worker was still putting it together.
        ready_s: What of that at least one later batch lay ready.
        back_s: From when it was put together, or requested, until it came.
        work_s: What it took to put it together.
        worker: Who did.
    """

    wait_s: Array
    fetch_s: Array
    ready_s: Array
    back_s: Array
    work_s: Array
    worker: Array

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
    owner = processes[0]
    training = training_loader(owner.meta)
    if training is None or "batches" not in owner.meta["tables"]:
        return None
    table = owner.table("batches", COLUMNS)
    columns = {name: table[name].to_numpy() for name in COLUMNS}
    mine = (columns["loader"] == training[0]) & (columns["worker"] >= 0) & (columns["fetch_end_ns"] >= 0)
    if not mine.any():
        return None
    return waits_of({name: values[mine] for name, values in columns.items()})


def waits_of(columns: Mapping[str, Array]) -> LoaderWaits:
    """Return the waits of batches that are columns of `schema.BATCH_COLUMNS`, times in ns."""
    asked, came = columns["request_ns"], columns["arrival_ns"]
    begun, done = columns["fetch_start_ns"], columns["fetch_end_ns"]
    late = np.minimum(done, came)
    ready = np.maximum(asked, _next_ready(columns["epoch"], columns["batch"], done))
    return LoaderWaits(
        wait_s=(came - asked) / 1e9,
        fetch_s=np.maximum(late - np.maximum(asked, begun), 0) / 1e9,
        ready_s=np.maximum(late - ready, 0) / 1e9,
        back_s=np.maximum(came - np.maximum(asked, done), 0) / 1e9,
        work_s=(done - begun) / 1e9,
        worker=columns["worker"],
    )


def _next_ready(epoch: Array, batch: Array, done: Array) -> Array:
    """Return when the first of the batches behind each one in its epoch was put together, in ns."""
    order = np.lexsort((batch, epoch))[::-1]
    found = np.full(len(done), np.iinfo(np.int64).max)
    passes = np.flatnonzero(np.diff(epoch[order])) + 1
    for places in np.split(order, passes):
        found[places[1:]] = np.minimum.accumulate(done[places[:-1]])
    return found
