"""What a session's summary says, as data: `tfdarshan summary --json` prints it, `summary.render` words it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase as fnmatch
from typing import Any

from tfdarshan.analysis.analysis_cache import analysis_cache
from tfdarshan.analysis.calls.own_cost import OwnCost, own_cost
from tfdarshan.analysis.calls.trace_span import TraceSpan, trace_span
from tfdarshan.analysis.calls.wall_clock import WallClock, clocks_apart, measure_wall_clock
from tfdarshan.analysis.files.access_pattern import AccessPattern, access_pattern
from tfdarshan.analysis.files.access_sizes import SizeBucket, access_sizes
from tfdarshan.analysis.files.coverage import Coverage, measure_coverage
from tfdarshan.analysis.files.file_totals import FileEntry, FileTotals
from tfdarshan.analysis.files.log_layers import LogLayers, log_layers
from tfdarshan.analysis.files.mapped_reads import MappedReads, mapped_reads
from tfdarshan.analysis.files.session_files import SessionFiles
from tfdarshan.analysis.ranks.process_list import ProcessEntry, list_processes
from tfdarshan.analysis.ranks.processor_share import others_share
from tfdarshan.analysis.ranks.rank_table import RankTable, rank_table
from tfdarshan.partials.serial import SERIAL, Runner
from tfdarshan.sessions.process_role import session_roles
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.units import plural


@dataclass(frozen=True)
class FailureCount:
    """Calls that failed with one errno, by operation."""

    error: int
    name: str
    calls: dict[str, int]


@dataclass(frozen=True)
class ModuleCalls:
    """Calls and bytes of one module; a call the module does not have is None."""

    opens: int
    reads: int
    zero_length_reads: int | None
    writes: int
    seeks: int
    stats: int | None
    syncs: int
    bytes_read: int
    bytes_written: int


@dataclass(frozen=True)
class FileTime:
    """Seconds in calls, added up over files: a moment counts as often as files were busy in it."""

    read_s: float
    write_s: float
    meta_s: float


@dataclass(frozen=True)
class SummaryData:
    """All that the summary says. Times in seconds, sizes in bytes; None: an imported log does not say."""

    session: str
    path: str
    command: str
    host: str
    engine: dict[str, str]
    emulation: dict[str, Any] | None  # storage emulated in the session: then times are not this storage's
    versions: dict[str, str]
    finished: bool
    duration_s: float
    processes: int
    process_list: list[ProcessEntry]  # helpers that read no data too, marked `hidden`
    silent_children: int
    threads: int | None
    files: int
    calls: int
    posix: ModuleCalls
    stdio: ModuleCalls
    mmaps: int
    mmap_bytes: int | None
    mapped_in_memory: int
    mapped: MappedReads  # what reads through mappings cost
    copies: dict[str, int]
    renames: int | None
    unlinks: int | None
    truncates: int | None
    wall_clock: WallClock
    file_time: FileTime
    sizes: list[SizeBucket]
    pattern: AccessPattern
    slowest_files: list[FileEntry]
    most_read_files: list[FileEntry]
    failures: list[FailureCount]
    coverage: Coverage
    verify: list[dict[str, Any]]
    bounds: list[str]
    not_known: list[str]
    problems: list[str]
    trace_span: TraceSpan | None  # what the trace covers, where it lacks calls
    overlapping_sessions: list[str]  # of the logdir it was chosen from, recorded while it was
    log: LogLayers  # what a Darshan log has besides POSIX and STDIO
    ranks: RankTable | None = None  # of a job of several ranks
    unstopped_ranks: tuple[int, ...] = ()  # of a job: those that ended without stopping the session
    became_another: bool = False  # the process ran another program before it stopped the session
    others_share: float | None = None  # of the processors, what other programs took, 0 to 1
    files_over_cap: int = 0  # that found no room for a row: `files` lacks them
    own_cost: OwnCost | None = None  # what recording took

    @property
    def bytes_read(self) -> int:
        """What reads returned, and copies in the kernel read."""
        return self.posix.bytes_read + self.stdio.bytes_read + self.copies.get("read_bytes", 0)

    @property
    def bytes_written(self) -> int:
        """What writes, and copies in the kernel, took."""
        return self.posix.bytes_written + self.stdio.bytes_written + self.copies.get("write_bytes", 0)

    @property
    def files_words(self) -> str:
        """How many files there were, at least if some have no row."""
        return f"{'at least ' if self.files_over_cap else ''}{plural(self.files, 'file')}"


def summarize(
    session: SessionData, top: int = 5, runner: Runner = SERIAL, files: SessionFiles | None = None
) -> SummaryData:
    """Read what the summary needs, in bounded memory.

    Args:
        session: The session.
        top: How many of the slowest and of the most-read files are listed.
        runner: What reads the calls of several processes for the time in I/O.
        files: Its files tables, with totals that list so many, where others need them, too.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    kept = analysis_cache(session)
    clock = measure_wall_clock(session.processes, runner=runner, kept=kept)
    files = files or SessionFiles(session, top)
    totals = kept.get(f"file totals, {top}", lambda: files.totals)
    # A job's tables may be read as those of one rank alone, which has no table of ranks.
    key = "ranks" if session.joint is None else "job_ranks"
    ranks = kept.get(key, lambda: rank_table(session, files.grouped))
    kept.save()
    return summary_of(session, totals, clock, ranks)


