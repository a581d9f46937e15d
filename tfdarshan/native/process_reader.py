"""What one process's part of a session is written from: its spool, or a trace that carries it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tfdarshan.native.spool_reader import (
    Array,
    EventBatch,
    FailedCalls,
    FileBatch,
    Mount,
    SpoolInfo,
    ThreadInfo,
)


class ProcessReader(Protocol):
    """What `spool_reader.SpoolReader` and `xspace_session.XspaceReader` have in common."""

    def info(self) -> SpoolInfo:
        """Return the process's figures."""

    def threads(self, count: int) -> list[ThreadInfo]:
        """Return the first `count` threads."""

    def mounts(self, count: int) -> list[Mount]:
        """Return the first `count` mounts."""

    def failures(self) -> list[FailedCalls]:
        """Return the failed calls by operation and errno."""

    def paths(self, files: Array) -> list[str]:
        """Return the paths of file ids."""

    def record_ids(self, files: Array) -> Array:
        """Return Darshan's record ids of file ids, uint64."""

    def file_batches(self, rows: int) -> Iterator[FileBatch]:
        """Yield the files table, at most `rows` rows at a time."""

    def event_batches(self, rows: int) -> Iterator[EventBatch]:
        """Yield the segments in order of start, at most `rows` at a time."""
