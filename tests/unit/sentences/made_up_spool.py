"""What a spool says of a process, and the marker of its session."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

from tfdarshan.native.spool_reader import SpoolInfo
from tfdarshan.sessions.session_directory import Marker, boot_id, host_name, pid_namespace

MIB = 1 << 20


def info_of(**figures: int) -> SpoolInfo:
    """Return a process of whose spool nothing was lost, but for some figures."""
    fields = {field.name: 0 for field in dataclasses.fields(SpoolInfo)}
    fields |= {"events": 1000, "capacity_bytes": 64 * MIB, "trace_limit_bytes": 16 * MIB}
    return SpoolInfo(**cast(Any, fields | {"host": "h", "command": "c"} | figures))


MARKER = Marker(
    session="2026_01_01_00_00_00",
    spool_directory="/gone",
    host=host_name(),
    pid=1 << 22,
    process_start=1,
    boot_id=boot_id(),
    pid_namespace=pid_namespace(),
    start_realtime_ns=0,
    options={},
    notes=[],
    versions={},
    started_by="python",
)
