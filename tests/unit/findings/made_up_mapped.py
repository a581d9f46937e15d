"""Made-up training jobs that read a mapped file: page faults beside steps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.unit.findings.made_up_training import LOOP, MS, training
from tfdarshan.session import Session, open_session
from tfdarshan.storage_probe.depth_scaling import Level, Scaling
from tfdarshan.storage_probe.probe_result import StorageProbe

PATH = "/data/train.npy"
WATCHED = {
    "watch": "watched", "error": 0, "files": 1, "watched_ns": 10, "sampled_ns": 10, "minor_faults": 50,
    "major_faults": 50, "sampled_faults": 100,
}  # fmt: skip


def mapped_training(
    logdir: Path,
    faults: Sequence[tuple],
    steps: Sequence[tuple[float, float, float]] = (),
    *,
    path: str = PATH,
    size: int = 1 << 30,
    bytes_in: int = 1 << 20,
    formats: dict[str, str] | None = None,
    block: dict | None = None,
    probes: Sequence[dict] = (),
    kept: bool = True,
    calls: Sequence[tuple] = (),
    **more,
) -> Session:
    """Write a session of a job that maps one file.

    Args:
        logdir: Where.
        faults: (start, end, tid, offset); times in ms.
        steps: As `training` takes them.
        path: The file.
        size: Its size.
        bytes_in: What of it came into the page cache.
        formats: The formats of files that the session knows.
        block: Entries of the metadata of the watch that are not the usual ones; None: there is no such entry.
        probes: Probes that the session keeps.
        kept: Whether there is a table of faults; a session of `trace=False` has none.
        calls: What is called beside the open of the file, as `training` takes them.
        **more: What else `training` takes.
    """
    calls = [(0, 0.01, LOOP, "open", 0, 0), *calls]
    session = training(logdir, calls, steps, paths=(path,), sizes=(size,), **more)
    (meta_path,) = session.path.glob("*.meta.json")
    meta = json.loads(meta_path.read_text())
    known = (block or {}).get("watch", "watched") == "watched"
    wait_s = sum(fault[1] - fault[0] for fault in faults) / 1e3
    count, seconds = (len(faults), wait_s) if known else (-1, -1.0)
    _add_row(session.path / meta["tables"]["files"]["file"], count, seconds, bytes_in)
    events = session.path / meta["tables"]["events"]["file"]
    name = events.name.replace("events", "faults")
    _write_faults(events, events.with_name(name), faults)
    if kept:
        meta["tables"]["faults"] = {"file": name, "rows": len(faults)}
    else:
        events.with_name(name).unlink()
    meta["options"] = meta["options"] | {"mapped": True}
    entries = WATCHED | {"faults_kept": len(faults), "formats": formats or {}} | (block or {})
    meta["mapping"] = {name: value for name, value in entries.items() if value is not None}
    meta["probes"] = list(probes)
    meta_path.write_text(json.dumps(meta))
    return open_session(session.path)


def _add_row(path: Path, faults: int, wait_s: float, bytes_in: int) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    mapped = {
        "module": "MMAP", "MMAP_MAPPINGS": 1, "MMAP_BYTES_MAPPED": 1 << 30, "MMAP_FAULTS": faults,
        "MMAP_BYTES_IN": bytes_in, "MMAP_BYTES_TOUCHED": -1, "MMAP_BYTES_EVICTED": -1,
        "MMAP_F_FAULT_TIME": wait_s, "MMAP_F_WAIT_TIME": wait_s,
    }  # fmt: skip
    zero = {name: 0 for name in rows[-1] if name.startswith(("POSIX_", "STDIO_", "TFD_", "MMAP_"))}
    rows.append(rows[-1] | zero | mapped)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)


def unwatched_mapping(
    logdir: Path, mapped_bytes: int, steps: Sequence[tuple[float, float, float]], **row_of_file: str
) -> Session:
    """Write a session of a job that maps so many bytes, which was not asked to watch them.

    Args:
        logdir: Where.
        mapped_bytes: How many.
        steps: As `training` has them.
        row_of_file: Columns of the file's row, such as `fs_type`.
    """
    session = training(logdir, [(0, 0.01, LOOP, "mmap", 0, mapped_bytes)], steps)
    (path,) = session.path.glob("*.files.parquet")
    table = pq.read_table(path)
    rows = [row | {"TFD_MMAP_BYTES": mapped_bytes} | row_of_file for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    return open_session(session.path)


def without_calls(session: Session) -> Session:
    """Take a session's single calls out, as of a job whose files were open before; its page faults stay."""
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    for name in ("events", "overview"):
        if name in meta["tables"]:
            table = session.path / meta["tables"][name]["file"]
            pq.write_table(pq.read_table(table).slice(0, 0), table)
            meta["tables"][name]["rows"] = 0
    path.write_text(json.dumps(meta))
    return open_session(session.path)


def _write_faults(events: Path, path: Path, faults: Sequence[tuple]) -> None:
    schema = pq.read_schema(events)
    row, *_ = pq.read_table(events).to_pylist()
    rows = [
        row
        | {
            "start_ns": round(start * MS), "end_ns": round(end * MS), "tid": tid, "operation": "fault",
            "module": "MMAP", "offset": offset, "length": 4096,
        }
        for start, end, tid, offset in sorted(faults)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, schema), path)


def loop_faults(steps: int, step_ms: float, each_ms: float, count: int, *, jump: int) -> list[tuple]:
    """Return faults of the training loop's, `count` at each step's start, `jump` bytes apart."""
    return [
        (step * step_ms + n * each_ms, step * step_ms + (n + 1) * each_ms, LOOP, (step * count + n) * jump)
        for step in range(steps)
        for n in range(count)
    ]


MB = 1 << 20


def probe_of_share(share, *, page_s=0.002, window_s=0.0025):
    """Return a probe of "/data", as metadata has it: `share` of a read is served one at a time."""

    def scaling(size, call_s):
        level = Level(1, call_s, 1 / call_s, size / call_s)
        return Scaling(size, (level,), share, max(0.0, share - 0.05), min(1.0, share + 0.05))

    kept = StorageProbe(
        "/data", "/data", "nfs", "h", 1, 1.0, MB, 1, 0, False, False, 0,
        small=scaling(4096, page_s), large=scaling(131072, window_s),
        base_s=page_s, s_per_byte=(window_s - page_s) / (131072 - 4096),
    )  # fmt: skip
    return kept.as_dict()
