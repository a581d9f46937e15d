"""Drives the jobs of known_job.c, whose every total is known beforehand, and makes the files they read."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

from tests.perf.compiled import compile_library

FILES_PER_FOLDER = 1000
LINKS_PER_FILE = 50_000  # ext4 allows 65,000


@dataclass(frozen=True)
class Totals:
    """What a job does, whoever counts it."""

    opens: int
    reads: int
    bytes_read: int


@dataclass(frozen=True)
class RandomReads:
    """A job that reads random places of a few files, as shuffled records of shards are read."""

    files: int = 100
    file_bytes: int = 8 << 20
    longest_read: int = 4096
    reads: int = 1_000_000
    threads: int = 4

    def make_files(self, folder: Path) -> None:
        """Make the files, without blocks."""
        folder.mkdir(parents=True)
        for number in range(self.files):
            with (folder / str(number)).open("wb") as file:
                file.truncate(self.file_bytes)


class KnownJobs:
    """The compiled jobs."""

    def __init__(self, folder: Path) -> None:
        self._library = compile_library("known_job", folder)

    def read_at_random(self, folder: Path, job: RandomReads) -> None:
        """Run `job` on files that its `make_files` made."""
        sizes = (job.files, job.file_bytes, job.longest_read, job.reads)
        self._library.known_job_read_at_random(
            os.fsencode(folder), *map(ctypes.c_long, sizes), ctypes.c_int(job.threads)
        )

    def read_files(self, folder: Path, files: int, threads: int) -> Totals:
        """Read files that `link_files` made, each to its end: open, pread, an empty pread, close."""
        self._library.known_job_read_files(os.fsencode(folder), ctypes.c_long(files), ctypes.c_int(threads))
        return Totals(files, 2 * files, sum(map(linked_size, range(files))))

    def read_one_byte(self, path: Path, reads: int, threads: int) -> Totals:
        """Read the first byte of a file `reads` times."""
        self._library.known_job_read_one_byte(os.fsencode(path), ctypes.c_long(reads), ctypes.c_int(threads))
        return Totals(1, reads, reads)


def linked_size(number: int) -> int:
    """Return the size of file `number`: the same for all names of one inode, different for each inode."""
    return 101 + number // LINKS_PER_FILE


def linked_path(folder: Path, number: int) -> Path:
    """Return the path of file `number`."""
    return folder / f"{number // FILES_PER_FOLDER:04d}" / f"{number:08d}.bin"


def link_files(folder: Path, count: int) -> None:
    """Make `count` names of files of `linked_size` bytes. Hard links: a million of them take no blocks."""
    for first in range(0, count, FILES_PER_FOLDER):
        linked_path(folder, first).parent.mkdir(parents=True)
    for number in range(count):
        path = linked_path(folder, number)
        if number % LINKS_PER_FILE == 0:
            source = path
            source.write_bytes(b"x" * linked_size(number))
        else:
            os.link(source, path)
