"""Puts the regions of a Darshan log together: compresses them one after the other, then writes the header."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from tfdarshan.durable.output_file import output_file
from tfdarshan.formats import darshan_format


class LogFile:
    """The regions of a log, written to an empty file.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._header = np.zeros((), darshan_format.HEADER)
        self._header["version"] = darshan_format.LOG_VERSION.encode()
        self._header["magic"] = darshan_format.MAGIC
        self._header["compression"] = darshan_format.ZLIB
        self._file.write(bytes(darshan_format.HEADER.itemsize))

    def add_job(self, region: bytes) -> None:
        """Write the job's region; the names come next."""
        self._compress([region])

    def add_names(self, records: Iterable[bytes]) -> None:
        """Write the records' names."""
        self._header["names"] = self._compress(records)

    def add_module(self, name: str, records: Iterable[bytes], *, partial: bool) -> None:
        """Write a module's records; `partial` says that some are missing. No record writes nothing."""
        location = self._compress(records)
        if location[1] == 0:
            return
        number = darshan_format.MODULE_IDS[name]
        self._header["modules"][number] = location
        self._header["module_versions"][number] = darshan_format.MODULE_VERSIONS[name]
        if partial:
            self._header["partial"] |= np.uint64(1 << number)

    def finish(self) -> None:
        """Write the header, after all regions."""
        self._file.seek(0)
        self._file.write(self._header.tobytes())

    def _compress(self, parts: Iterable[bytes]) -> tuple[int, int]:
        """Write one region and return its offset and length, (0, 0) where there was nothing to write."""
        start = self._file.tell()
        compressor = zlib.compressobj()
        empty = True
        for part in parts:
            if part:
                empty = False
                self._file.write(compressor.compress(part))
        if empty:
            return 0, 0
        self._file.write(compressor.flush())
        return start, self._file.tell() - start


@contextmanager
def log_file(path: Path) -> Iterator[LogFile]:
    """Yield a log to add regions to, which gets its name when all of it is durable, as the block ends.

    Raises:
        StorageError: It cannot be written; nothing is left of it.
    """
    with output_file(path, force=True) as file:
        log = LogFile(file)
        yield log
        log.finish()
