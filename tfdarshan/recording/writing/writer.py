"""Writes a session: each process's spool becomes its tables and, last, its metadata.

The owner's metadata is the last file of all: a session directory that has it is complete.
"""

from __future__ import annotations

import dataclasses
import errno
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.durable.durable_file import sync_folder
from tfdarshan.errors import SessionDataError
from tfdarshan.frameworks.batch_rows import read_rows
from tfdarshan.frameworks.noted import Noted, noted
from tfdarshan.native import _bridge, _extension
from tfdarshan.native.process_identity import ProcessIdentity, process_identity
from tfdarshan.native.process_reader import ProcessReader
from tfdarshan.native.spool_reader import OTHER_FIELDS, Mount, SpoolInfo, SpoolReader, ThreadInfo
from tfdarshan.native.versions import engine
from tfdarshan.recording.asked_clock import kept
from tfdarshan.recording.memory_cap_limit import MIB
from tfdarshan.recording.writing.bypasses import bypass_sentences
from tfdarshan.recording.writing.children import known_children
from tfdarshan.recording.writing.gathering import Gathering, gathering, is_small
from tfdarshan.recording.writing.job_parts import Part, drafts, entries_of_rank, parts_of_job
from tfdarshan.recording.writing.started_programs import StartedPrograms
from tfdarshan.recording.writing.unmet_patterns import UnmetPatterns
from tfdarshan.sessions import schema
from tfdarshan.sessions.process_role import HELPER, MAIN, Role, WorkerNumbers
from tfdarshan.sessions.session_directory import META_SUFFIX, Marker, write_json
from tfdarshan.sessions.writing.overview_table import Overview
from tfdarshan.sessions.writing.tables import (
    Process,
    write_batches,
    write_events,
    write_faults,
    write_files,
    write_overview,
    write_steps,
    write_thinned,
    write_untraced,
)
from tfdarshan.terminal.progress import LONG_WORK_S, Progress, counter
from tfdarshan.units import plural

if TYPE_CHECKING:
    from tfdarshan.recording.libdarshan.darshan_overlay import DarshanCounts, OverlayReport

KERNEL_FIELDS = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes")
EARLIER_FIELDS = ("rchar", "wchar", "read_bytes", "write_bytes")
TIME_FIELDS = (
    "io_ns", "read_ns", "write_ns", "meta_ns", "thread_ns", "first_event_ns", "last_event_ns",
    "first_dropped_ns",
)  # fmt: skip
COUNT_FIELDS = (
    "files", "events", "segments", "events_dropped", "files_over_cap", "spool_bytes", "spool_full", "damaged"
)  # fmt: skip
CHILDREN_FIELDS = ("recorded", "silent", "unreadable", "joined", "gathered", "silent_io")


@dataclass(frozen=True)
class Written:
    """What became of the spools: `silent` children recorded nothing, `unreadable` ones are named.

    `joined` of those that recorded were started as programs, not forked; `gathered` of them share files.
    `unmet` names the path patterns that nothing met; "" if there are none.
    """

    recorded: int
    silent: int
    unreadable: tuple[str, ...]
    joined: int = 0
    gathered: int = 0
    silent_io: Mapping[str, int] = field(default_factory=dict)
    unmet: str = ""


