"""What reads through mapped files cost: page faults, and the bytes that came in for them.

A page fault is seen where the kernel lets a process watch its own (perf_event_open(2)). What came into the
page cache while a file was mapped is its growth (cachestat(2)), whoever of the machine caused it: of
several processes that map one file, the largest figure counts.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import percent, plural

MODULE = "MMAP"
WATCHED = "watched"
# From here on a share is all.
ALL = 1 - THRESHOLD["rarely"]
COLUMNS = (
    "path", "module", "size_bytes", "MMAP_MAPPINGS", "MMAP_BYTES_MAPPED", "MMAP_FAULTS", "MMAP_MAJOR_FAULTS",
    "MMAP_BYTES_IN", "MMAP_F_FAULT_TIME", "MMAP_F_WAIT_TIME", "MMAP_F_MAX_FAULT_TIME",
)  # fmt: skip
# What tables of before have not: unknown.
LATER_COLUMNS = ("MMAP_BYTES_TOUCHED", "MMAP_BYTES_EVICTED")
PLACE = ("file", "mount_point", "fs_type")
# Figures of a file that are added up over processes, or the largest one taken; and those added up over files.
ADDED = ("faults", "major_faults", "fault_s", "wait_s", "bytes_touched")
LARGEST = ("longest_s",)
# Of the page cache, which processes of one host share.
OF_HOST = ("bytes_in", "bytes_evicted")
KNOWN_SUMS = ("bytes_in", "faults", "fault_s", "wait_s", "bytes_touched", "bytes_evicted")
REASONS = {
    "no events": "the kernel refused perf_event_open{why}",
    "no thread": "no thread could be started to watch them{why}",
    "no descriptors": "the kernel gave no table of descriptors to watch them from{why}",
    "no buffer": "there was no locked memory for them{why}",
    "too many threads": "the process had more threads than it may have descriptors",
}


@dataclass(frozen=True)
class MappedFile:
    """A mapped file, of all processes that mapped it. Times in seconds; None is unknown.

    `faults`, `fault_s` (wall clock of each process, added up over processes) and `wait_s` (added up over
    threads) are estimates where faults were seen for a part of the time only; where they were not seen at all
    and threads were looked at instead, the times are lower bounds, shared out by the bytes that came in.
    `bytes_touched` is what page faults made accessible, about, an estimate likewise; `bytes_evicted` is the
    least that left the page cache while the file was mapped.
    """

    path: str
    size_bytes: int
    mappings: int
    bytes_mapped: int
    bytes_in: int | None
    faults: float | None
    major_faults: float | None
    fault_s: float | None
    wait_s: float | None
    longest_s: float | None
    bytes_touched: float | None = None
    bytes_evicted: int | None = None

    @property
    def at_least(self) -> bool:
        """Whether the times are lower bounds: threads were looked at, page faults were not seen."""
        return self.faults is None and self.fault_s is not None


@dataclass(frozen=True)
class MappedReads:
    """All mapped files of a session.

    Attributes:
        asked: Whether the session was asked to watch them; without, there are no files here.
        files: How many there are.
        mappings: Mappings made, or there at the start.
        bytes_mapped: Their length.
        bytes_in: Bytes that came into the page cache; None where it is known of no file, and the least there
            is where `bytes_unknown` files are left out.
        bytes_unknown: Files of which that is not known.
        faults, fault_s, wait_s, bytes_touched, bytes_evicted: Added up over files; None where it is known of
            none. See `MappedFile`.
        at_least: Whether `fault_s` and `wait_s` are lower bounds: a process was shown no page faults.
        sampled_share: Of a process's page faults, the share that happened while they were seen: the smallest
            of all processes; None: they never were.
        slowest: The files with most fault time, or most bytes where that is unknown.
        notes: What a reader has to know, one clause each.
    """

    asked: bool = False
    files: int = 0
    mappings: int = 0
    bytes_mapped: int = 0
    bytes_in: int | None = 0
    bytes_unknown: int = 0
    faults: float | None = 0.0
    fault_s: float | None = 0.0
    wait_s: float | None = 0.0
    bytes_touched: float | None = None
    bytes_evicted: int | None = None
    at_least: bool = False
    sampled_share: float | None = None
    slowest: tuple[MappedFile, ...] = ()
    notes: tuple[str, ...] = ()


def mapped_reads(processes: Sequence[ProcessData], top: int = 5) -> MappedReads:
    """Read the rows of mapped files.

    Args:
        processes: The session's.
        top: How many files are named.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    of_hosts: dict[tuple[str, str], MappedFile] = {}
    for process in processes:
        for _, found in rows_of(process, COLUMNS):
            place = process.meta["host"], found.path
            of_hosts[place] = _joined(of_hosts.get(place), found, _largest)
    files: dict[str, MappedFile] = {}
    for found in of_hosts.values():
        files[found.path] = _joined(files.get(found.path), found, _added)
    asked = any(process.meta.get("options", {}).get("mapped") is True for process in processes)
    if not files:
        return MappedReads(asked=asked)
    every = list(files.values())
    blocks = [process.meta["mapping"] for process in processes if process.meta.get("mapping")]
    ranked = sorted(every, key=lambda f: (-(f.fault_s or 0), -(f.bytes_in or 0), f.path))
    return MappedReads(
        asked=True,
        files=len(every),
        mappings=sum(f.mappings for f in every),
        bytes_mapped=sum(f.bytes_mapped for f in every),
        bytes_unknown=sum(f.bytes_in is None for f in every),
        **{name: _sum([getattr(f, name) for f in every]) for name in KNOWN_SUMS},
        at_least=any(block.get("looks") for block in blocks),
        sampled_share=_sampled_share(blocks),
        slowest=tuple(ranked[:top]),
        notes=tuple(_notes(blocks)),
    )


