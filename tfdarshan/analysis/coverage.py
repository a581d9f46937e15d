"""What was recorded against what the kernel charged: how much of the I/O the session did not see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfdarshan.analysis.file_totals import BYTES_READ, BYTES_WRITTEN, FileTotals


@dataclass(frozen=True)
class Direction:
    """Bytes of one direction. `kernel` is rchar or wchar, `storage` read_bytes or write_bytes, if known.

    `elsewhere` has the bytes that are counted and in no table, by kind: excluded files, pipes, sockets ...
    """

    in_tables: int
    elsewhere: dict[str, int]
    kernel: int | None
    storage: int | None

    @property
    def accounted(self) -> int:
        """Bytes that are accounted for."""
        return self.in_tables + sum(self.elsewhere.values())


@dataclass(frozen=True)
class Coverage:
    """Both directions. `processes_left_out` ended without the kernel's figures and are in neither side."""

    read: Direction
    written: Direction
    processes_left_out: int


def measure_coverage(metas: list[dict[str, Any]], files: FileTotals) -> Coverage:
    """Compares the bytes of all processes with the kernel's figures.

    The kernel adds a child's figures to its parent's when the parent has waited for it, so those count once;
    a child still there when the session was written has its own.

    Source: /proc/PID/io of proc_pid_io(5); task_io_accounting_add on waiting for a child.
    """
    owner, children = metas[0], metas[1:]
    apart = [meta for meta in children if meta["kernel"]["counted"] == "own"]
    unknown = sum(not meta["kernel"]["valid"] for meta in apart)
    valid = bool(owner["kernel"]["valid"]) and unknown == 0
    sources = [owner, *apart]
    return Coverage(
        _direction(metas, sum(files.sums[name] for name in BYTES_READ), "bytes_read", sources, valid),
        _direction(metas, sum(files.sums[name] for name in BYTES_WRITTEN), "bytes_written", sources, valid),
        unknown,
    )


def _direction(
    metas: list[dict[str, Any]], in_tables: int, field: str, sources: list[dict[str, Any]], valid: bool
) -> Direction:
    elsewhere: dict[str, int] = {}
    for meta in metas:
        for kind, traffic in meta.get("other", {}).items():
            elsewhere[kind] = elsewhere.get(kind, 0) + traffic[field]
    charged, storage = ("rchar", "read_bytes") if field == "bytes_read" else ("wchar", "write_bytes")
    totals = [sum(meta["kernel"][name] for meta in sources) if valid else None for name in (charged, storage)]
    return Direction(in_tables, {kind: count for kind, count in elsewhere.items() if count}, *totals)
