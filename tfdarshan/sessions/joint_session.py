"""A session of several ranks: whose parts are there, and all of them put on one clock.

What a rank wrote stays as it is: times are shifted when they are read.

Of ranks on one host CLOCK_MONOTONIC tells how their clocks compare, though CLOCK_REALTIME was set in between.
Of several hosts, those tell that asked the job's first host for its clock, and the file server's clock if it
gave each host's files their times: what is known better counts. Otherwise nobody knows, and the ranks of each
host are taken to have begun when those of the others did.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.rank_folder import missing_ranks
from tfdarshan.sessions.step_table import marked_columns

ONE_CLOCK, SERVER_CLOCK, NO_CLOCK = "one clock", "the file server's clock", "none"
ASKED_CLOCK = "asked over TCP"
MOST_NAMED = 5
# Ranks of one session begin within this time.
APART_NS = 60 * 10**9


@dataclass(frozen=True)
class Rank:
    """One rank's part of a session.

    Attributes:
        rank: Its number.
        host: Where it ran.
        directory: Its folder.
        processes: Its processes with the times that it wrote, the one that began the session first.
        local_rank: Its number on its host, None if unknown.
        offset_ns: What is added to its clock to get that of the first rank's host.
        error_ns: By how much that may be off; None if nothing is known of it.
        method: How it is known: ONE_CLOCK, ASKED_CLOCK, SERVER_CLOCK or NO_CLOCK.
    """

    rank: int
    host: str
    directory: Path
    processes: list[ProcessData]
    local_rank: int | None = None
    offset_ns: int = 0
    error_ns: int | None = 0
    method: str = ONE_CLOCK

    @property
    def owner(self) -> dict[str, Any]:
        """The metadata of the process that began the session."""
        return self.processes[0].meta

    @property
    def boot_id(self) -> str:
        """What tells hosts apart: the kernel's identifier of their boot, else their name."""
        return str(self.owner["job"]["clock"].get("boot_id") or self.host)


@dataclass(frozen=True)
class Joint:
    """The ranks of a session.

    Attributes:
        launcher: Who started the job.
        job: What it is called.
        round: How often it was restarted.
        world_size: How many ranks the job has, None if unknown.
        ranks: Those that have written, by rank.
        missing: Those that have not.
        leading: The rank whose steps and findings stand for the job: the one that waits most for its input.
    """

    launcher: str
    job: str
    round: str
    world_size: int | None
    ranks: tuple[Rank, ...]
    missing: tuple[int, ...]
    leading: Rank

    @property
    def hosts(self) -> list[str]:
        """The hosts, in the order of their first ranks."""
        return list(dict.fromkeys(rank.host for rank in self.ranks))

    @property
    def leading_first(self) -> tuple[Rank, ...]:
        """The ranks in the order that the session's processes have: the leading one, then the others."""
        return self.leading, *(rank for rank in self.ranks if rank.rank != self.leading.rank)

    def sentences(self) -> list[str]:
        """Describe what a reader has to know: ranks that are missing, and ranks of another run."""
        said = []
        if self.missing:
            names = ", ".join(map(str, self.missing[:MOST_NAMED]))
            more = f" and {len(self.missing) - MOST_NAMED:,} more" if len(self.missing) > MOST_NAMED else ""
            which = "rank" if len(self.missing) == 1 else "ranks"
            have = "has" if len(self.missing) == 1 else "have"
            of = f" of {self.world_size:,}" if self.world_size is not None else ""
            said.append(
                f"{which} {names}{more}{of} {have} not written: still recording, never begun, or killed; "
                "`tfdarshan recover` on that rank's host writes what a killed one had recorded."
            )
        apart = self._apart()
        if apart:
            names = ", ".join(str(rank.rank) for rank in apart[:MOST_NAMED])
            which = "rank" if len(apart) == 1 else "ranks"
            more = f" and {len(apart) - MOST_NAMED:,} more" if len(apart) > MOST_NAMED else ""
            said.append(
                f"{which} {names}{more} recorded at another time than the others: that may be of another run "
                "with the same name; give each run a name of its own with job=."
            )
        return said

    def _apart(self) -> list[Rank]:
        """List ranks that recorded far from all others, where another run may have the same identity."""
        spans = {rank.rank: _span_ns(rank) for rank in self.ranks if rank.error_ns is not None}
        if len(spans) < 2 or self.leading.owner["job"].get("unique", True):
            return []
        return [
            rank
            for rank in self.ranks
            if rank.rank in spans
            and not any(
                spans[rank.rank][0] <= end_ns + APART_NS and start_ns <= spans[rank.rank][1] + APART_NS
                for other, (start_ns, end_ns) in spans.items()
                if other != rank.rank
            )
        ]


