"""The checkpoint burst buffer: save to a fast tier, let training go on, make it durable on a slow one.

Other files that a loop writes are synced by a thread: `sync_behind`.

Importing this package does nothing: TensorFlow and Keras are imported with the classes that need them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfdarshan.checkpoint.behind import sync_behind
    from tfdarshan.checkpoint.burst_buffer import BurstBuffer
    from tfdarshan.checkpoint.keras_callback import BurstModelCheckpoint
    from tfdarshan.checkpoint.ledger import CheckpointRow, read_ledger

__all__ = ["BurstBuffer", "BurstModelCheckpoint", "CheckpointRow", "read_ledger", "sync_behind"]

_HOMES = {
    "BurstBuffer": "burst_buffer",
    "BurstModelCheckpoint": "keras_callback",
    "CheckpointRow": "ledger",
    "read_ledger": "ledger",
    "sync_behind": "behind",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tfdarshan.checkpoint' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tfdarshan.checkpoint.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
