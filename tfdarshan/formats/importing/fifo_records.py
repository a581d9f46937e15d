"""Records of a log that are of no file: FIFOs and sockets, whose calls wait for the other end.

A log does not say what a record's name was. Some names do (`pipe_17`, `agent.sock`), if nothing was done
with them that no FIFO or socket can: a seek, a mapping. And on the machine of the job, a name that is a FIFO
or a socket today was most likely one then: the names with most time in calls are looked at, and none below a
mount that may not answer.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfdarshan.file_name import exact_name
from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.pydarshan import Records
from tfdarshan.native.spool_reader import Array

FIFO, SOCKET = "FIFO", "SOCKET"
# The last part of a name, that says the word and has no other suffix.
NAMES = {
    FIFO: re.compile(r"(?:.*[^a-z])?(?:pipe|fifo)(?:[^a-z.][^.]*)?", re.IGNORECASE),
    SOCKET: re.compile(r"(?:.*[^a-z])?(?:sock|socket)(?:[^a-z.][^.]*)?", re.IGNORECASE),
}
FILES_ALONE = ("SEEKS", "MMAPS")
MOST_LOOKED_AT = 256
# To ask these for a name may take as long as their server is away.
REMOTE = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "afs", "9p", "autofs", "pvfs2")
)
SUMS = {
    "opens": ("OPENS",), "reads": ("READS",), "writes": ("WRITES",), "bytes_read": ("BYTES_READ",),
    "bytes_written": ("BYTES_WRITTEN",), "read_s": ("F_READ_TIME",),
    "write_s": ("F_WRITE_TIME",), "meta_s": ("F_META_TIME",),
}  # fmt: skip


def find_no_files(records: Mapping[str, Records], names: Mapping[int, str]) -> dict[int, str]:
    """Return which records are FIFO or SOCKET, by the record's number."""
    files: set[int] = set()
    for module, part in records.items():
        counters = [part.counters.get(f"{module}_{call}") for call in FILES_ALONE]
        used = [part.record[values > 0] for values in counters if values is not None]
        files.update(np.concatenate([part.record[:0], *used]).tolist())
    numbers = {record for part in records.values() for record in part.record.tolist()}
    kinds = {record: _kind_by_name(names.get(record, "")) for record in numbers - files}
    found = {record: kind for record, kind in kinds.items() if kind}
    remote = _remote_points()
    for record in _slowest(records):
        path = names.get(record, "")
        kind = _kind_here(path) if path.startswith("/") and not _is_below(path, remote) else ""
        if kind:
            found[record] = kind
    return found


def without(records: Mapping[str, Records], left_out: Mapping[int, str]) -> dict[str, Records]:
    """Return the records without those that are left out."""
    numbers = np.array(list(left_out), np.uint64)
    kept = {}
    for module, part in records.items():
        rows = np.flatnonzero(~np.isin(part.record, numbers))
        kept[module] = part if len(rows) == len(part.record) else _chosen(part, rows)
    return {module: part for module, part in kept.items() if len(part.record)}


def rows_of(
    records: Mapping[str, Records], left_out: Mapping[int, str], names: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    """Yield what was left out as rows of the layers table."""
    numbers = np.array(list(left_out), np.uint64)
    for module, part in records.items():
        for row in np.flatnonzero(np.isin(part.record, numbers)).tolist():
            number = int(part.record[row])
            yield {
                "module": left_out[number],
                "path": names.get(number) or darshan_format.nameless(number),
                "rank": int(part.rank[row]),
                **{column: _value(module, part, suffixes, row) for column, suffixes in SUMS.items()},
            }


def _value(module: str, part: Records, suffixes: Sequence[str], row: int) -> float | None:
    counters = {**part.counters, **part.f_counters}
    values = [counters[f"{module}_{suffix}"][row].item() for suffix in suffixes]
    return None if any(value < 0 for value in values) else sum(values)


def _chosen(part: Records, rows: Array) -> Records:
    return Records(
        part.record[rows],
        part.rank[rows],
        {name: values[rows] for name, values in part.counters.items()},
        {name: values[rows] for name, values in part.f_counters.items()},
    )


def _slowest(records: Mapping[str, Records]) -> list[int]:
    """List the records with most time in calls, MOST_LOOKED_AT of a module."""
    found: list[int] = []
    for module, part in records.items():
        times = sum(part.f_counters[f"{module}_F_{kind}_TIME"] for kind in ("READ", "WRITE", "META"))
        order = np.argsort(-np.asarray(times), kind="stable")[:MOST_LOOKED_AT]
        found += part.record[order].tolist()
    return found


def _kind_by_name(path: str) -> str:
    last = path.rpartition("/")[2]
    return next((kind for kind, pattern in NAMES.items() if pattern.fullmatch(last)), "")


def _kind_here(path: str) -> str:
    try:
        mode = os.lstat(exact_name(path)).st_mode
    except (OSError, ValueError):
        return ""
    return FIFO if stat.S_ISFIFO(mode) else SOCKET if stat.S_ISSOCK(mode) else ""


def _is_below(path: str, points: Sequence[str]) -> bool:
    return any(path.startswith(f"{point.rstrip('/')}/") for point in points)


def _remote_points() -> list[str]:
    """List the mounts of this machine that may not answer."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
            mounts = [line.split(" ") for line in file]
    except OSError:
        return ["/"]
    return [mount[1] for mount in mounts if mount[2].startswith("fuse") or mount[2] in REMOTE]