def rows_of(
    process: ProcessData, columns: Sequence[str] = (*COLUMNS, *PLACE)
) -> Iterator[tuple[dict[str, Any], MappedFile]]:
    """Yield a process's mapped files, each with its row of the files table.

    Args:
        process: The process; one that mapped nothing yields none.
        columns: What the rows have: `COLUMNS`, and others; `LATER_COLUMNS` where the table has them.

    Raises:
        SessionDataError: The table is damaged or missing.
    """
    import pyarrow.compute as pc

    if not (block := process.meta.get("mapping")):
        return
    share, wanted = share_seen(block), {*columns, *LATER_COLUMNS}
    for batch in process.batches("files", lambda name: name in wanted):
        for row in batch.filter(pc.equal(batch.column("module"), MODULE)).to_pylist():
            yield row, mapped_file(row, share)


def mapped_file(row: Mapping[str, Any], share: float = 1.0) -> MappedFile:
    """Return a row of the files table with module MMAP.

    Args:
        row: The row, which has `COLUMNS`.
        share: Of the process's page faults, the share that was seen; counts and times are estimated by it.
    """
    seen = share > 0 and row["MMAP_FAULTS"] >= 0
    touched, evicted = (row.get(name, -1) for name in LATER_COLUMNS)
    return MappedFile(
        path=row["path"],
        size_bytes=row["size_bytes"],
        mappings=row["MMAP_MAPPINGS"],
        bytes_mapped=row["MMAP_BYTES_MAPPED"],
        bytes_in=row["MMAP_BYTES_IN"] if row["MMAP_BYTES_IN"] >= 0 else None,
        faults=row["MMAP_FAULTS"] / share if seen else None,
        major_faults=row["MMAP_MAJOR_FAULTS"] / share if seen else None,
        fault_s=_time(row, "MMAP_F_FAULT_TIME", share),
        wait_s=_time(row, "MMAP_F_WAIT_TIME", share),
        longest_s=row["MMAP_F_MAX_FAULT_TIME"] if seen else None,
        bytes_touched=touched / share if seen and touched >= 0 else None,
        bytes_evicted=evicted if evicted >= 0 else None,
    )


def _time(row: Mapping[str, Any], name: str, share: float) -> float | None:
    """Return an estimate from the share of faults that was seen, or what looks at threads showed."""
    if row["MMAP_FAULTS"] < 0:
        return float(row[name]) if row[name] >= 0 else None
    return float(row[name]) / share if share > 0 else None


