"""What a probe of its input's storage says of a job's requests: it narrows what the run leaves open."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_tasks import ReadTasks
from tfdarshan.storage_probe.probe_result import StorageProbe

SerialRange = tuple[float, float, float]


@dataclass(frozen=True)
class ProbedStorage:
    """It, of requests of one size; None: the probe does not show it.

    Attributes:
        serial: What of a request is served one at a time, as measured, low and high.
        wait_share: The share of it that is not by its bytes.
        alone_s: What it takes by itself, on storage that has rested.
    """

    serial: SerialRange | None = None
    wait_share: float | None = None
    alone_s: float | None = None

    def as_quick(self, requests: float, stored_s: float, depth: float) -> bool:
        """Return whether a job's requests took no longer than that: nothing held them back.

        Args:
            requests: How many they are.
            stored_s: What they took, added up.
            depth: How many ran at a time.
        """
        return self.alone_s is not None and stored_s <= SETTING["alike"] * self.alone_s * requests * depth


def probed_storage(probe: StorageProbe | None, tasks: ReadTasks) -> ProbedStorage:
    """Return what a probe says of the requests of a job's first epoch.

    Args:
        probe: Of the mount that the input is on; None without one.
        tasks: Of the job.
    """
    first = tasks.epoch == 0
    requests = float(tasks.requests[first].sum())
    if probe is None or not requests:
        return ProbedStorage()
    # What the kernel read ahead came with the requests that storage served.
    size = float(tasks.size[first].sum()) / requests
    return ProbedStorage(_serial(probe, size), _wait_share(probe, size), _alone_s(probe, size))


def narrower(*ranges: SerialRange | None) -> SerialRange | None:
    """Return the range that leaves least open; None without any."""
    told = [found for found in ranges if found is not None]
    return min(told, key=lambda found: found[2] - found[1], default=None)


def _serial(probe: StorageProbe, size: float) -> SerialRange | None:
    """Return the share of such a request: on the line through the probe's two sizes, not beyond."""
    tried = [scaling for scaling in (probe.small, probe.large) if scaling is not None]
    told = [scaling for scaling in tried if scaling.share is not None]
    nearest = min(tried, key=lambda scaling: abs(math.log(scaling.size / max(size, 1.0))), default=None)
    if nearest is None or nearest.share is None:
        return None
    sizes, alone_s = ([getattr(one, name) for one in told] for name in ("size", "alone_s"))
    whole_s = max(float(np.interp(size, sizes, alone_s)), TINY_S)
    measured, low, high = (
        float(np.interp(size, sizes, np.multiply(shares, alone_s))) / whole_s
        for shares in zip(*((one.share or 0.0, one.low, one.high) for one in told), strict=True)
    )
    return measured, min(low, measured), max(high, measured)


def _wait_share(probe: StorageProbe, size: float) -> float | None:
    whole_s = _alone_s(probe, size)
    if probe.base_s is None or whole_s is None:
        return None
    return probe.base_s / max(whole_s, TINY_S)


def _alone_s(probe: StorageProbe, size: float) -> float | None:
    if probe.base_s is None or probe.s_per_byte is None:
        return None
    return probe.base_s + probe.s_per_byte * size
