"""What was recorded against what the kernel charged: how much of the I/O the session did not see.

The kernel counts bytes for each process, through exec, and adds a child's count to its parent's when the
parent waits for it. A child that nobody has waited for is in no count but its own; one whose parent ignores
SIGCHLD, or has ended before it, is never added to the job's. So bytes that were recorded are compared with
the counts that can hold them; what these hold beyond is the least that was not seen. They also hold what a
child did before it was recorded: how a program started, and what a worker did that is older than the session.
That is known when the child joins, and is taken out, and so is what the recorder itself moved there. If more
was recorded than the counts hold, they lack a child that is taken for one that was waited for: then nobody
knows what was not seen.

Source: /proc/PID/io of proc_pid_io(5); task_io_accounting_add() in the kernel's wait_task_zombie().
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfdarshan.analysis.files.counter_groups import BYTES_READ, BYTES_WRITTEN
from tfdarshan.analysis.files.file_totals import FileTotals
from tfdarshan.analysis.files.mapped_reads import MappedReads
from tfdarshan.analysis.files.program_calls import NO_PROGRAMS, ProgramCalls
from tfdarshan.analysis.files.unrecorded_programs import (
    NONE_UNRECORDED,
    UnrecordedPrograms,
    unrecorded_programs,
)
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import percent, percent_at_most

# With more of the bytes recorded by processes without figures, what storage gave the others says little.
FEW = THRESHOLD["rarely"]


@dataclass(frozen=True)
class Direction:
    """Bytes of one direction.

    Attributes:
        in_tables: Bytes in the files tables.
        elsewhere: Bytes that are counted and in no table, by kind: excluded files, pipes, sockets ...
        kernel: rchar or wchar of the processes whose figures are known; None if no owner's are.
        storage: read_bytes or write_bytes of these; None if unknown, or if other processes recorded much.
        uncharged: Bytes in the tables and elsewhere of processes that no known figure counts.
        unseen: Bytes that the kernel charged and nobody recorded, at least; None if `kernel` is.
        earlier: Bytes that children had moved before they were recorded: taken out of `kernel` and `storage`.
        mapped: Bytes that came in through mapped files, which `kernel` leaves out and `storage` has; None if
            unknown.
    """

    in_tables: int
    elsewhere: dict[str, int]
    kernel: int | None
    storage: int | None
    uncharged: int = 0
    unseen: int | None = None
    earlier: int = 0
    mapped: int | None = 0

    @property
    def accounted(self) -> int:
        """Bytes that are accounted for, of those that `kernel` counts."""
        return self.in_tables + sum(self.elsewhere.values()) - self.uncharged


@dataclass(frozen=True)
class Coverage:
    """Both directions. No known figure counts the bytes of `processes_left_out`: `unseen` is the least.

    `programs` is in the tables, and findings leave it out. If `incomplete`, the kernel's figures lack
    processes that they were taken to hold: they say nothing of what was not seen. `unrecorded` programs may
    have moved what was not seen.
    """

    read: Direction
    written: Direction
    processes_left_out: int
    programs: ProgramCalls = NO_PROGRAMS
    incomplete: bool = False
    unrecorded: UnrecordedPrograms = NONE_UNRECORDED

    def is_bound(self, direction: Direction) -> bool:
        """Return whether more may be missing of a direction than is known, so that its share is a bound."""
        return bool(self.unrecorded.not_waited_for or (self.processes_left_out and direction.unseen))

    def seen(self, direction: Direction) -> str:
        """Word the share of a direction's bytes that was seen, of those that the kernel counted, if any."""
        if self.incomplete:
            return "not known"
        kernel = direction.kernel or 0
        worded = percent_at_most if self.is_bound(direction) else percent
        return worded(min(direction.accounted, kernel), kernel)


def measure_coverage(
    metas: Sequence[dict[str, Any]], files: FileTotals, mapped: MappedReads | None = None
) -> Coverage:
    """Compare the bytes of all processes with the kernel's figures.

    Args:
        metas: The processes' metadata, the owner's first.
        files: Their files, with `moved` in the same order.
        mapped: Their mapped files.
    """
    sources = [
        meta for place, meta in enumerate(metas) if place == 0 or meta["kernel"].get("counted") == "own"
    ]
    charged = [meta["kernel"] for meta in sources if meta["kernel"]["valid"]]
    if not any(metas[place]["kernel"]["valid"] for place in _owners(metas).values()):
        charged = []
    left_out = [place for place, counted in enumerate(_are_counted(metas)) if not counted]
    read, written = (_direction(metas, files, which, charged, left_out) for which in (0, 1))
    presumed = any(meta["kernel"].get("counted") == "parent" for meta in metas)
    return Coverage(
        replace(read, mapped=_known_bytes(mapped, files, metas[0])) if mapped is not None else read,
        written,
        len(left_out),
        files.programs,
        presumed and any(_is_more_than_all(direction) for direction in (read, written)),
        unrecorded_programs(metas),
    )


