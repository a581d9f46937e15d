"""What a probe of the storage under a folder found."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.storage.time_model import fit_time_model
from tfdarshan.storage_probe.depth_scaling import Scaling, scaling_of
from tfdarshan.storage_probe.prober import Probing
from tfdarshan.storage_probe.slow_places import SlowPlaces, slow_places
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, plural

# Reads by one reader, of each size, below which nothing is said about latency or bandwidth.
FEWEST_READS = THRESHOLD["few"]
# Sizes closer than this cannot tell latency from bandwidth.
APART = 2.0
NOWHERE = SlowPlaces()


@dataclass(frozen=True)
class StorageProbe:
    """What it found. Times in seconds; None: not shown.

    Attributes:
        folder: Under which data it was.
        mount_point: The mount that this is on, "" if unknown.
        fs_type: Its file-system type, "" if unknown.
        host: Where it ran.
        at_ns: When it began, since the epoch.
        seconds: How long it took.
        bytes_read: What it read.
        files: Files that it opened.
        unreadable: Files that could not be opened or read.
        direct: Whether reads went past the page cache (O_DIRECT).
        idle: Whether the disk's scheduler was told to serve everybody else first.
        seed: What chose files and ranges.
        cached_share: Of the ranges that it asked for, those in the page cache, which it did not read.
        open_s: What an open takes, median.
        base_s: What a read by one reader takes apart from its bytes.
        s_per_byte: What a byte takes one reader.
        small: How reads of 4 KiB go with the number of readers.
        large: How reads of 128 KiB do, or of whole files where these are smaller.
        places: Whether slowness goes with files or with times.
        note: Why nothing was measured, "" where something was.
    """

    folder: str
    mount_point: str
    fs_type: str
    host: str
    at_ns: int
    seconds: float
    bytes_read: int
    files: int
    unreadable: int
    direct: bool
    idle: bool
    seed: int
    cached_share: float | None = None
    open_s: float | None = None
    base_s: float | None = None
    s_per_byte: float | None = None
    small: Scaling | None = None
    large: Scaling | None = None
    places: SlowPlaces = NOWHERE
    note: str = ""

    @property
    def latency_s(self) -> float | None:
        """What a small read by one reader takes."""
        return None if self.small is None else self.small.alone_s

    @property
    def words(self) -> str:
        """Which probe it was: "a probe of /data on node7, 4 s, 2026-11-22 22:31"."""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at_ns / 1e9))
        return f"a probe of {self.folder} on {self.host}, {max(self.seconds, 1.0):.0f} s, {when}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as a session's metadata has it."""
        return dataclasses.asdict(self)


def result_of(
    found: Probing, *, folder: str, mount: tuple[str, str], host: str, at_ns: int, seed: int
) -> StorageProbe:
    """Put together what a probe saw.

    Args:
        found: What it saw.
        folder: Under which data.
        mount: Its mount point and file-system type.
        host: Where it ran.
        at_ns: When it began, since the epoch.
        seed: What chose files and ranges.
    """
    places = slow_places(found.cells)
    small, large = (_scaling(found, places, small=small) for small in (True, False))
    if small is not None and large is not None and large.size < APART * small.size:
        large = None
    base_s, byte_s = _cost(found) if small is not None and large is not None else (None, None)
    return StorageProbe(
        folder=folder,
        mount_point=mount[0],
        fs_type=mount[1],
        host=host,
        at_ns=at_ns,
        seconds=found.seconds,
        bytes_read=found.moved,
        files=found.opened,
        unreadable=found.unreadable,
        direct=found.direct,
        idle=found.idle,
        seed=seed,
        cached_share=found.cached / found.asked if found.asked else None,
        open_s=float(np.median(found.open_s)) if found.open_s else None,
        base_s=base_s,
        s_per_byte=byte_s,
        small=small,
        large=large,
        places=places,
        note="" if small is not None else _why_not(found),
    )


def probe_of_dict(block: dict[str, Any]) -> StorageProbe:
    """Return what `as_dict` gave, of checked metadata; entries that a later version writes are left out."""
    from tfdarshan.sessions.checked_json import check

    return check({name: value for name, value in block.items() if value is not None}, StorageProbe)


def _scaling(found: Probing, places: SlowPlaces, *, small: bool) -> Scaling | None:
    cells = [cell for cell in found.cells if cell.small == small]
    alone = [cell for cell in cells if cell.readers == 1]
    if sum(len(cell.reads) for cell in alone) < FEWEST_READS:
        return None
    return scaling_of(cells, [path for path, _ in places.slow_files])


def _cost(found: Probing) -> tuple[float, float]:
    """Return what a read by one reader takes apart from its bytes, and what a byte takes."""
    reads = [read for cell in found.cells if cell.readers == 1 for read in cell.reads]
    model = fit_time_model(
        np.array([read.moved for read in reads], float),
        np.array([read.end_s - read.start_s for read in reads]),
    )
    return model.base_s, model.s_per_byte


def _why_not(found: Probing) -> str:
    """Describe why nothing was measured, in a sentence without its end."""
    if found.blind:
        return (
            f"of {plural(found.blind, 'file')} nobody but the owner may ask what is in the page cache, and "
            "the file system has no O_DIRECT: run the probe as their owner"
        )
    if found.cached:
        return (
            "nearly all of the data that was looked at is in the page cache, and what little is left says "
            "nothing about storage: probe files that were not read lately"
        )
    if found.error is not None and not found.opened:
        return f"none of {plural(found.unreadable, 'file')} can be read: {found.error.strerror}"
    if not found.opened:
        return "there is no file with content"
    if not found.cells:
        return (
            f"there was too little to read: {plural(found.opened, 'file')}, {human_bytes(found.moved)} in "
            f"{human_seconds(found.seconds)}; give it more files, or more time"
        )
    return "the reads that succeeded are too few to say anything"
