"""Fast tiers whose speed is assumed: for findings, and a view that may not write anywhere to measure one."""

from __future__ import annotations

import math

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.storage.time_model import TimeModel
from tfdarshan.replay.priors import PRIORS
from tfdarshan.replay.storage_edits import Staged
from tfdarshan.staging.probe import CALLS_OF_PASS, TierProbe
from tfdarshan.storage_model import OPTANE, SSD, StorageModel


def _middle(name: str) -> float:
    """Return the middle of what a quantity is assumed to be."""
    prior = next(prior for prior in PRIORS if prior.name == name)
    return math.sqrt(prior.low * prior.high)


# What findings, and the tab to begin with, take for a fast tier. `tfdarshan advise` measures the real one.
LOCAL, LOCAL_SSD = (
    "local",
    TierProbe(
        TimeModel(CALLS_OF_PASS * _middle("fast_call_s"), 1 / _middle("fast_bytes_per_s"), 0, 1.0),
        _middle("burst_bytes_per_s"), True, "assumed: a local SSD",
    ),
)  # fmt: skip
ASSUMED_TIERS = {"nvme": ("NVMe", OPTANE), "ssd": ("SATA SSD", SSD)}


def on_tier(tier: TierProbe, files: Array | None, *, mirrored: bool) -> Staged:
    """Return copies of some files on a tier as an edit of a job; of a local SSD all that one may be."""
    if tier is LOCAL_SSD:
        return Staged(files, mirrored=mirrored)
    return Staged(files, tier.call_s, tier.bytes_per_s, mirrored)


def assumed_tier(name: str, readers: float) -> TierProbe:
    """Return what a probe of such a device would find.

    Args:
        name: LOCAL, or one of ASSUMED_TIERS.
        readers: Threads that read at a time; they share the bandwidth.
    """
    if name == LOCAL:
        return LOCAL_SSD
    words, model = ASSUMED_TIERS[name]
    return TierProbe(
        TimeModel(_base_s(model, readers), max(readers, 1.0) / model.read_bandwidth, 0, 1.0),
        model.write_bandwidth,
        True,
        f"assumed, not measured: {words}, {model.about}",
    )


def _base_s(model: StorageModel, readers: float) -> float:
    return (model.open_s + model.read_s) * max(1.0, readers / model.concurrency)