def write_session(
    directory: Path,
    marker: Marker,
    extra: dict[str, Any] | None = None,
    darshan: DarshanCounts | None = None,
    names: Mapping[int, str] | None = None,
) -> Written:
    """Write all processes of a session, children first, in the order in which they were started.

    Args:
        directory: The session directory to write into.
        marker: What the marker says.
        extra: Entries added to the owner's metadata: of ranks that it started, what is of all of them.
        darshan: What libdarshan counted of the owner, where it did.
        names: What multiprocessing calls processes, by their numbers.

    Raises:
        SessionDataError: The owner's spool cannot be read.
        OSError: A file could not be written. What is there has its full name only if it is whole.
    """
    spool_directory = Path(marker.spool_directory)
    owner = spool_directory / f"{marker.pid}.spool"
    with SpoolReader(owner) as reader:
        marker = _with_clock(marker, reader.info())
        others = [path for path in sorted(spool_directory.glob("*.spool")) if path != owner]
        unmet = UnmetPatterns(marker.options)
        programs = StartedPrograms(spool_directory, marker.pid)
        known = known_children(others, names or {})
        for child in known:
            if child.identity is not None:
                programs.saw(child.identity)
        processes = read_rows(spool_directory)
        with drafts(parts_of_job(directory, marker, known, processes)) as parts:
            counted = _counted_of_ranks(parts)
            recorder = Recorder(process_identity(owner), reader, darshan, extra or {}, counted)
            silent = {"wchar": programs.noted_bytes}
            written = []
            for part in parts:
                written.append(_write_children(part, recorder.identity, unmet, programs, silent))
                silent = {}
            unmet.saw(reader)
            said = unmet.sentence()
            programs.add_other_user(reader.other_user_programs())
            entries: dict[str, Any] = {"unmet_patterns": unmet.by_option()}
            if marker.options.get("programs"):
                entries["programs"] = programs.block()
            elif not_recorded := programs.block_of_others():
                entries["programs"] = not_recorded
            notes = [sentence for sentence in (*marker.notes, said, *programs.sentences()) if sentence]
            for part, children in zip(parts, written, strict=True):
                of_batches = noted(processes, spool_directory, part.pid, marker.start_realtime_ns)
                _write_owner(part, recorder, of_batches, children, entries, notes)
                entries, notes = {"unmet_patterns": {}}, []
    sync_folder(directory)
    return _together(written, said)


@dataclass(frozen=True)
class Recorder:
    """The process that recorded the session.

    Attributes:
        identity: Which one it is.
        reader: Its spool.
        darshan: What libdarshan counted of it.
        extra: Entries for the metadata.
        counted: What the kernel counted of ranks that it started and waited for, which its own figures hold.
    """

    identity: ProcessIdentity
    reader: SpoolReader
    darshan: DarshanCounts | None
    extra: dict[str, Any]
    counted: Mapping[str, int]


def _counted_of_ranks(parts: Sequence[Part]) -> Counter[str]:
    """Add up what the kernel counted of processes that own a part and were started, and waited for."""
    found = Counter[str]()
    for trainer in (part.trainer for part in parts if part.trainer is not None):
        with SpoolReader(trainer.spool) as reader:
            info = reader.info()
        if _counted(info, records=False) == "parent" and info.kernel_valid:
            found += Counter(_picked(info, KERNEL_FIELDS)) + Counter(_earlier(info)) + Counter(_own(info))
    return found


def _together(written: Sequence[Written], unmet: str) -> Written:
    """Add up what became of the children of all parts."""
    silent_io = sum((Counter(one.silent_io) for one in written), Counter[str]())
    recorded, silent, joined, gathered = (
        sum(getattr(one, name) for one in written) for name in ("recorded", "silent", "joined", "gathered")
    )
    unreadable = tuple(why for one in written for why in one.unreadable)
    return Written(recorded, silent, unreadable, joined, gathered, dict(silent_io), unmet)


def _write_owner(
    part: Part,
    recorder: Recorder,
    of_batches: Noted,
    written: Written,
    entries: dict[str, Any],
    notes: list[str],
) -> None:
    """Write the process that a part is about; before it the recorder, if that only starts ranks."""
    marker = dataclasses.replace(part.marker, notes=[*notes, *of_batches.bounds])
    children = {name: getattr(written, name) for name in CHILDREN_FIELDS}
    trainer = part.trainer
    if trainer is None or trainer.identity is None:
        entries = entries | {"children": children} | of_batches.meta | recorder.extra
        about = _about(recorder.identity, Role(MAIN))
        write_process(
            part.directory, marker, recorder.reader, entries, recorder.darshan, about=about,
            of_batches=of_batches, counted_elsewhere=recorder.counted,
        )  # fmt: skip
        return
    if part.has_launcher:
        write_process(
            part.directory, marker, recorder.reader, None, recorder.darshan,
            about=_about(recorder.identity, Role(HELPER, name="launcher")),
            counted_elsewhere=recorder.counted,
        )  # fmt: skip
        children["recorded"] += 1
    began_ns, info = trainer.identity.start_by_clock_of(recorder.identity), recorder.reader.info()
    # Of a job people know the command that they have typed.
    entries = entries | {"children": children, "command": info.command} | of_batches.meta
    entries |= entries_of_rank(part, recorder.extra, began_ns, info.duration_ns / 1e9)
    with SpoolReader(trainer.spool, start_realtime_ns=began_ns) as reader:
        write_process(
            part.directory, marker, reader, entries, name=trainer.spool.stem,
            about=_about(trainer.identity, Role(MAIN)), of_batches=of_batches,
        )  # fmt: skip


