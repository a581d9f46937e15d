"""What a session says, or shows, of its storage: nothing of that is drawn."""

from __future__ import annotations

import dataclasses

import numpy as np

from tfdarshan.analysis.summary_data import emulation_of
from tfdarshan.replay.job_facts import JobFacts
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.priors import Drawn
from tfdarshan.storage_model import StorageModel


def emulated_storage(meta: dict[str, object]) -> StorageModel | None:
    """Return the storage that calls were slowed down to, by what a session says of itself; None without."""
    said = (emulation_of(meta) or {}).get("model", {})
    fields = {field.name for field in dataclasses.fields(StorageModel)}
    return StorageModel(**said) if set(said) == fields else None


def known_wait_share(device: StorageModel, size: float) -> float:
    """Return what of a read of such a size is no transfer."""
    base_s = device.read_s + device.seek_s
    transfer_s = size / device.read_bandwidth if device.read_bandwidth else 0.0
    return base_s / max(base_s + transfer_s, TINY_S)


def with_known_storage(drawn: Drawn, facts: JobFacts) -> Drawn:
    """Return samples of the priors in which storage is as the session says; as they are if it does not."""
    told: dict[str, float] = {}
    if facts.storage.reads_ahead is not None:
        told["reads_ahead"] = facts.storage.reads_ahead
    if facts.storage.unlimited:
        told[f"limited_{facts.storage.place}"] = False
    if facts.storage.device is not None:
        told |= _of_device(facts.storage.device, facts.storage.place)
    return dict(drawn) | {name: np.full(len(drawn[name]), value) for name, value in told.items()}


def _of_device(device: StorageModel, place: str) -> dict[str, float]:
    return {
        f"serial_{place}": device.seek_s > 0, f"limited_{place}": False,
        "arm": device.seek_s > 0, "elevator": device.seek_exponent, "sequential_left": 0.0,
        "wait_serial_low": 1 / device.concurrency, "wait_serial_high": 1.0,
        "pipe_shared": True, "transfer_serial_high": 1.0, "served_together": float(device.concurrency),
        "wait_share_error": 0.0,
    }  # fmt: skip
