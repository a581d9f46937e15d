"""The processes of a session as people are told of them: what each is for, and what it moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.counter_groups import BYTES_READ, BYTES_WRITTEN
from tfdarshan.analysis.files.input_files import program_files
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.process_role import (
    HELPER,
    MAIN,
    PROGRAM,
    WORKER,
    Role,
    process_names,
    session_roles,
)

# The order in which they are listed, and what several of a kind are called.
KINDS = {MAIN: "main processes", WORKER: "workers", PROGRAM: "programs", HELPER: "helpers"}


@dataclass(frozen=True)
class NamedProcess:
    """What a process is called.

    Attributes:
        name: `host:pid`, by which views pick it; a later process of that number has `host:pid.2`.
        role: What it is in the session.
        label: Its rank and its role in short, and its number too if others share these.
        hidden: Whether lists leave it out: a helper that read no data and wrote nothing.
    """

    name: str
    role: Role
    label: str
    hidden: bool
    rank: int | None = None

    @property
    def order(self) -> tuple[int, int, int]:
        """Where lists have it: by kind, rank and number."""
        return tuple(KINDS).index(self.role.kind), self.rank or 0, self.role.number


@dataclass(frozen=True)
class ProcessEntry:
    """A process of the summary; bytes are those of recorded files, `duration_s` is while it was recorded.

    `process_start` is in clock ticks since boot, 0 if unknown; `rank` is None in a session of no ranks; the
    other names are `NamedProcess`'s.
    """

    name: str
    label: str
    role: str
    number: int
    host: str
    pid: int
    process_start: int
    threads: int
    calls: int
    bytes_read: int
    bytes_written: int
    duration_s: float
    hidden: bool
    rank: int | None = None


def named_processes(processes: Sequence[ProcessData]) -> list[NamedProcess]:
    """Name all processes of a session, in their order. Of helpers the files tables are read.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    metas = [process.meta for process in processes]
    names, roles = process_names(metas), session_roles(metas)
    one_host = len({meta["host"] for meta in metas}) == 1
    said = [_said(role, process.rank) for process, role in zip(processes, roles, strict=True)]
    several = Counter(said)
    named = []
    for process, name, role, label in zip(processes, names, roles, said, strict=True):
        short = name.rpartition(":")[2] if one_host else name
        shown = label if several[label] == 1 else f"{label} ({short})"
        hidden = role.kind == HELPER and not _moves_data(process)
        named.append(NamedProcess(name, role, shown, hidden, process.rank))
    return named


def _said(role: Role, rank: int | None) -> str:
    """Word a role and the rank that it is of; a rank's main process is the rank."""
    if rank is None:
        return role.label
    return f"rank {rank}" if role.kind == MAIN else f"rank {rank}, {role.label}"


def list_processes(processes: Sequence[ProcessData], moved: Sequence[tuple[int, int]]) -> list[ProcessEntry]:
    """List the processes of a session: the main one, workers by their numbers, programs, helpers.

    An imported log, which does not say what its processes were, has none.

    Args:
        processes: The processes.
        moved: The bytes that each read and wrote, `FileTotals.moved`.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    if any(process.meta.get("darshan") for process in processes):
        return []
    rows = zip(processes, named_processes(processes), moved, strict=True)
    ordered = sorted(rows, key=lambda row: row[1].order)
    return [_entry(process.meta, named, *of_it) for process, named, of_it in ordered]


def labels_of(processes: Sequence[ProcessData]) -> dict[int, str]:
    """Return what `labels_by_pid` does, with no need to add up what processes moved."""
    return labels_by_pid(list_processes(processes, [(0, 0)] * len(processes)))


def labels_by_pid(entries: Sequence[ProcessEntry]) -> dict[int, str]:
    """Return the labels of those processes that no other one shares its number with."""
    count = Counter(entry.pid for entry in entries)
    return {entry.pid: entry.label for entry in entries if count[entry.pid] == 1}


def _entry(meta: dict[str, Any], named: NamedProcess, bytes_read: int, bytes_written: int) -> ProcessEntry:
    return ProcessEntry(
        name=named.name,
        label=named.label,
        role=named.role.kind,
        number=named.role.number,
        host=meta["host"],
        pid=meta["pid"],
        process_start=meta.get("process_start", 0),
        threads=len(meta.get("threads", ())),
        calls=int(meta["counts"]["events"]),
        bytes_read=bytes_read,
        bytes_written=bytes_written,
        duration_s=meta["duration_ns"] / 1e9,
        hidden=named.hidden,
        rank=named.rank,
    )


def _moves_data(process: ProcessData) -> bool:
    """Return whether a process read a byte of a file that is no program's, or wrote one of any."""
    present = set(process.columns("files"))
    read, written = (sorted(present.intersection(names)) for names in (BYTES_READ, BYTES_WRITTEN))
    for batch in process.batches("files", ["path", *read, *written]):
        of_data = ~program_files(batch.column("path"))
        if _any(batch, read)[of_data].any() or _any(batch, written).any():
            return True
    return False


def _any(batch: Any, names: Sequence[str]) -> Array:
    """Return for each row of a table whether one of some counters is not 0."""
    found: Array = np.zeros(batch.num_rows, bool)
    for name in names:
        found |= batch.column(name).fill_null(0).to_numpy(zero_copy_only=False) != 0
    return found