def _with_clock(marker: Marker, info: SpoolInfo) -> Marker:
    """Return the marker with the recording's start and what a killed rank knew of the others' clocks."""
    marker = dataclasses.replace(marker, start_realtime_ns=info.start_realtime_ns)
    clock = (marker.job or {}).get("clock")
    if not clock or clock.get("peer"):
        return marker
    begun_ns = info.start_realtime_ns - clock["realtime_ns"] + clock["monotonic_ns"]
    peer = kept(Path(marker.spool_directory), marker.boot_id or marker.host, begun_ns + info.duration_ns)
    if peer is None:
        return marker
    return dataclasses.replace(marker, job={**(marker.job or {}), "clock": {**clock, "peer": peer}})


def _about(identity: ProcessIdentity, role: Role) -> dict[str, Any]:
    """Return the entries of the metadata that say which process it is."""
    return {"process_start": identity.process_start, "role": dataclasses.asdict(role)}


def _write_children(
    part: Part,
    recorder: ProcessIdentity,
    unmet: UnmetPatterns,
    programs: StartedPrograms,
    silent_before: Mapping[str, int],
) -> Written:
    directory, marker, children = part.directory, part.marker, part.children
    silent, recorded, joined, unreadable = 0, 0, 0, []
    silent_io = Counter(silent_before)
    numbers = WorkerNumbers()
    if part.trainer is not None:
        with SpoolReader(part.trainer.spool) as reader:
            unmet.saw(reader)
            programs.add_other_user(reader.other_user_programs())
    with gathering(directory, marker.host) as together, _progress(len(children)) as wrote:
        for child in children:
            if child.is_blank:
                silent += 1
                continue
            try:
                # The clock that says the time of day may have been set since the session began.
                began_ns = None if child.identity is None else child.identity.start_by_clock_of(recorder)
                with SpoolReader(child.spool, start_realtime_ns=began_ns) as reader:
                    unmet.saw(reader)
                    programs.add_other_user(reader.other_user_programs())
                    info = reader.info()
                    if reader.is_program():
                        programs.add(info.command)
                    threads = _real_threads(reader, info)
                    if not reader.missed_opens() and not reader.bypasses() and _is_silent(info, threads):
                        silent += 1
                        silent_io += _silent_io(info)
                        continue
                    about = {}
                    if child.identity is not None and child.role is not None:
                        about = _about(child.identity, numbers.numbered(child.role))
                    if is_small(info, reader):
                        _write_small(together, marker, reader, info, threads, about)
                    else:
                        write_process(directory, marker, reader, None, name=child.spool.stem, about=about)
                    recorded += 1
                    joined += reader.joined()
            except SessionDataError as error:
                unreadable.append(str(error))
                unmet.saw_unreadable()
            wrote(1)
    return Written(recorded, silent, tuple(unreadable), joined, together.count, dict(silent_io))


@contextmanager
def _progress(processes: int) -> Iterator[Callable[[int], None]]:
    """Yield what is told of processes that are written."""
    with Progress("tfdarshan: writing processes", after_s=LONG_WORK_S) as progress:
        yield counter(progress, processes)


def _write_small(
    together: Gathering,
    marker: Marker,
    reader: SpoolReader,
    info: SpoolInfo,
    threads: list[ThreadInfo],
    about: Mapping[str, Any],
) -> None:
    """Write a process that shares its files with others."""
    process = Process(info.pid, marker.host, _start_ns(marker, info), reader.mounts(info.mount_count))
    meta = _process_meta(marker, info, threads, process.mounts, reader, owner=False)
    meta["tables"] = together.add_tables(process, reader, info)
    together.add({**meta, **about})


