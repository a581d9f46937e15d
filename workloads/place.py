"""Where a workload's files lie, and what storage is put under them or played there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DEVICE = "device"  # a block device with a bandwidth limit
DIRECTORY = "directory"  # a folder as it is
DATA = "data"  # folder of generated files below the work directory

EMULATION = "emulation"  # calls are made to last as long as a model says


@dataclass(frozen=True)
class Place:
    """A tier that is ready."""

    tier: str
    backend: str
    directory: Path
    as_if: str | None = None  # name of the storage model emulated
    said: str = ""  # in a sentence, with what was measured
    make_ready: Callable[[], None] = lambda: None  # called before each run