def join_ranks(found: Sequence[tuple[Path, list[ProcessData]]]) -> tuple[Joint, list[ProcessData]]:
    """Put ranks together.

    Args:
        found: For each rank that has written its folder, and its processes.

    Returns:
        The ranks, and all their processes with times since the first one's start, the leading rank's first.
    """
    ranks = _aligned([_rank(directory, processes) for directory, processes in found])
    job = ranks[0].owner["job"]
    leading = max(ranks, key=lambda rank: (_waited(rank), -rank.rank))
    size = max((rank.owner["job"].get("world_size") or 0 for rank in ranks), default=0) or None
    missing = missing_ranks([rank.rank for rank in ranks], size)
    joint = Joint(
        job["launcher"], job["job"], job.get("round", "0"), size, tuple(ranks), tuple(missing), leading
    )
    origin_ns = min(_span_ns(rank)[0] for rank in ranks)
    return joint, [
        _shifted(process, rank, origin_ns) for rank in joint.leading_first for process in rank.processes
    ]


def _rank(directory: Path, processes: list[ProcessData]) -> Rank:
    meta = processes[0].meta
    return Rank(
        int(meta["job"]["rank"]), str(meta["host"]), directory, processes, meta["job"].get("local_rank")
    )


def _aligned(ranks: list[Rank]) -> list[Rank]:
    """Find what each rank's clock is off the first one's."""
    ranks = sorted(ranks, key=lambda rank: rank.rank)
    first = ranks[0]
    first_of_host: dict[str, Rank] = {}
    begun_ns: dict[str, int] = {}
    for rank in ranks:
        of_host = first_of_host.setdefault(rank.boot_id, rank)
        start_ns = _origin_ns(rank) + _monotonic_offset(of_host, rank)[0]
        begun_ns[rank.boot_id] = min(start_ns, begun_ns.get(rank.boot_id, start_ns))
    asked = _asked(ranks)
    return [_on_clock_of(first, rank, first_of_host[rank.boot_id], begun_ns, asked) for rank in ranks]


def _on_clock_of(
    first: Rank, rank: Rank, of_host: Rank, begun_ns: dict[str, int], asked: dict[str, _Asked]
) -> Rank:
    """Return a rank with its clock's offset to the first rank of its host, and from there to the first."""
    offset_ns, error_ns = _monotonic_offset(of_host, rank)
    if of_host is first:
        return dataclasses.replace(rank, offset_ns=offset_ns, error_ns=error_ns)
    found = [way for way in (_by_asking(of_host, first, asked), _by_server(of_host, first)) if way]
    if found:
        between_ns, between_error_ns, method = min(found, key=lambda way: way[1])
        return dataclasses.replace(
            rank, offset_ns=offset_ns + between_ns, error_ns=error_ns + between_error_ns, method=method
        )
    offset_ns += begun_ns[first.boot_id] - begun_ns[rank.boot_id]
    return dataclasses.replace(rank, offset_ns=offset_ns, error_ns=None, method=NO_CLOCK)


# What is added to a host's clock to get another's, by how much that may be off, and how it is known.
_Way = tuple[int, int, str]
# The host that was asked, what its CLOCK_MONOTONIC is ahead, and by how much that may be off.
_Asked = tuple[str, int, int]


def _asked(ranks: Sequence[Rank]) -> dict[str, _Asked]:
    """Return what each host knows of the clock that it asked for; who was asked knows its own."""
    found: dict[str, _Asked] = {}
    for rank in ranks:
        peer = rank.owner["job"]["clock"].get("peer")
        if peer:
            own = peer["reference"], int(peer["offset_ns"]), int(peer["error_ns"])
            found[rank.boot_id] = min(own, found.get(rank.boot_id, own), key=lambda one: one[2])
    for reference in {one[0] for one in found.values()}:
        found[reference] = reference, 0, 0
    return found