def write_process(
    directory: Path,
    marker: Marker,
    reader: ProcessReader,
    owner: dict[str, Any] | None,
    darshan: DarshanCounts | None = None,
    *,
    here: bool = True,
    name: str | None = None,
    about: Mapping[str, Any] | None = None,
    of_batches: Noted | None = None,
    counted_elsewhere: Mapping[str, int] | None = None,
) -> None:
    """Write one process, its metadata last.

    Args:
        directory: The session directory to write into.
        marker: What the marker says.
        reader: What the process recorded.
        owner: Entries that only the metadata of the session's owner has; None for another process.
        darshan: What libdarshan counted of it, where it did.
        here: The process ran on this machine, whose files may be looked at.
        name: Of its files after the host's: its number by default; a program that another one of the same
            process has begun by exec has one of its own.
        about: Entries that say which process it is, and what its part in the session.
        of_batches: What was noted of its steps and of the batches that it took.
        counted_elsewhere: Of the recorder, what the kernel counted for it of ranks that it started.

    Raises:
        OSError: A file could not be written.
    """
    info = reader.info()
    threads = _real_threads(reader, info)
    stem = directory / f"{marker.host}.{name or info.pid}"
    process = Process(info.pid, marker.host, _start_ns(marker, info), reader.mounts(info.mount_count), here)
    records = owner is not None or counted_elsewhere is not None
    meta = _process_meta(
        marker, info, threads, process.mounts, reader, owner=owner is not None, records=records
    )
    for figure, count in (counted_elsewhere or {}).items():
        meta["kernel"][figure] = max(meta["kernel"][figure] - count, 0)
    with _overlay_report(darshan, reader, info) as overlay:
        meta["tables"] = _write_tables(stem, process, info, threads, reader, overlay, of_batches)
    if here and "faults" in meta["tables"] and isinstance(reader, SpoolReader):
        from tfdarshan.recording.writing.file_format import formats_of_faults

        meta["mapping"]["formats"] = formats_of_faults(reader, reader.faults(), process.mounts)
    meta |= {**(about or {}), **(owner or {})}
    if overlay is not None:
        overlay.finish()
        meta |= {"verify": overlay.verified(), "engine": meta["engine"] | overlay.counts()}
        meta["bounds"] = [*meta["bounds"], *overlay.bounds()]
    write_json(Path(f"{stem}{META_SUFFIX}"), meta)


@contextmanager
def _overlay_report(
    darshan: DarshanCounts | None, reader: ProcessReader, info: SpoolInfo
) -> Iterator[OverlayReport | None]:
    """Yield what lays libdarshan's counters over the tables; None where it counted nothing."""
    if darshan is None or not isinstance(reader, SpoolReader):
        yield None
        return
    from tfdarshan.recording.libdarshan.darshan_overlay import OverlayReport, darshan_overlay
    from tfdarshan.recording.libdarshan.expected_rows import SeenFold

    overlay = darshan_overlay(darshan.records, info.start_realtime_ns / 1e9)
    with SeenFold(reader) as seen:
        yield OverlayReport(overlay, darshan.verification, seen)


def _write_tables(
    stem: Path,
    process: Process,
    info: SpoolInfo,
    threads: list[ThreadInfo],
    reader: ProcessReader,
    overlay: OverlayReport | None,
    of_batches: Noted | None,
) -> dict[str, Any]:
    overview = Overview(info.duration_ns, threads, len(_bridge.operations()))
    files, events = Path(f"{stem}.files.parquet"), Path(f"{stem}.events.parquet")
    with Progress(f"tfdarshan: writing process {process.pid}", after_s=LONG_WORK_S) as progress:
        wrote = counter(progress, info.file_rows + info.segments)
        rows = {
            "files": write_files(reader, process, files, overlay, wrote),
            "events": write_events(reader, process, events, overview, wrote),
        }
    rows["overview"] = write_overview(overview, Path(f"{stem}.overview.parquet"))
    if isinstance(reader, SpoolReader) and reader.thinned()[0]:
        batches = reader.thinned_batches(schema.EVENTS_ROW_GROUP)
        rows["thinned"] = write_thinned(batches, process, Path(f"{stem}.thinned.parquet"))
    if isinstance(reader, SpoolReader) and len((sums := reader.untraced())["calls"]):
        rows["untraced"] = write_untraced(sums, process, Path(f"{stem}.untraced.parquet"))
    faults = reader.faults() if isinstance(reader, SpoolReader) else None
    if faults is not None and len(faults.start_ns):
        rows["faults"] = write_faults(faults, process, Path(f"{stem}.faults.parquet"))
    if of_batches is not None and of_batches.batches is not None:
        rows["batches"] = write_batches(of_batches.batches, Path(f"{stem}.batches.parquet"))
    if of_batches is not None and of_batches.steps is not None:
        steps, origin_ns = of_batches.steps, info.start_realtime_ns - process.start_ns
        path = Path(f"{stem}.steps.parquet")
        rows["steps"] = write_steps(steps.blocks, steps.sources, origin_ns, path)
    tables: dict[str, Any] = {
        name: {"file": f"{stem.name}.{name}.parquet", "rows": count} for name, count in rows.items()
    }
    tables["overview"] |= {
        "bins": schema.OVERVIEW_BINS,
        "bin_ns": overview.bin_ns,
        "start_ns": process.start_ns,
    }
    return tables