def _joined(first: MappedFile | None, other: MappedFile, of_cache: Callable[[Any, Any], Any]) -> MappedFile:
    """Join what two processes did with a file; `of_cache` joins what they say of the page cache."""
    if first is None:
        return other
    return replace(
        first,
        size_bytes=max(first.size_bytes, other.size_bytes),
        mappings=first.mappings + other.mappings,
        bytes_mapped=first.bytes_mapped + other.bytes_mapped,
        **{name: _added(getattr(first, name), getattr(other, name)) for name in ADDED},
        **{name: of_cache(getattr(first, name), getattr(other, name)) for name in OF_HOST},
        **{name: _largest(getattr(first, name), getattr(other, name)) for name in LARGEST},
    )


def _largest(one: Any, other: Any) -> Any:
    return max((value for value in (one, other) if value is not None), default=None)


def _added(one: Any, other: Any) -> Any:
    return _sum([one, other])


def _sum(values: Sequence[Any]) -> Any:
    """Add up what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def share_seen(block: dict[str, Any]) -> float:
    """Return the share of the process's faults that happened while they were seen, 0 if they never were."""
    if block["watch"] != WATCHED:
        return 0.0
    faults = block["minor_faults"] + block["major_faults"]
    if block["sampled_ns"] >= block["watched_ns"] or not faults:
        return 1.0
    return min(float(block["sampled_faults"]) / float(faults), 1.0)


def _sampled_share(blocks: Sequence[dict[str, Any]]) -> float | None:
    shares = [share_seen(block) for block in blocks if block["watch"] == WATCHED]
    return min(shares, default=None)


def _notes(blocks: Sequence[dict[str, Any]]) -> list[str]:
    return [*_refused(blocks), *_sampled(blocks), *_without_room(blocks), *_killed(blocks)]


def _refused(blocks: Sequence[dict[str, Any]]) -> Iterator[str]:
    refused = [block for block in blocks if block["watch"] in REASONS]
    if not refused:
        return
    number = refused[0]["error"]
    why = f" ({errno.errorcode.get(number, number)}: {os.strerror(number)})" if number else ""
    reason = REASONS[refused[0]["watch"]].format(why=why)
    looks = sum(block.get("looks", 0) for block in refused)
    rest = (
        f"their time is a lower bound from {plural(looks, 'look')} at which threads were blocked in one"
        if looks
        else "the time in calls leaves out what they waited for"
    )
    yield f"page faults on mapped files were not seen: {reason}; {rest}"


def _sampled(blocks: Sequence[dict[str, Any]]) -> Iterator[str]:
    share = _sampled_share(blocks)
    if share is not None and share < ALL:
        seen = percent(share, 1) if share else "none"
        yield (
            f"of the page faults {seen} were seen, so that to see them costs about 1 % of the time; their "
            "number and time are estimates from that"
        )


def _without_room(blocks: Sequence[dict[str, Any]]) -> Iterator[str]:
    samples, ranges, left_out, kept, faults = (
        sum(block.get(name, 0) for block in blocks)
        for name in (
            "samples_lost", "mappings_lost", "mappings_left_out", "faults_kept", "faults_left_out"
        )
    )  # fmt: skip
    if kept and faults:
        yield (
            f"{plural(faults, 'page fault')} of {kept + faults:,} found no room in the trace, quick ones "
            "first; the totals have all of them"
        )
    if samples:
        yield f"the kernel had no room for {plural(samples, 'sample')} of page faults: two make a fault"
    if ranges:
        mappings = plural(ranges, "mapping")
        yield f"page faults of {mappings} are no file's: their addresses were not kept"
    if left_out:
        yield f"{plural(left_out, 'mapping')} of files that there was no room for are in no figure"


def _killed(blocks: Sequence[dict[str, Any]]) -> Iterator[str]:
    killed = sum(not block.get("settled", 1) for block in blocks)
    if killed:
        processes = plural(killed, "process", "processes")
        yield (
            f"{processes} ended before the last look at mapped files: bytes that came in for these files are "
            "unknown, and page faults of the last moment are missing"
        )
