"""Which checkpoints are kept, by the rules of tf.train.CheckpointManager."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.checkpoint.state_file import CheckpointState
from tfdarshan.errors import ConfigurationError

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, kw_only=True)
class Retention:
    """How many checkpoints stay on the slow tier.

    Attributes:
        max_to_keep: The newest so many; None keeps all.
        every_n_hours: A checkpoint that leaves the newest stays for ever, if it was saved this long after
            the last one that did; None keeps none of them.
    """

    max_to_keep: int | None = None
    every_n_hours: float | None = None

    def __post_init__(self) -> None:
        if self.max_to_keep is not None and self.max_to_keep <= 0:
            raise ConfigurationError(f"max_to_keep must be positive or None, not {self.max_to_keep!r}.")


def next_state(
    state: CheckpointState | None, name: str, saved_at: float, retention: Retention
) -> tuple[CheckpointState, list[str]]:
    """Return the state once `name` is the latest, and the checkpoints that it no longer names.

    Source: CheckpointManager's `_sweep` and `__init__`,
        tensorflow/python/checkpoint/checkpoint_management.py.
    """
    last_preserved = state.last_preserved_at if state else saved_at - 1
    managed = [entry for entry in state.kept if entry[1] > last_preserved] if state else []
    newest = max((at for _, at in managed), default=saved_at)
    managed = [entry for entry in managed if entry[0] != name]
    managed.append((name, max(saved_at, newest, last_preserved + 1e-3)))
    dropped = []
    while retention.max_to_keep is not None and len(managed) > retention.max_to_keep:
        oldest, at = managed.pop(0)
        if retention.every_n_hours and at - retention.every_n_hours * SECONDS_PER_HOUR >= last_preserved:
            last_preserved = at
        else:
            dropped.append(oldest)
    return CheckpointState(name, tuple(managed), last_preserved), dropped