def _is_more_than_all(direction: Direction) -> bool:
    return direction.kernel is not None and direction.accounted > direction.kernel


def _known_bytes(mapped: MappedReads, files: FileTotals, owner: dict[str, Any]) -> int | None:
    """Return the bytes that came in; None where some files' are not known, as of programs without Python."""
    options = owner.get("options", {})
    left_alone = options.get("mapped") == "auto" and files.sums["POSIX_MMAPS"] > mapped.mappings
    if not mapped.asked or options.get("programs") or left_alone:
        return None if files.sums["POSIX_MMAPS"] else 0
    return None if mapped.bytes_unknown else mapped.bytes_in


def earlier_bytes(metas: Sequence[dict[str, Any]], name: str) -> int:
    """Return what figures of the kernel hold of children from before these were recorded.

    A process that becomes another program has one figure for all of them.

    Args:
        metas: The processes' metadata, the owner's first.
        name: Whose: rchar, wchar, read_bytes or write_bytes.
    """
    first: dict[object, int] = {}
    for meta, counted in zip(metas, _are_counted(metas), strict=True):
        if counted and meta["kernel"].get("counted") == "parent":
            process = _process(meta, meta["pid"]), meta.get("process_start")
            count = int(meta["kernel"].get("earlier", {}).get(name, 0))
            first[process] = min(first.get(process, count), count)
    return sum(first.values())


def not_the_jobs(metas: Sequence[dict[str, Any]], name: str) -> int:
    """Return what figures of the kernel hold that is no part of the recorded job.

    Children did it before they were recorded, children that recorded nothing did, or the recorder in them.

    Args:
        metas: The processes' metadata, the owner's first.
        name: Whose: rchar, wchar, read_bytes or write_bytes.
    """
    recorders = [
        meta["kernel"].get("own", {})
        for meta, counted in zip(metas, _are_counted(metas), strict=True)
        if counted and meta["kernel"].get("counted") == "parent"
    ]
    silent = [(meta.get("children") or {}).get("silent_io", {}) for meta in metas]
    others = sum(int(figures.get(name, 0)) for figures in (*recorders, *silent))
    return earlier_bytes(metas, name) + others


def _are_counted(metas: Sequence[dict[str, Any]]) -> list[bool]:
    """Return for each whether a known figure may hold its bytes: its own, or that of who waited for it."""
    place_of = {_process(meta, meta["pid"]): place for place, meta in enumerate(metas)}
    owners = _owners(metas)

    def is_counted(place: int) -> bool:
        passed = set()
        while place and metas[place]["kernel"].get("counted") == "parent" and place not in passed:
            passed.add(place)
            parent = _process(metas[place], metas[place].get("parent_pid"))
            place = place_of.get(parent, owners.get(parent[0], 0))
        return bool(metas[place]["kernel"]["valid"])

    return [is_counted(place) for place in range(len(metas))]


def _owners(metas: Sequence[dict[str, Any]]) -> dict[int, int]:
    """Return the place of each rank's owner; a lone session's is the first."""
    owners = {_rank(meta): place for place, meta in enumerate(metas) if meta.get("owner")}
    return owners or {_rank(metas[0]): 0}


def _rank(meta: dict[str, Any]) -> int:
    return int(meta.get("job", {}).get("rank", 0))


def _process(meta: dict[str, Any], pid: int | None) -> tuple[int, int | None]:
    """Name a process of the same rank: hosts give numbers of their own."""
    return _rank(meta), pid


def _direction(
    metas: Sequence[dict[str, Any]],
    files: FileTotals,
    which: int,
    charged: list[dict[str, Any]],
    left_out: list[int],
) -> Direction:
    names, field = ((BYTES_READ, "bytes_read"), (BYTES_WRITTEN, "bytes_written"))[which]
    elsewhere: dict[str, int] = {}
    for meta in metas:
        for kind, traffic in meta.get("other", {}).items():
            elsewhere[kind] = elsewhere.get(kind, 0) + traffic[field]
    elsewhere = {kind: count for kind, count in elsewhere.items() if count}
    in_tables = sum(files.sums[name] for name in names)
    if not charged:
        return Direction(in_tables, elsewhere, None, None)
    uncharged = sum(
        files.moved[place][which] + sum(traffic[field] for traffic in metas[place].get("other", {}).values())
        for place in left_out
    )
    accounted = in_tables + sum(elsewhere.values())
    counted, stored = (("rchar", "read_bytes"), ("wchar", "write_bytes"))[which]
    earlier = earlier_bytes(metas, counted)
    kernel, storage = (
        max(sum(figures.get(name, 0) for figures in charged) - not_the_jobs(metas, name), 0)
        for name in (counted, stored)
    )
    return Direction(
        in_tables,
        elsewhere,
        kernel,
        storage if uncharged <= FEW * accounted else None,
        uncharged,
        max(kernel - (accounted - uncharged), 0),
        earlier,
    )
