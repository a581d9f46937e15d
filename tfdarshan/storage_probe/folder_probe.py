"""Probes the storage under a folder, or under files that are given."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path

from tfdarshan.analysis.files.file_totals import IN_MEMORY
from tfdarshan.errors import StorageError, reason
from tfdarshan.file_name import table_name
from tfdarshan.sessions.session_directory import host_name
from tfdarshan.storage_probe.data_files import sample_files
from tfdarshan.storage_probe.probe_result import StorageProbe, result_of
from tfdarshan.storage_probe.prober import Bounds, probe_files
from tfdarshan.thresholds import THRESHOLD

# Of the time, what looking for files may take.
LOOKING = 2 * THRESHOLD["hardly"]
MOUNTS = "/proc/self/mountinfo"


def probe_folder(
    folder: str, bounds: Bounds | None = None, seed: int | None = None, own: Sequence[str] = ()
) -> StorageProbe:
    """Measure the storage under a folder's files.

    Args:
        folder: A folder, or a file.
        bounds: The most to take, by default 5 s and 64 MB.
        seed: Chooses files and ranges; by default other ones each time, for what was read once may be cached
            where nobody can see it.
        own: Files to take as often as others of the folder.

    Raises:
        StorageError: The folder cannot be looked at, or storage hangs.
    """
    bounds = bounds or Bounds()
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    noise, at_ns, started = random.Random(seed), time.time_ns(), time.monotonic()
    paths = _files(folder, noise, LOOKING * bounds.seconds)
    chosen = list(own)
    noise.shuffle(chosen)
    left = max(bounds.seconds - (time.monotonic() - started), (1 - 2 * LOOKING) * bounds.seconds)
    mount = mount_of(str(Path(folder).resolve()))
    if mount[1] in IN_MEMORY:
        raise StorageError(f"{folder} is on {mount[1]}, which is memory: there is no storage to measure.")
    found = probe_files(_by_turns(chosen, paths), replace(bounds, seconds=left), noise)
    return result_of(found, folder=folder, mount=mount, host=host_name(), at_ns=at_ns, seed=seed)


def mount_of(path: str) -> tuple[str, str]:
    """Return the mount point of a path without links, as tables write it, and its type; "" if unknown.

    Source: proc_pid_mountinfo(5): the last one that is mounted over a path is what is seen.
    """
    try:
        lines = Path(MOUNTS).read_bytes().splitlines()
    except OSError:
        return "", ""
    best = ("", "")
    path = table_name(os.fsencode(path))
    for line in lines:
        fields, _, rest = line.partition(b" - ")
        point = table_name(fields.split()[4].decode("unicode_escape").encode("latin-1"))
        if (path == point or path.startswith(point.rstrip("/") + "/")) and len(point) >= len(best[0]):
            best = point, os.fsdecode(rest.split()[0])
    return best


def _files(folder: str, noise: random.Random, seconds: float) -> list[str]:
    try:
        return sample_files(folder, noise, seconds) if Path(folder).is_dir() else [_readable(folder)]
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be probed: {reason(error)}; name a folder with files that you can read."
        ) from error


def _readable(path: str) -> str:
    """Return a path that is there.

    Raises:
        OSError: It is not.
    """
    Path(path).stat()
    return path


def _by_turns(own: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Yield each path once, one of each list by turns."""
    seen: set[str] = set()
    for path in chain.from_iterable(zip_longest(own, others)):
        if path is not None and path not in seen:
            seen.add(path)
            yield path
