"""What can go wrong on the way of a checkpoint from the fast to the slow tier."""

from __future__ import annotations

from tfdarshan.errors import StorageError


class BurstBufferError(StorageError):
    """A checkpoint, or a tier of the burst buffer, cannot be used as it is."""


class TierInUseError(BurstBufferError):
    """Another burst buffer owns this folder: two writers would take each other's checkpoints away."""


class TierAwayError(BurstBufferError):
    """The slow tier is not there at present; it may come back."""


class IncompleteCheckpointError(BurstBufferError):
    """Files of a checkpoint are missing."""


class StaleCheckpointError(BurstBufferError):
    """The slow tier holds a newer checkpoint of another fast tier."""


class SourceError(BurstBufferError):
    """A checkpoint cannot be read from the fast tier."""


class DamagedCopyError(BurstBufferError):
    """What was read back is not what was written."""


class CopyCancelledError(BurstBufferError):
    """A copy was stopped before its end, on purpose."""
