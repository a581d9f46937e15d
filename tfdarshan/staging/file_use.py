"""What a job did with each of its files, as staging asks it: by the file table and what calls cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.directory import plain_paths
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.file_totals import IN_MEMORY
from tfdarshan.analysis.files.reading_times import ReadingTimes
from tfdarshan.analysis.files.rereads import times_read
from tfdarshan.analysis.storage.file_costs import FileCosts


@dataclass(frozen=True)
class FileUse:
    """What each path of the file table was used for. Arrays have one entry per path.

    Attributes:
        paths: pyarrow strings, without ".."; bytes that are not UTF-8 as backslash escapes.
        size_bytes: File size, -1 if unknown.
        is_input: Whether it is input (`analysis.input_files`).
        is_used: Whether it was opened, read or written.
        counted_bytes: Bytes read at any time, within the steps or not.
        times_read: How often it was read, at any time (`analysis.rereads.times_read`).
        opens: Times the file was opened.
        reads: Reads.
        bytes_read: Bytes read, from storage or memory.
        bytes_written: Bytes written.
        moves: Times the file was renamed, replaced by a renamed one, or deleted.
        read_s: Threads' time in reads.
        meta_s: Threads' time in open, close, fstat, seek, reads of nothing ...
        stat_s: Threads' time in stats by name: `run --staged` leaves them on the slow tier.
        storage_s: Of `read_s`, the time of passes that storage served.
        storage_bytes: Of `bytes_read`, the bytes of such passes.
        in_memory: Whether its file system is in memory.
        copies: Folders of copies that the job opened in place of originals.
        emulated: Whether storage was emulated: then what is in memory is slow, too.
        traced_share: Share of the calls that the sessions' segments have, 0 to 1.
        reading: For each session, when its files were read; none where one has not all calls.
    """

    paths: Any
    size_bytes: Array
    is_input: Array
    is_used: Array
    counted_bytes: Array
    times_read: Array
    opens: Array
    reads: Array
    bytes_read: Array
    bytes_written: Array
    moves: Array
    read_s: Array
    meta_s: Array
    stat_s: Array
    storage_s: Array
    storage_bytes: Array
    in_memory: Array
    copies: tuple[str, ...] = ()
    emulated: bool = False
    traced_share: float = 0.0
    reading: tuple[ReadingTimes, ...] = ()

    def __len__(self) -> int:
        return len(self.size_bytes)

    def reading_s(self, chosen: Array) -> float | None:
        """Return the time from the first read of some files to the last one, of all sessions together.

        None where a session does not say, or reads none of them.

        Args:
            chosen: Which files, a mask or places.
        """
        spans = [times.span_s(chosen) for times in self.reading]
        return None if not spans or None in spans else sum(span or 0.0 for span in spans)


def file_use(
    files: FileTable,
    is_input: Array,
    costs: FileCosts,
    *,
    copies: Sequence[str] = (),
    emulated: bool = False,
    traced_share: float = 0.0,
    reading: Sequence[ReadingTimes] = (),
) -> FileUse:
    """Put together what is known of each path.

    Args:
        files: The file table.
        is_input: Which of its rows are input.
        costs: What the calls on input cost, of all sessions.
        copies: Folders of copies that the job opened in place of originals.
        emulated: Whether storage was emulated.
        traced_share: Share of the calls that have segments.
        reading: When each session's files were read.
    """
    rows = files.rows
    names = ("size_bytes", "bytes_read", "bytes_written", "opens")
    size_bytes, read, written, opens = (rows[name].to_numpy() for name in names)
    return FileUse(
        paths=plain_paths(files.paths),
        size_bytes=size_bytes,
        is_input=is_input,
        is_used=(read > 0) | (written > 0) | (opens > 0),
        counted_bytes=read,
        times_read=times_read(size_bytes, read, opens),
        opens=costs.opens,
        reads=costs.reads,
        bytes_read=costs.read_bytes,
        bytes_written=written,
        moves=rows["moves"].to_numpy(),
        read_s=costs.read_s,
        meta_s=np.subtract(costs.other_s, costs.stat_s) if costs.stat_s.any() else costs.other_s,
        stat_s=costs.stat_s,
        storage_s=costs.slow_s,
        storage_bytes=costs.slow_bytes,
        in_memory=rows["fs_type"].isin(IN_MEMORY).to_numpy(),
        copies=tuple(copies),
        emulated=emulated,
        traced_share=traced_share,
        reading=tuple(reading),
    )