def summary_of(
    session: SessionData, files: FileTotals, wall_clock: WallClock, ranks: RankTable | None = None
) -> SummaryData:
    """Return the summary of a session whose tables were read already; `ranks` are those of a job."""
    owner = session.meta[0]
    children = [meta["children"] for meta in session.meta if "children" in meta]
    imported = owner.get("darshan", {})
    mapped = mapped_reads(session.processes)
    posix, stdio = _posix_calls(files), _stdio_calls(files)
    return SummaryData(
        session=owner.get("session", session.path.name),
        path=str(session.path),
        command=owner.get("command", ""),
        host=hosts_of(session),
        engine=owner.get("engine", {}),
        emulation=emulation_of(owner),
        versions=owner.get("versions", {}),
        finished=all(
            bool(meta.get("stopped", True)) for meta in session.meta if meta is owner or meta.get("owner")
        ),
        duration_s=wall_clock.duration_s,
        # What ranks share is a record of its own in a log, and no process.
        processes=imported.get("processes", 1) if imported else len(session.meta),
        process_list=list_processes(session.processes, files.moved),
        silent_children=sum(int(of_one.get("silent", 0)) for of_one in children),
        threads=None if imported else sum(len(meta.get("threads", ())) for meta in session.meta),
        files=files.paths,
        calls=sum(int(meta["counts"]["events"]) for meta in session.meta),
        posix=posix,
        stdio=stdio,
        mmaps=files.sums["POSIX_MMAPS"],
        mmap_bytes=files.known("TFD_MMAP_BYTES"),
        mapped_in_memory=files.mapped_in_memory,
        mapped=mapped,
        copies={
            name: files.sums[f"TFD_COPY_{name.upper()}"]
            for name in ("reads", "read_bytes", "writes", "write_bytes")
        },
        renames=files.known("TFD_RENAMES"),
        unlinks=files.known("TFD_UNLINKS"),
        truncates=files.known("TFD_TRUNCATES"),
        wall_clock=wall_clock,
        file_time=FileTime(files.read_s, files.write_s, files.meta_s),
        sizes=access_sizes(files),
        pattern=access_pattern(files),
        slowest_files=files.slowest,
        most_read_files=files.most_read,
        failures=_failures(session.meta),
        coverage=measure_coverage(session.meta, files, mapped),
        verify=[meta["verify"] for meta in session.meta if "verify" in meta],
        bounds=[
            *filter(None, [clocks_apart(session.processes)]),
            *_bounds(session.meta),
            *mapped.notes,
            *_not_emulated(owner, mapped),
        ],
        not_known=list(imported.get("not_known", ())),
        problems=[
            *session.problems,
            *wall_clock.left_out,
            *(said for of_one in children for said in of_one.get("unreadable", ())),
        ],
        trace_span=trace_span(session.meta),
        overlapping_sessions=[str(path) for path in session.overlapping],
        log=log_layers(session.processes),
        ranks=ranks,
        unstopped_ranks=tuple(
            process.rank
            for process in session.processes
            if process.rank is not None
            and process.meta.get("owner")
            and not process.meta.get("stopped", True)
        ),
        became_another=any(
            meta["pid"] == owner["pid"] and meta["host"] == owner["host"] for meta in session.meta[1:]
        ),
        others_share=others_share(session.meta),
        files_over_cap=sum(int(meta["counts"].get("files_over_cap", 0)) for meta in session.meta),
        own_cost=own_cost(session.meta, posix.opens + stdio.opens),
    )


