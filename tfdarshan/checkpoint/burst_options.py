"""The options of the burst buffer; importing them loads nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tfdarshan.errors import ConfigurationError

WhenFull = Literal["wait", "skip", "newest"]
WHEN_FULL = ("wait", "skip", "newest")


@dataclass(frozen=True, kw_only=True)
class BurstOptions:
    """How checkpoints get from the fast to the slow tier.

    Attributes:
        max_to_keep: Checkpoints that stay on the slow tier; None keeps all.
        keep_checkpoint_every_n_hours: As in tf.train.CheckpointManager.
        max_pending: Checkpoints that may wait or be copied when another is saved.
        when_full: What a save does when so many wait: "wait", "skip" or "newest".
        wait_limit_s: How long "wait" waits before it does as "newest" does.
        retry_s: Seconds before a slow tier that failed is tried again; doubled each time, up to 30 s.
        bandwidth_mb_s: The most MB/s to write to the slow tier; None is all there is.
        buffer_mb: Memory to copy through, in MiB.
        verify: Whether every copy is read back and compared before it counts.
        nice: How far copying gives way to training, 0 to 19.
        drain_at_exit: Whether the end of the process waits for checkpoints that are not durable yet; what
            waits is kept for the next run anyway.
    """

    max_to_keep: int | None = 5
    keep_checkpoint_every_n_hours: float | None = None
    max_pending: int = 2
    when_full: WhenFull = "wait"
    wait_limit_s: float = 600.0
    retry_s: float = 0.5
    bandwidth_mb_s: float | None = None
    buffer_mb: int = 8
    verify: bool = True
    nice: int = 5
    drain_at_exit: bool = True

    def __post_init__(self) -> None:
        if self.retry_s <= 0:
            raise ConfigurationError(f"retry_s must be positive, not {self.retry_s!r}.")
        if self.bandwidth_mb_s is not None and self.bandwidth_mb_s <= 0:
            raise ConfigurationError(f"bandwidth_mb_s must be positive or None, not {self.bandwidth_mb_s!r}.")
        if self.buffer_mb < 1:
            raise ConfigurationError(f"buffer_mb must be 1 or more, not {self.buffer_mb!r}.")
