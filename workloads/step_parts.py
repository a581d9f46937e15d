"""The parts of a training step, and the arithmetic of its storage part.

A step takes T_s (storage), T_d (host to device), T_c (compute) and T_w (communication), one after the other
or beside each other. The paper that this comes from (Alibaba-PAI, arXiv 1910.05930) has no T_s.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StorageDevice:
    """A storage device, as measured.

    Attributes:
        latency_s: What a request takes apart from its bytes.
        bandwidth_bytes: Bytes per second, of all requests together.
        concurrency: Requests that wait at a time.
    """

    latency_s: float
    bandwidth_bytes: float
    concurrency: float = 1

    def seconds(self, requests: float, moved_bytes: float) -> float:
        """Return T_s: `requests x latency / concurrency + bytes / bandwidth`."""
        return requests * self.latency_s / self.concurrency + moved_bytes / self.bandwidth_bytes


@dataclass(frozen=True)
class StepTime:
    """Seconds of a step, by part."""

    storage_s: float
    data_s: float
    compute_s: float
    weights_s: float

    @property
    def total_s(self) -> float:
        """The parts one after the other."""
        return self.storage_s + self.data_s + self.compute_s + self.weights_s

    @property
    def communication_share(self) -> float:
        """Share of the step that weights take."""
        return self.weights_s / self.total_s if self.total_s else 0.0
