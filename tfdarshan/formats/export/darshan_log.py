"""A session as a Darshan log, for PyDarshan and everything else that reads such logs.

Each process of the session is one rank of the log, its owner rank 0: Darshan itself would write one log per
process of a job without MPI, and a session is one job. The log says what Darshan's own would, by Darshan's
definitions; `Exported.left_out` names what the session has and the format does not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.durable.output_file import check_output
from tfdarshan.errors import ConfigurationError
from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.dxt import dxt_records
from tfdarshan.formats.export.file_records import (
    SHARED,
    Rank,
    counter_records,
    name_records,
    number_processes,
)
from tfdarshan.formats.export.heatmap import MODULES, choose_bins, heatmap_name, heatmap_records
from tfdarshan.formats.export.job_region import Job, is_readable, job_region
from tfdarshan.formats.export.log_file import log_file
from tfdarshan.native import _bridge
from tfdarshan.native.versions import VERSION
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.terminal.progress import counter

# How often each table is read: both modules' counters; their heatmaps, and the POSIX segments.
PASSES = {"files": 2, "events": 3}
ALWAYS_LEFT_OUT = (
    "segments of other calls than POSIX reads and writes, and their threads and kinds of call",
    "failed calls",
    "copies inside the kernel, unlinks, truncates and the length of mappings",
    "the kernel's own figures",
)


@dataclass(frozen=True)
class Exported:
    """What was written: `records` counts the files that have a name, `left_out` says what the log lacks."""

    path: Path
    processes: int
    records: int
    left_out: tuple[str, ...]


def export_darshan(
    session: SessionData,
    path: str | os.PathLike[str],
    *,
    process: int | str | None = None,
    force: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Exported:
    """Write a session as a Darshan log.

    Args:
        session: The session.
        path: The log to write.
        process: The id of the process to write, with "HOST:" before it if several hosts have it; None: all.
        force: Replace a file that is there.
        progress: Told the rows read, and all that will be: of each table once for each module made of it.

    Raises:
        ConfigurationError: The session has no such process, or several.
        SessionDataError: A table is damaged or missing.
        StorageError: The file is there, or the log cannot be written.
    """
    path = Path(path)
    check_output(path, force=force)
    processes = _chosen(session, process)
    names: dict[int, bytes] = {}
    ranks = number_processes(processes, names)
    files = len(names)
    names |= {_bridge.record_id(heatmap_name(module)): heatmap_name(module) for module in MODULES}
    job = _job(session, processes, ranks)
    dropped = any(meta["counts"].get("events_dropped") for meta in _metas(processes))
    over_cap = any(meta["counts"].get("files_over_cap") for meta in _metas(processes))
    bins = choose_bins((job.end_realtime_ns - job.start_realtime_ns) / 1e9)
    was_read = counter(
        progress, sum(PASSES[table] * each.rows(table) for each in processes for table in PASSES)
    )
    with log_file(path) as log:
        log.add_job(job_region(job))
        log.add_names(name_records(names))
        log.add_module("POSIX", counter_records("POSIX", ranks, was_read), partial=over_cap)
        log.add_module("STDIO", counter_records("STDIO", ranks, was_read), partial=over_cap)
        log.add_module("DXT_POSIX", dxt_records(ranks, was_read), partial=dropped)
        log.add_module("HEATMAP", heatmap_records(ranks, bins, was_read), partial=dropped)
    return Exported(
        path,
        sum(len(rank.numbers) for rank in ranks),
        files,
        (*_left_out(ranks), *_unreadable_mounts(processes)),
    )


def _chosen(session: SessionData, wanted: int | str | None) -> list[ProcessData]:
    if wanted is None:
        return session.processes
    host, _, pid = str(wanted).rpartition(":")
    chosen = [
        process
        for process in session.processes
        if str(process.pid) == pid and host in ("", process.meta["host"])
    ]
    if not chosen:
        known = ", ".join(dict.fromkeys(str(process.pid) for process in session.processes))
        raise ConfigurationError(f"the session {session.path} has no process {wanted}: give one of {known}.")
    places = list(dict.fromkeys(f"{process.meta['host']}:{pid}" for process in chosen))
    if len(places) > 1:
        raise ConfigurationError(
            f"the session {session.path} has a process {pid} on {len(places)} hosts: give one of "
            f"{', '.join(places)}."
        )
    return chosen


def _job(session: SessionData, processes: Sequence[ProcessData], ranks: Sequence[Rank]) -> Job:
    metas = _metas(processes)
    first, imported = metas[0], metas[0].get("darshan", {})
    start_ns = int(first.get("origin_realtime_ns") or 0)
    return Job(
        user=imported.get("uid", session.path.stat().st_uid),
        job=imported.get("job", first["pid"]),
        processes=imported.get("processes", len(processes)),
        start_realtime_ns=start_ns,
        end_realtime_ns=start_ns + max(meta["start_ns"] + meta["duration_ns"] for meta in metas),
        command=first.get("command", ""),
        mounts=_mounts(processes),
        metadata=_metadata(session, metas, ranks),
    )


def _metadata(session: SessionData, metas: Sequence[dict[str, Any]], ranks: Sequence[Rank]) -> dict[str, str]:
    engine = metas[0].get("engine", {})
    pids = _pids(ranks)
    host, *others = {rank.host_of(number) for rank in ranks for number in rank.numbers.values()}
    is_known = not others and host != darshan_format.UNKNOWN_HOST
    return {
        # PyDarshan's summary wants it; no version of Darshan wrote this log.
        "lib_ver": f"tfdarshan {VERSION}",
        "tfdarshan_session": str(metas[0].get("session", session.path.name)),
        "tfdarshan_engine": " ".join(filter(None, (engine.get("name"), engine.get("version")))),
        # Readers take it for the host of all ranks.
        **({darshan_format.ONLY_HOST: host} if is_known else {}),
        **({"tfdarshan_pids": " ".join(map(str, pids))} if pids != [*range(len(pids))] else {}),
    }


def _pids(ranks: Sequence[Rank]) -> list[int]:
    """Return the process id of each rank; a rank that has no records has its own number."""
    pids = {number: pid for rank in ranks for pid, number in rank.numbers.items() if number != SHARED}
    return [pids.get(number, number) for number in range(max(pids, default=-1) + 1)]


def _mounts(processes: Sequence[ProcessData]) -> list[tuple[str, str]]:
    """Return the mount points, those of the session's files first: a log has room for some only."""
    used = _used_mounts(processes)
    known = {
        mount["point"]: mount["fs_type"] for meta in _metas(processes) for mount in meta.get("mounts", ())
    }
    return sorted(
        ((point, fs_type) for point, fs_type in known.items() if point and fs_type),
        key=lambda mount: mount[0] not in used,
    )


