"""Makes a session of a Darshan log, so that everything that reads sessions works on it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.errors import SessionDataError, StorageError, reason
from tfdarshan.formats.importing.dxt_segments import no_segments, read_segments
from tfdarshan.formats.importing.fifo_records import find_no_files, rows_of, without
from tfdarshan.formats.importing.file_rows import Hosts, count_zero_reads, write_file_rows
from tfdarshan.formats.importing.imported_log import ImportedLog
from tfdarshan.formats.importing.layers import write_layers
from tfdarshan.formats.importing.log_regions import LogRegions
from tfdarshan.formats.importing.process_meta import not_known, process_meta
from tfdarshan.formats.importing.pydarshan import believed, incomplete, read_content
from tfdarshan.formats.importing.ranks import RANK_LIMIT, RankData, RankSegments, split_ranks
from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import ThreadInfo
from tfdarshan.sessions import schema
from tfdarshan.sessions.session_directory import (
    META_SUFFIX,
    checked_logdir,
    make_session_directory,
    write_json,
)
from tfdarshan.sessions.writing.overview_table import Overview
from tfdarshan.sessions.writing.tables import Process, write_events, write_overview


@dataclass(frozen=True)
class Imported:
    """The session that was made: `notes` says what about the log the session cannot show."""

    path: Path
    processes: int
    files: int
    segments: int
    notes: tuple[str, ...]


def import_darshan(path: str | os.PathLike[str], logdir: str | os.PathLike[str]) -> Imported:
    """Make a session of a Darshan log.

    Args:
        path: The log, of log version 3.00 to 3.41 (Darshan 3.0 to 3.5).
        logdir: The logdir to write the session into.

    Raises:
        ConfigurationError: PyDarshan is not installed, or the logdir is no local path.
        SessionDataError: The log is missing, damaged, or of a version that is not known.
        StorageError: The session cannot be written.
    """
    path = Path(path)
    log = LogRegions(path)
    content = believed(read_content(log))
    source = _without_no_files(ImportedLog(path.absolute(), log, content, read_segments(log)))
    if not any(len(part.record) for part in source.content.records.values()):
        raise SessionDataError(
            f"the Darshan log {path} has no POSIX or STDIO records, so there is nothing "
            "to import: give another log."
        )
    target = checked_logdir(logdir)
    directory = make_session_directory(target, time.localtime(source.content.start_realtime_ns // 1e9))
    try:
        return _write(directory, source)
    except OSError as error:
        shutil.rmtree(directory, ignore_errors=True)
        raise StorageError(
            f"the session {directory} cannot be written: {reason(error)}; choose another --logdir."
        ) from error
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _without_no_files(source: ImportedLog) -> ImportedLog:
    """Take FIFOs and sockets out of the records and segments: they stay as rows of the layers table."""
    records, names, segments = source.content.records, source.log.names, source.segments
    left_out = find_no_files(records, names)
    if not left_out:
        return source
    numbers = np.array(list(left_out), np.uint64)
    content = dataclasses.replace(source.content, records=without(records, left_out))
    if segments is not None:
        segments = segments.chosen(~np.isin(segments.record, numbers))
    rows = tuple(rows_of(records, left_out, names))
    return dataclasses.replace(source, content=content, segments=segments, no_files=rows)


def _write(directory: Path, source: ImportedLog) -> Imported:
    content = source.content
    pids = [int(word) for word in content.metadata.get("tfdarshan_pids", "").split() if word.isdecimal()]
    processes, lost = split_ranks(content.records, source.segments, pids)
    notes = not_known(source, processes)
    metas = []
    for process in processes:
        meta = process_meta(directory, source, process, notes, _write_tables(directory, source, process))
        metas.append((process, meta))
    metas[0][1]["owner"] = True
    recorded = sum(len(process.pids) for process in processes)
    metas[0][1]["children"] = {"recorded": recorded - 1, "silent": 0, "unreadable": []}
    first = f"{_stem(source, processes[0])}.layers.parquet"
    layers = write_layers(directory / first, source.log, source.no_files)
    if layers:
        metas[0][1]["tables"]["layers"] = {"file": first, "rows": layers}
    # They are of the log, and of no process.
    metas[0][1]["bounds"] = metas[0][1]["session_notes"] = _bounds(source, processes[0], lost)
    for process, meta in reversed(metas):
        write_json(directory / f"{_stem(source, process)}{META_SUFFIX}", meta)
    files = len({record for part in content.records.values() for record in part.record.tolist()})
    segments = sum(len(process.segments) for process in processes)
    return Imported(directory, content.processes, files, segments, tuple(notes))


def _write_tables(directory: Path, source: ImportedLog, process: RankData) -> dict[str, Any]:
    stem, hosts = _stem(source, process), Hosts(source.host_of, source.mounts)
    records = source.content.records
    segments = source.segments if source.segments is not None else no_segments()
    zero_reads = count_zero_reads(process, records["POSIX"], segments) if "POSIX" in records else None
    files = write_file_rows(
        directory / f"{stem}.files.parquet", process, records, source.log.names, hosts, zero_reads
    )
    names = [operation.name for operation in _bridge.operations()]
    traced = RankSegments(process, segments, (names.index("read"), names.index("write")))
    threads = _threads(traced)
    overview = Overview(source.duration_ns, threads, len(names))
    events = write_events(
        traced,
        Process(process.pid, source.host_of(process.rank), 0, ()),
        directory / f"{stem}.events.parquet",
        overview,
    )
    bins = write_overview(overview, directory / f"{stem}.overview.parquet")
    tables: dict[str, Any] = {
        name: {"file": f"{stem}.{name}.parquet", "rows": rows}
        for name, rows in (("files", files), ("events", events), ("overview", bins))
    }
    tables["overview"] |= {"bins": schema.OVERVIEW_BINS, "bin_ns": overview.bin_ns, "start_ns": 0}
    return tables


def _bounds(source: ImportedLog, first: RankData, lost: int) -> list[str]:
    bounds = incomplete(source.log.partial, source.content)
    if first.is_merged:
        bounds.append(
            f"{len(first.pids):,} ranks share one set of tables, for they are more than {RANK_LIMIT}: "
            "the rows name the rank"
        )
    if lost:
        bounds.append(f"{lost:,} segments have no POSIX record and were left out")
    return bounds


def _threads(traced: RankSegments) -> list[ThreadInfo]:
    tids, events = np.unique(traced.tids, return_counts=True)
    return [
        ThreadInfo(tid, "", count, 0, {}) for tid, count in zip(tids.tolist(), events.tolist(), strict=True)
    ]


def _stem(source: ImportedLog, process: RankData) -> str:
    # Ranks of one host may have had one process number, one after the other or in containers of their own.
    return f"{'ranks' if process.is_merged else source.host_of(process.rank)}.{process.pid}.{process.rank}"