def _by_asking(one: Rank, other: Rank, asked: dict[str, _Asked]) -> _Way | None:
    """Tell two hosts' clocks apart by what both know of a third one's, or one of them of the other's."""
    own, others = (asked.get(rank.boot_id) for rank in (one, other))
    if own is None or others is None or own[0] != others[0]:
        return None
    clocks = [rank.owner["job"]["clock"] for rank in (one, other)]
    begun_ns, other_begun_ns = (clock["realtime_ns"] - clock["monotonic_ns"] for clock in clocks)
    error_ns = own[2] + others[2] + sum(int(clock.get("error_ns") or 0) for clock in clocks)
    return other_begun_ns - begun_ns + own[1] - others[1], error_ns, ASKED_CLOCK


def _by_server(one: Rank, other: Rank) -> _Way | None:
    """Tell two hosts' clocks apart by what the file server's is ahead of each."""
    server = [rank.owner["job"]["clock"] for rank in (one, other)]
    if any(clock.get("server_offset_ns") is None for clock in server):
        return None
    error_ns = sum(clock["server_error_ns"] or 0 for clock in server)
    return server[0]["server_offset_ns"] - server[1]["server_offset_ns"], error_ns, SERVER_CLOCK


def _monotonic_offset(reference: Rank, rank: Rank) -> tuple[int, int]:
    """Return what CLOCK_REALTIME was set by between the starts of two ranks of one host, and the error."""
    clocks = [one.owner["job"]["clock"] for one in (reference, rank)]
    if reference is rank or not all(clock.get("monotonic_ns") for clock in clocks):
        return 0, 0
    reference_ns, own_ns = (clock["realtime_ns"] - clock["monotonic_ns"] for clock in clocks)
    error_ns = sum(int(clock.get("error_ns") or 0) for clock in clocks)
    return reference_ns - own_ns, error_ns


def _origin_ns(rank: Rank) -> int:
    return int(rank.owner.get("origin_realtime_ns") or 0)


def _span_ns(rank: Rank) -> tuple[int, int]:
    """Return when a rank's session began and ended, by the first rank's clock."""
    start_ns = _origin_ns(rank) + rank.offset_ns
    metas = [process.meta for process in rank.processes]
    return start_ns, start_ns + max(meta["start_ns"] + meta["duration_ns"] for meta in metas)


def _waited(rank: Rank) -> tuple[bool, bool, float]:
    """Return whether a rank says what its steps wait for, or has steps, and the share of them that it waited.

    Without waits it is how long its processes were in calls. Not the share of its time, which is large for a
    rank that was killed: it ends with its last call.
    """
    columns = marked_columns(rank.processes[0])
    exposed_ns = columns["exposed_wait_ns"]
    waits_ns = np.where(exposed_ns >= 0, exposed_ns, columns["input_wait_ns"])
    if (waits_ns >= 0).any():
        lasted_ns = int(columns["end_ns"][-1] - columns["start_ns"][0])
        return True, True, float(waits_ns[waits_ns >= 0].sum()) / max(lasted_ns, 1)
    io_ns = sum(int(process.meta["time"]["io_ns"] or 0) for process in rank.processes)
    return False, len(waits_ns) > 0, io_ns


def _shifted(process: ProcessData, rank: Rank, origin_ns: int) -> ProcessData:
    """Return a process whose times count from the joint session's start."""
    shift_ns = _origin_ns(rank) + rank.offset_ns - origin_ns
    meta = dict(process.meta)
    meta["start_ns"] = meta["start_ns"] + shift_ns
    # Steps are in ns of the rank's own clock.
    meta["origin_realtime_ns"] = origin_ns - rank.offset_ns
    overview = meta["tables"].get("overview")
    if overview:
        moved_overview = overview | {"start_ns": overview.get("start_ns", 0) + shift_ns}
        meta["tables"] = meta["tables"] | {"overview": moved_overview}
    trace = meta.get("tensorflow")
    if trace:
        moved = {name: trace[name] + shift_ns for name in ("start_ns", "end_ns") if trace.get(name)}
        meta["tensorflow"] = trace | {"start_ns": shift_ns} | moved
    return dataclasses.replace(
        process,
        meta=meta,
        shift_ns=shift_ns,
        clock=rank.boot_id,
        clock_error_ns=rank.error_ns,
        rank=rank.rank,
    )