def _used_mounts(processes: Sequence[ProcessData]) -> set[str]:
    """Return the mount points that have files of the session."""
    used: set[str] = set()
    for process in processes:
        used.update(process.table("files", ["mount_point"])["mount_point"].unique().to_pylist())
    return used


def _unreadable_mounts(processes: Sequence[ProcessData]) -> list[str]:
    """Return a note for each mount point that Darshan's tools do not match."""
    return [
        f"the name of the mount {point!r}: Darshan's tools read no blank in it, and count its files to the "
        "mount above"
        for point in sorted(_used_mounts(processes))
        if not is_readable(point)
    ]


def _left_out(ranks: Sequence[Rank]) -> tuple[str, ...]:
    segments = sum(int(rank.process.meta["counts"]["segments"]) for rank in ranks)
    dropped = sum(int(rank.process.meta["counts"].get("events_dropped") or 0) for rank in ranks)
    if segments and dropped:
        return (*ALWAYS_LEFT_OUT, f"{dropped:,} segments that the session had no room for")
    if not segments:
        return (*ALWAYS_LEFT_OUT, "DXT_POSIX and HEATMAP: the session has no segments")
    return ALWAYS_LEFT_OUT


def _metas(processes: Sequence[ProcessData]) -> list[dict[str, Any]]:
    return [process.meta for process in processes]
