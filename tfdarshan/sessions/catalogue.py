"""What every session of a logdir says of itself in its metadata: which job, when, and how long."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tfdarshan.sessions.job_liveness import is_recording
from tfdarshan.sessions.rank_folder import missing_ranks, rank_folders, rank_of
from tfdarshan.sessions.session_directory import (
    MARKER,
    META_SUFFIX,
    no_logdir,
    walk_sessions,
)
from tfdarshan.sessions.whole_file import JSON_GROWTH, read_whole

COMPLETE, RECORDING, INTERRUPTED, DAMAGED = "complete", "recording", "interrupted", "damaged"


@dataclass(frozen=True)
class ListedSession:
    """One session directory.

    Attributes:
        path: Where it is.
        run: The folder below the logdir that it belongs to, "." for the logdir itself.
        state: COMPLETE, RECORDING, INTERRUPTED or DAMAGED; all below is unknown but of a complete one.
        host: Where its owner ran.
        pid: The owner.
        command: The owner's command line.
        start_ns: When it began, in ns since the epoch.
        duration_ns: How long it lasted.
        processes: Processes that recorded something; of an imported log the processes of the job.
        segments: Calls in the trace of the owner.
        emulated: The storage that was emulated, "" if none was.
        age: Its files of metadata, and when each was written in ns since the epoch: another if it changed.
        ranks: Of a joint session, how many ranks have written; 0 for that of one process and its children.
        missing_ranks: Ranks of the job that have not.
        world_size: How many ranks the job has, 0 if it has none or nobody says.
    """

    path: Path
    run: str
    state: str
    host: str = ""
    pid: int = 0
    command: str = ""
    start_ns: int = 0
    duration_ns: int = 0
    processes: int = 0
    segments: int = 0
    emulated: str = ""
    age: tuple[tuple[str, int], ...] = ()
    ranks: int = 0
    missing_ranks: tuple[int, ...] = ()
    world_size: int = 0

    @property
    def end_ns(self) -> int:
        """When it ended, in ns since the epoch."""
        return self.start_ns + self.duration_ns

    @property
    def name(self) -> str:
        """Its name as it is given to other verbs: below a run, after the run's."""
        return self.path.name if self.run == "." else f"{self.run}/{self.path.name}"


def list_sessions(logdir: Path, refused: list[Path] | None = None) -> list[ListedSession]:
    """List the sessions of a logdir and of the runs below it, whatever their state.

    Args:
        logdir: The logdir.
        refused: Links that are not followed are added.

    Raises:
        SessionDataError: The logdir does not exist.
    """
    if not logdir.is_dir():
        raise no_logdir(logdir)
    found = (list_session(path, logdir) for path in walk_sessions(logdir, refused))
    return [session for session in found if session is not None]


def list_session(path: Path, logdir: Path) -> ListedSession | None:
    """List one session of a logdir, of a joint one all its ranks together; None if there is nothing."""
    return _listed_whole(path, _run_of(path.parent, logdir))


def groups_in_time(sessions: Sequence[ListedSession]) -> list[list[ListedSession]]:
    """Put sessions together that recorded at the same time, such as the ranks of a job.

    Only complete ones overlap with others: of the rest nobody knows how long they lasted.
    """
    groups: list[list[ListedSession]] = []
    end_ns = -1
    for session in sorted(sessions, key=lambda one: (one.start_ns, one.path)):
        if session.state == COMPLETE and groups and session.start_ns < end_ns:
            groups[-1].append(session)
        else:
            groups.append([session])
            end_ns = -1
        if session.state == COMPLETE:
            end_ns = max(end_ns, session.end_ns)
    return groups


def _listed_whole(path: Path, run: str) -> ListedSession | None:
    """List a session; of a joint one all its ranks together."""
    folders = rank_folders(path)
    if not folders:
        return _listed(path, run)
    parts = [(rank_of(folder), part) for folder in folders if (part := _listed(folder, run)) is not None]
    written = [(rank, part) for rank, part in parts if part.state == COMPLETE]
    if not written:
        states = {part.state for _, part in parts}
        state = next((one for one in (RECORDING, INTERRUPTED, DAMAGED) if one in states), "")
        return ListedSession(path, run, state, ranks=len(parts)) if state else None
    return _together(path, [rank for rank, _ in written], [part for _, part in written])


def _together(path: Path, ranks: list[int], parts: list[ListedSession]) -> ListedSession:
    """Put the ranks that have written together; each host's clock says when its ranks began."""
    start_ns = min(part.start_ns for part in parts)
    sizes = [part.world_size for part in parts if part.world_size]
    return dataclasses.replace(
        parts[0],
        path=path,
        start_ns=start_ns,
        duration_ns=max(part.end_ns for part in parts) - start_ns,
        processes=sum(part.processes for part in parts),
        segments=sum(part.segments for part in parts),
        age=tuple((f"{part.path.name}/{name}", at_ns) for part in parts for name, at_ns in part.age),
        ranks=len(parts),
        missing_ranks=tuple(missing_ranks(ranks, max(sizes, default=None))),
    )


def _listed(path: Path, run: str) -> ListedSession | None:
    try:
        with os.scandir(path) as entries:
            files = {entry.name: entry.stat().st_mtime_ns for entry in entries if _tells(entry.name)}
    except OSError:
        return ListedSession(path, run, DAMAGED)
    if files.pop(MARKER, None) is not None:
        return ListedSession(path, run, RECORDING if is_recording(path) else INTERRUPTED)
    if not files:
        return None
    age = tuple(sorted(files.items()))
    found = (_read(path / name, path, run, age) for name in sorted(files))
    return next((session for session in found if session is not None), ListedSession(path, run, DAMAGED))


@lru_cache(maxsize=16)
def _run_of(sessions: Path, logdir: Path) -> str:
    return sessions.parent.parent.relative_to(logdir).as_posix()


def _tells(name: str) -> bool:
    return name == MARKER or name.endswith(META_SUFFIX)


def _read(file: Path, path: Path, run: str, age: tuple[tuple[str, int], ...]) -> ListedSession | None:
    """Read the metadata of a session's owner; None if it is another process's, or damaged."""
    from tfdarshan.sessions.checked_json import DecodingError, decode_as
    from tfdarshan.sessions.meta_shape import ListingShape

    try:
        meta = decode_as(read_whole(file, growth=JSON_GROWTH), ListingShape)
    except (OSError, DecodingError):
        return None
    if not meta.owner:
        return None
    children = 0 if meta.children is None else meta.children.recorded
    return ListedSession(
        path=path,
        run=run,
        state=COMPLETE,
        host=meta.host,
        pid=meta.pid,
        command=meta.command,
        start_ns=meta.origin_realtime_ns or 0,
        duration_ns=meta.duration_ns,
        processes=1 + children if meta.darshan is None else meta.darshan.processes,
        segments=meta.counts.segments,
        emulated="" if meta.emulation is None else meta.emulation.model.name,
        age=age,
        world_size=0 if meta.job is None else meta.job.world_size or 0,
    )
