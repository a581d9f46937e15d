"""Puts the regions of a Darshan log together: compresses them one after the other, then writes the header."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import numpy as np

from tfdarshan.errors import StorageError, reason
from tfdarshan.formats import darshan_format


class LogFile:
    """A log being written. It gets its name when all of it is durable, at the end of the `with` block.

    Raises:
        StorageError: It cannot be written; nothing is left of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._header = np.zeros((), darshan_format.HEADER)
        self._header["version"] = darshan_format.LOG_VERSION.encode()
        self._header["magic"] = darshan_format.MAGIC
        self._header["compression"] = darshan_format.ZLIB

    def __enter__(self) -> LogFile:
        try:
            self._file = self._temporary.open("wb")
            self._file.write(bytes(darshan_format.HEADER.itemsize))
        except OSError as error:
            raise self._failure(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._finish()
        except OSError as failure:
            raise self._failure(failure) from failure
        finally:
            self._file.close()
            with suppress(OSError):
                self._temporary.unlink()
        if isinstance(error, OSError) and not isinstance(error, StorageError):
            raise self._failure(error) from error

    def add_job(self, region: bytes) -> None:
        """Writes the job's region; the names come next."""
        self._compress([region])

    def add_names(self, records: Iterable[bytes]) -> None:
        """Writes the records' names."""
        self._header["names"] = self._compress(records)

    def add_module(self, name: str, records: Iterable[bytes], *, partial: bool) -> None:
        """Writes a module's records; `partial` says that some are missing. No record writes nothing."""
        location = self._compress(records)
        if location[1] == 0:
            return
        number = darshan_format.MODULE_IDS[name]
        self._header["modules"][number] = location
        self._header["module_versions"][number] = darshan_format.MODULE_VERSIONS[name]
        if partial:
            self._header["partial"] |= np.uint64(1 << number)

    def _compress(self, parts: Iterable[bytes]) -> tuple[int, int]:
        """Writes one region and gives its offset and length, (0, 0) where there was nothing to write."""
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

    def _finish(self) -> None:
        self._file.seek(0)
        self._file.write(self._header.tobytes())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._temporary.replace(self._path)

    def _failure(self, error: OSError) -> StorageError:
        return StorageError(
            f"the Darshan log {self._path} cannot be written: {reason(error)}; "
            "name a file in a folder you can write to."
        )
