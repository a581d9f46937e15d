"""Made-up sessions that have counters alone: recorded without a trace, or made of a Darshan log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tfdarshan.session import Session, open_session

TIMES = ("io_ns", "read_ns", "write_ns", "meta_ns", "thread_ns")
LOG: dict[str, Any] = {"ranks": [0], "pids": [100], "rank": 0, "hosts": {}, "processes": 1, "not_known": []}


def without_trace(session: Session, **meta: Any) -> Session:
    """Take away what a trace has; its counters and times stay.

    Args:
        session: The session.
        **meta: Entries of the metadata to be replaced.
    """
    path, content = _meta(session)
    table = session.path / content["tables"]["events"]["file"]
    pq.write_table(pq.read_table(table).slice(0, 0), table)
    content["tables"]["events"]["rows"] = content["counts"]["segments"] = 0
    content["options"] = content["options"] | {"trace": False}
    path.write_text(json.dumps(content | meta))
    return open_session(session.path)


def as_log(session: Session, *, traced: bool = False, **meta: Any) -> Session:
    """Make it what a Darshan log says: no times over all calls, no kernel's figures, no steps.

    Args:
        session: The session.
        traced: Its reads and writes stay, which are all that a log's trace has.
        **meta: Entries of the metadata to be replaced.
    """
    session = _reads_and_writes(session) if traced else without_trace(session)
    path, content = _meta(session)
    content |= {"darshan": LOG, "options": {}, "owner": False}
    content["time"] = content["time"] | dict.fromkeys(TIMES)
    content["kernel"] = content["kernel"] | {"valid": False}
    content.pop("steps", None)
    path.write_text(json.dumps(content | meta))
    return open_session(session.path)


def with_counters(session: Session, path: str, module: str = "POSIX", **counters: float | None) -> Session:
    """Set columns of a file's row of a module; None for what a log does not say."""
    for table in session.path.glob("*.files.parquet"):
        found = pq.read_table(table)
        rows = [
            row | counters if (row["path"], row["module"]) == (path, module) else row
            for row in found.to_pylist()
        ]
        schema = pa.schema([field.with_nullable(True) for field in found.schema])
        pq.write_table(pa.Table.from_pylist(rows, schema), table)
    return open_session(session.path)


def _reads_and_writes(session: Session) -> Session:
    path, content = _meta(session)
    table = session.path / content["tables"]["events"]["file"]
    found = pq.read_table(table)
    kept = [str(name) in ("pread", "read", "write") for name in found.column("operation").to_pylist()]
    pq.write_table(found.filter(pa.array(kept)), table)
    content["tables"]["events"]["rows"] = content["counts"]["segments"] = sum(kept)
    path.write_text(json.dumps(content))
    return open_session(session.path)


def _meta(session: Session) -> tuple[Path, dict[str, Any]]:
    (path,) = session.path.glob("*.meta.json")
    return path, json.loads(path.read_text())
