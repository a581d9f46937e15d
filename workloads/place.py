"""Where a workload's files lie, and what storage is put under them or played there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .cache_clearing import storage_bytes_read

DEVICE = "device"  # a block device with a bandwidth limit
DIRECTORY = "directory"  # a folder as it is
DATA = "data"  # folder of generated files below the work directory

EMULATION = "emulation"  # calls are made to last as long as a model says
FUSE = "fuse"  # a file system of our own that takes the time of a model, page faults included


@dataclass(frozen=True)
class Place:
    """A tier that is ready."""

    tier: str
    backend: str
    directory: Path
    as_if: str | None = None  # name of the storage model emulated
    said: str = ""  # in a sentence, with what was measured
    make_ready: Callable[[], None] = lambda: None  # called before each run
    backing: Path | None = None  # what `directory` shows, at full speed
    fetched: Callable[[], int] = storage_bytes_read  # counts what storage gave so far, in any unit
    requests: Callable[[], int] | None = None  # how many the storage has answered so far
    keeps_cache: bool = False  # files are in the page cache before each run
    usable: bool = True  # or nothing can be read here, and `said` says why

    def shown(self, path: Path) -> Path:
        """Return where a file that lies in `backing` is read with the tier's speed."""
        return path if self.backing is None else self.directory / path.relative_to(self.backing)