def hosts_of(session: SessionData) -> str:
    """Return where a session was recorded: its host, of a job all of them with commas between."""
    return str(session.meta[0]["host"]) if session.joint is None else ", ".join(session.joint.hosts)


def emulation_of(owner: dict[str, Any]) -> dict[str, Any] | None:
    """Return the emulation's block; of a recovered session, which has none, what its options say."""
    options = owner.get("options", {})
    if options.get("as_if") is None:
        return None
    block = {"model": {"name": options["as_if"], "about": ""}, "paths": options.get("as_if_paths", [])}
    return owner.get("emulation", block)


def slowed_calls(emulation: dict[str, Any] | None) -> bool:
    """Return whether emulated storage slowed a call, so times are a model's; True where that is unknown."""
    return emulation is not None and emulation.get("delayed_calls") != 0


def _not_emulated(owner: dict[str, Any], mapped: MappedReads) -> list[str]:
    """Say that emulated storage slows calls alone, where a file that it is for was mapped."""
    emulation = emulation_of(owner)
    if emulation is None or not mapped.files:
        return []
    patterns = emulation["paths"]
    slowed = [f for f in mapped.slowest if not patterns or any(fnmatch(f.path, p) for p in patterns)]
    if not slowed:
        return []
    return [f"as_if={emulation['model']['name']} did not slow reads through mappings, as of {slowed[0].path}"]


def _posix_calls(files: FileTotals) -> ModuleCalls:
    sums = files.sums
    return ModuleCalls(
        opens=sums["POSIX_OPENS"] - sums["POSIX_DUPS"] - sums["POSIX_FILENOS"],
        reads=sums["POSIX_READS"],
        zero_length_reads=files.posix_zero_reads,
        writes=sums["POSIX_WRITES"],
        seeks=sums["POSIX_SEEKS"],
        stats=None if "POSIX_STATS" in files.unknown else sums["POSIX_STATS"] + sums["TFD_STATS_OTHER"],
        syncs=sums["POSIX_FSYNCS"] + sums["POSIX_FDSYNCS"],
        bytes_read=sums["POSIX_BYTES_READ"],
        bytes_written=sums["POSIX_BYTES_WRITTEN"],
    )


def _stdio_calls(files: FileTotals) -> ModuleCalls:
    sums = files.sums
    return ModuleCalls(
        opens=sums["STDIO_OPENS"] - sums["STDIO_FDOPENS"],
        reads=sums["STDIO_READS"],
        zero_length_reads=None,
        writes=sums["STDIO_WRITES"],
        seeks=sums["STDIO_SEEKS"],
        stats=None,
        syncs=sums["STDIO_FLUSHES"],
        bytes_read=sums["STDIO_BYTES_READ"],
        bytes_written=sums["STDIO_BYTES_WRITTEN"],
    )


def _failures(metas: list[dict[str, Any]]) -> list[FailureCount]:
    found: dict[tuple[int, str], Counter[str]] = {}
    for meta in metas:
        for failure in meta.get("failures", ()):
            calls = found.setdefault((failure["error"], failure["name"]), Counter())
            calls[failure["operation"]] += failure["calls"]
    ordered = sorted(found.items(), key=lambda item: (-item[1].total(), item[0]))
    return [FailureCount(error, name, dict(calls.most_common())) for (error, name), calls in ordered]


def _bounds(metas: list[dict[str, Any]]) -> list[str]:
    """Name the process that a bound is of, where there are several; a note on the session is of none."""
    if len(metas) == 1:
        return list(metas[0].get("bounds", ()))
    bounds = []
    for meta, role in zip(metas, session_roles(metas), strict=True):
        of_session = meta.get("session_notes", ())
        who = "" if meta.get("darshan") else f" ({role.label})"
        prefix = f"process {meta['pid']}{who}: "
        bounds += [bound if bound in of_session else prefix + bound for bound in meta.get("bounds", ())]
    return bounds
