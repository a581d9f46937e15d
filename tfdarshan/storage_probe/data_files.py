"""Finds files of a folder as a job would read them: a random sample, without looking at all of them."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

# However many files there are: names that are looked at, of one folder at a time, and kept.
MOST_NAMES = 50_000
AT_A_TIME = 500
MOST_FILES = 4_000
MOST_OPEN = 16


def sample_files(
    folder: str, noise: random.Random, seconds: float, clock: Callable[[], float] = time.monotonic
) -> list[str]:
    """Return regular files below a folder, in random order; of links to folders and to other mounts none.

    Folders are gone through by turns, in random order, so that a sample of a data set with a folder for each
    class has files of many classes.

    Args:
        folder: Where to look.
        noise: Chooses.
        seconds: The longest that it looks once it has a file.
        clock: Seconds; a test gives its own.

    Raises:
        OSError: The folder cannot be looked at.
    """
    end = clock() + seconds
    device = Path(folder).stat().st_dev
    walk = _Walk(folder, noise)
    found: list[str] = []
    names = files = 0
    while walk.waiting and names < MOST_NAMES:
        entries = walk.some()
        names += max(1, len(entries))
        for entry in entries:
            if _is_folder(entry, device):
                walk.waiting.append(entry.path)
            elif _is_file(entry, device):
                files += 1
                _keep(found, files, entry.path, noise)
        if clock() > end and found:
            break
    walk.close()
    noise.shuffle(found)
    return found


class _Walk:
    """Folders to look at, some of them begun."""

    def __init__(self, folder: str, noise: random.Random) -> None:
        self.noise = noise
        self.waiting: list[Any] = [os.scandir(folder)]

    def some(self) -> list[os.DirEntry[str]]:
        """Return some entries of one of the folders."""
        waiting = self.waiting
        place = self.noise.randrange(len(waiting))
        waiting[place], waiting[-1] = waiting[-1], waiting[place]
        folder = waiting.pop()
        entries: list[os.DirEntry[str]] = []
        # It may vanish, or be nobody's to look at.
        with suppress(OSError):
            folder = os.scandir(folder) if isinstance(folder, str) else folder
            entries += islice(folder, AT_A_TIME)
            if len(entries) == AT_A_TIME and sum(not isinstance(other, str) for other in waiting) < MOST_OPEN:
                waiting.append(folder)
                return entries
        if not isinstance(folder, str):
            folder.close()
        return entries

    def close(self) -> None:
        """Close those that were begun."""
        for folder in self.waiting:
            if not isinstance(folder, str):
                folder.close()


def _keep(found: list[str], files: int, path: str, noise: random.Random) -> None:
    """Keep each of so many files with the same probability."""
    if len(found) < MOST_FILES:
        found.append(path)
    elif (place := noise.randrange(files)) < MOST_FILES:
        found[place] = path


def _is_folder(entry: os.DirEntry[str], device: int) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_dev == device
    return False


def _is_file(entry: os.DirEntry[str], device: int) -> bool:
    with suppress(OSError):
        return entry.is_file() and (not entry.is_symlink() or entry.stat().st_dev == device)
    return False