def _process_meta(
    marker: Marker,
    info: SpoolInfo,
    threads: list[ThreadInfo],
    mounts: Sequence[Mount],
    reader: ProcessReader,
    *,
    owner: bool,
    records: bool = False,
) -> dict[str, Any]:
    return {
        "schema_version": schema.SCHEMA_VERSION,
        "session": marker.session,
        "owner": owner,
        "host": marker.host,
        "pid": info.pid,
        "parent_pid": info.parent_pid,
        "joined": isinstance(reader, SpoolReader) and reader.joined(),
        "command": info.command,
        "stopped": bool(info.stopped),
        "origin_realtime_ns": marker.start_realtime_ns,
        "start_realtime_ns": info.start_realtime_ns,
        "start_ns": _start_ns(marker, info),
        "duration_ns": info.duration_ns,
        "engine": engine(),
        "versions": marker.versions,
        "options": marker.options,
        **({"job": marker.job} if marker.job is not None else {}),
        **({"started_by": marker.started_by} if owner and marker.started_by else {}),
        "counts": _picked(info, COUNT_FIELDS),
        "time": _picked(info, TIME_FIELDS),
        "kernel": {
            "valid": bool(info.kernel_valid),
            "counted": _counted(info, records=records),
            **_picked(info, KERNEL_FIELDS),
            **({} if records else {"earlier": _earlier(info), "own": _own(info)}),
        },
        "other": _other_traffic(threads),
        "threads": [
            {"tid": t.tid, "name": t.name, "events": t.events, "events_dropped": t.events_dropped}
            for t in threads
        ],
        "failures": [
            dataclasses.asdict(f) | {"name": errno.errorcode.get(f.error, str(f.error))}
            for f in reader.failures()
        ],
        **_mapping(reader),
        **_folding(reader),
        **_thinned(reader),
        "mounts": [dict(vars(mount)) for mount in mounts],
        "operations": _operations(),
        "bounds": [
            *(marker.notes if owner else ()),
            *_bounds_reached(marker, info, _skipped(threads)),
            *_missed(reader),
            *(bypass_sentences(reader.bypasses()) if isinstance(reader, SpoolReader) else ()),
        ],
        **({"session_notes": marker.notes} if owner else {}),
        **({"copies": marker.copies} if owner and marker.copies else {}),
    }


@lru_cache(maxsize=1)
def _operations() -> list[dict[str, Any]]:
    return [dataclasses.asdict(operation) for operation in _bridge.operations()]


def _mapping(reader: ProcessReader) -> dict[str, Any]:
    """Return the entry that says how mapped files were watched; none where there were none."""
    found = reader.mapping() if isinstance(reader, SpoolReader) else None
    return {} if found is None else {"mapping": dataclasses.asdict(found)}


def _folding(reader: ProcessReader) -> dict[str, Any]:
    """Return the entry that says who folded calls while they were recorded; none where nobody did."""
    thread_ns, by_callers = reader.folding() if isinstance(reader, SpoolReader) else (0, 0)
    if not thread_ns and not by_callers:
        return {}
    return {"folding": {"thread_ns": thread_ns, "by_callers": by_callers}}


def _thinned(reader: ProcessReader) -> dict[str, Any]:
    """Return the entry on thinned calls; none if there are none."""
    calls, resolution_ns = reader.thinned() if isinstance(reader, SpoolReader) else (0, 0)
    return {"thinned": {"resolution_ns": resolution_ns}} if calls else {}


