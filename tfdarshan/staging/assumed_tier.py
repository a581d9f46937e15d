"""Fast tiers whose speed is assumed: for findings, and a view that may not write anywhere to measure one."""

from __future__ import annotations

from tfdarshan.analysis.time_model import TimeModel
from tfdarshan.staging.probe import TierProbe
from tfdarshan.storage_model import OPTANE, SSD, StorageModel

# What findings, and the tab to begin with, take for a fast tier. `tfdarshan advise` measures the real one.
LOCAL, LOCAL_SSD = (
    "local",
    TierProbe(TimeModel(150e-6, 1 / 1e9, 0, 1.0, 0.0), 1e9, True, "assumed: a local SSD"),
)
ASSUMED_TIERS = {"nvme": ("NVMe", OPTANE), "ssd": ("SATA SSD", SSD)}


def assumed_tier(name: str, readers: float) -> TierProbe:
    """Gives what a probe of such a device would find.

    Args:
        name: LOCAL, or one of ASSUMED_TIERS.
        readers: Threads that read at a time; they share the bandwidth.
    """
    if name == LOCAL:
        return LOCAL_SSD
    words, model = ASSUMED_TIERS[name]
    return TierProbe(
        TimeModel(_base_s(model, readers), max(readers, 1.0) / model.read_bandwidth, 0, 1.0, 0.0),
        model.write_bandwidth,
        True,
        f"assumed, not measured: {words}, {model.about}",
    )


def _base_s(model: StorageModel, readers: float) -> float:
    return (model.open_s + model.read_s) * max(1.0, readers / model.concurrency)
