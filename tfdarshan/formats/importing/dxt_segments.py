"""The segments of a log's DXT_POSIX region as arrays.

PyDarshan makes a dictionary of each segment, and its release 3.5.0 does not read version 2, which Darshan
3.5.0 writes: so the region is read here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.log_regions import LogRegions
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions.schema import TOO_LATE_S


@dataclass(frozen=True)
class DxtSegments:
    """Reads and writes; arrays of equal length, times in ns since the job's start.

    `thread` is the thread's handle, 0 where the log has none (version 1). `hosts` names hosts by rank.
    """

    record: Array
    rank: Array
    is_read: Array
    offset: Array
    length: Array
    start_ns: Array
    end_ns: Array
    thread: Array
    hosts: dict[int, str]

    def chosen(self, rows: Array) -> DxtSegments:
        """Return some of the segments."""
        arrays = {name: value[rows] for name, value in vars(self).items() if name != "hosts"}
        return DxtSegments(**arrays, hosts=self.hosts)


def read_segments(log: LogRegions) -> DxtSegments | None:
    """Read all segments of a log; None where it has no DXT_POSIX.

    Raises:
        SessionDataError: The region is damaged or of a newer version.
    """
    if "DXT_POSIX" not in log.module_versions:
        return None
    region, version = log.content("DXT_POSIX"), log.module_versions["DXT_POSIX"]
    head_layout = darshan_format.DXT_RECORD.newbyteorder(log.order)
    layout = darshan_format.SEGMENTS[version].newbyteorder(log.order)
    heads, parts, place, hosts = [], [], 0, {}
    while place < len(region):
        head = np.frombuffer(region, head_layout, 1, place)[0]
        place += head_layout.itemsize
        count = int(head["writes"]) + int(head["reads"])
        heads.append((int(head["id"]), int(head["rank"]), int(head["writes"]), count))
        parts.append(np.frombuffer(region, layout, count, place))
        hosts[int(head["rank"])] = head["host"].decode("utf-8", "backslashreplace")
        place += count * layout.itemsize
    segments = np.concatenate(parts) if parts else np.zeros(0, layout)
    if not all((np.abs(segments[name]) < TOO_LATE_S).all() for name in ("start_s", "end_s")):
        raise log.damage("its DXT_POSIX data has no times")
    return _joined(heads, segments, hosts)


def no_segments() -> DxtSegments:
    """Return the segments of a log without a trace."""
    none = np.zeros(0, np.int64)
    unsigned = none.astype(np.uint64)
    return DxtSegments(unsigned, none, none.astype(bool), none, none, none, none, unsigned, {})


def _joined(
    heads: list[tuple[int, int, int, int]],
    segments: Array,
    hosts: dict[int, str],
) -> DxtSegments:
    counts = [count for *_rest, count in heads]
    first = np.cumsum([0, *counts])[:-1]
    place = np.arange(len(segments)) - np.repeat(first, counts)
    return DxtSegments(
        record=np.repeat(np.array([head[0] for head in heads], np.uint64), counts),
        rank=np.repeat(np.array([head[1] for head in heads], np.int64), counts),
        is_read=place >= np.repeat(np.array([head[2] for head in heads], np.int64), counts),
        offset=segments["offset"].astype(np.int64),
        length=segments["length"].astype(np.int64),
        start_ns=np.rint(segments["start_s"] * 1e9).astype(np.int64),
        end_ns=np.rint(segments["end_s"] * 1e9).astype(np.int64),
        thread=segments["thread"].astype(np.uint64)
        if "thread" in (segments.dtype.names or ())
        else np.zeros(len(segments), np.uint64),
        hosts=hosts,
    )