def _bounds_reached(marker: Marker, info: SpoolInfo, skipped: int) -> list[str]:
    options = marker.options
    bounds = []
    if info.events_dropped and options.get("trace"):
        bounds.append(
            f"{info.events_dropped:,} of {info.events:,} segments were dropped: the trace was full "
            f"({_bound(info, f'trace_memory_mb = {info.trace_limit_bytes // MIB}{_part(marker)}')}); "
            "the counters have all of them"
        )
    if info.files_over_cap:
        least = "at least " if info.files_over_cap >= _extension.core().lib.TFD_OVERFLOW_NAMES else ""
        bounds.append(
            f"{least}{plural(info.files_over_cap, 'file')} found no room for a row "
            f"({_bound(info, f'memory_cap_mb = {info.capacity_bytes // MIB}{_part(marker)}')}): "
            "they share one, and the totals have all of them"
        )
    if info.spool_full and not info.files_over_cap and not info.events_dropped:
        bounds.append("the spool was full for part of the session")
    if skipped:
        bounds.append(
            f"{skipped:,} calls were not recorded: made by signal handlers inside the recorder, or with the "
            "spool full"
        )
    if info.damaged:
        bounds.append("damaged parts of the spool were left out")
    return bounds


def _bound(info: SpoolInfo, option: str) -> str:
    """Return the bound that counted: the memory of the job's control group if that ended first."""
    ended = info.spool_full == _extension.core().lib.TFD_FULL_MEMORY
    return "the job's control group had no more memory to spare" if ended else option


def _missed(reader: ProcessReader) -> list[str]:
    """Return which opens did not wait for the process to join the session; the kernel counts them."""
    missed = reader.missed_opens() if isinstance(reader, SpoolReader) else 0
    if not missed:
        return []
    was = "was" if missed == 1 else "were"
    return [f"up to {plural(missed, 'open')} {was} not recorded: made while the process took long to join"]


def _part(marker: Marker) -> str:
    ranks = (marker.job or {}).get("local_size") or 1
    return f" for each of {ranks} ranks" if ranks > 1 else ""


def _skipped(threads: list[ThreadInfo]) -> int:
    calls = _other_traffic(threads).get("skipped", {})
    return sum(calls.get(field, 0) for field in ("reads", "writes", "other_calls"))


def _counted(info: SpoolInfo, *, records: bool) -> str:
    """Describe where the kernel counts a process's bytes: a child that was waited for, in its parent's.

    Of one that is gone nobody knows, but if its parent could not wait for it.
    """
    return "own" if records or info.uncounted or Path(f"/proc/{info.pid}").exists() else "parent"


def _earlier(info: SpoolInfo) -> dict[str, int]:
    """Return what the kernel had counted for a process when its recording began."""
    return {name: int(getattr(info, f"earlier_{name}")) for name in EARLIER_FIELDS}


def _own(info: SpoolInfo) -> dict[str, int]:
    """Return what the recorder itself moved in a process, which the kernel counts, too."""
    return {"rchar": info.own_rchar, "wchar": info.own_wchar}


def _silent_io(info: SpoolInfo) -> Counter[str]:
    """Return what the parent's figures of the kernel hold of a child that recorded nothing."""
    if _counted(info, records=False) == "own":
        return Counter()
    return Counter(_earlier(info)) + Counter(_own(info))


def _is_silent(info: SpoolInfo, threads: list[ThreadInfo]) -> bool:
    return info.events == 0 and not any(any(kind.values()) for kind in _other_traffic(threads).values())


def _real_threads(reader: ProcessReader, info: SpoolInfo) -> list[ThreadInfo]:
    """Return the threads that did something: one entry of a spool stands for threads it has no room for."""
    return [
        thread
        for thread in reader.threads(info.threads)
        if thread.tid or thread.events or any(any(kind.values()) for kind in thread.other.values())
    ]


def _other_traffic(threads: list[ThreadInfo]) -> dict[str, dict[str, int]]:
    totals: dict[str, Counter[str]] = {}
    for thread in threads:
        for kind, fields in thread.other.items():
            totals.setdefault(kind, Counter()).update(fields)
    return {kind: {field: fields[field] for field in OTHER_FIELDS} for kind, fields in totals.items()}


def _start_ns(marker: Marker, info: SpoolInfo) -> int:
    return info.start_realtime_ns - marker.start_realtime_ns


def _picked(info: SpoolInfo, names: tuple[str, ...]) -> dict[str, int]:
    return {name: int(getattr(info, name)) for name in names}
