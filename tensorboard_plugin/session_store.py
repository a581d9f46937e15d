"""The sessions below a logdir, by id: nothing that is not in this list is ever opened."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock, RLock

from tfdarshan.checkpoint.ledger import SESSION_SUFFIX
from tfdarshan.errors import SessionDataError, TfdarshanError
from tfdarshan.file_name import table_name
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session, open_session
from tfdarshan.sessions.find import Began, began
from tfdarshan.sessions.job_liveness import is_recording
from tfdarshan.sessions.overlap import overlapping
from tfdarshan.sessions.rank_folder import is_rank_folder, parts_of
from tfdarshan.sessions.session_directory import MARKER, META_SUFFIX, leads_below, walk_sessions

from .logdirs import Logdir

LIST_SECONDS = 3.0
SOURCES_KEPT = 3
MOST_CALLS_KEPT = 1_000_000
Age = tuple[tuple[str, int], ...]


class UnknownSession(TfdarshanError):  # noqa: N818 - what it says of a request, not of the program
    """An id that is not in the list."""


@dataclass(frozen=True)
class Listed:
    """A session directory.

    Attributes:
        id: `<run>/<session>`, by which requests name it; the run is "." for the logdir itself.
        run: The folder below the logdir that it belongs to.
        name: The session's name.
        state: "complete", "recording" or "interrupted".
        path: Where it is.
        logdir: The one of TensorBoard's logdirs that it is in.
    """

    id: str
    run: str
    name: str
    state: str
    path: Path
    logdir: Path


class SessionStore:
    """Lists sessions and keeps the ones that were looked at last.

    Attributes:
        refused: Sentences on links that were not followed.

    Args:
        logdirs: TensorBoard's logdirs.
        clock: Gives seconds; the list is made anew after LIST_SECONDS.
    """

    def __init__(self, logdirs: Sequence[Logdir], clock: Callable[[], float] = time.monotonic) -> None:
        self.logdirs = logdirs
        self.refused: list[str] = []
        self._clock = clock
        self._lock = Lock()
        self._listed: list[Listed] = []
        self._listed_at = float("-inf")
        self._began: dict[tuple[Path, str], Began] = {}
        self._sources: OrderedDict[tuple[object, ...], tuple[Source, RLock]] = OrderedDict()
        self._described: dict[tuple[object, ...], Session] = {}

    def sessions(self) -> list[Listed]:
        """List the sessions, the newest first."""
        with self._lock:
            if self._clock() - self._listed_at > LIST_SECONDS:
                self._listed = self._walk()
                self._listed_at = self._clock()
            return self._listed

    def find(self, session_id: str) -> Listed:
        """Return a listed session in the state that it has now: it may have ended after the list was made.

        Raises:
            UnknownSession: There is none of that id, or it was removed after the list was made.
        """
        for listed in self.sessions():
            if listed.id == session_id and (state := _state(listed.path)):
                return replace(listed, state=state)
        raise UnknownSession(f"there is no session {session_id[:200]!r} in this logdir.")

    def beside(self, session: Listed) -> list[str]:
        """Name the other complete sessions of the list that were recording while this one was, by id."""
        named = {found.path: found.id for found in self.sessions() if found.state == "complete"}
        return [named[path] for path in overlapping(session.path, named)]

    def source(self, session_id: str, process: str | None) -> tuple[Source, RLock]:
        """Return a complete session, and the lock to hold while its views are made.

        Raises:
            UnknownSession: There is none of that id.
            SessionDataError: Its data cannot be read.
        """
        path = self.find(session_id).path
        written = age(path)
        kept = self._kept(path, process, written)
        if kept is not None:
            return kept
        source = Source(_sound(self._description(path, written)), process)
        with self._lock:
            kept = self._sources.setdefault((path, process, written), (source, RLock()))
            while len(self._sources) > SOURCES_KEPT:
                self._sources.popitem(last=False)
            return kept

    def described(self, session_id: str, process: str | None) -> tuple[Source, RLock]:
        """Return a complete session for what its metadata say: none of its tables has been looked at.

        Raises:
            UnknownSession: There is none of that id.
            SessionDataError: Its metadata cannot be read.
        """
        path = self.find(session_id).path
        written = age(path)
        kept = self._kept(path, process, written)
        return kept or (Source(self._description(path, written), process), RLock())

    def _kept(self, path: Path, process: str | None, written: Age) -> tuple[Source, RLock] | None:
        key = (path, process, written)
        with self._lock:
            if key in self._sources:
                self._sources.move_to_end(key)
            return self._sources.get(key)

    def _description(self, path: Path, written: Age) -> Session:
        """Read the metadata of a session; those that were asked for last are kept."""
        found = self._described.get((path, written))
        if found is None:
            found = _open_described(path)
            self._described = {(path, written): found}
        return found

    def _walk(self) -> list[Listed]:
        found: dict[str, Listed] = {}
        refused: list[Path] = []
        for logdir in self.logdirs:
            for listed in _sessions_in(logdir, refused) if logdir.path.is_dir() else ():
                clear = listed if listed.id not in found else _by_whole_path(listed)
                found[clear.id] = clear
        self.refused = [f"{link} leads out of its run and is not followed." for link in refused]
        known = self._began
        self._began = {
            (listed.path, listed.state): known.get((listed.path, listed.state)) or began(listed.path)
            for listed in found.values()
        }
        return sorted(found.values(), key=lambda one: self._began[one.path, one.state], reverse=True)


def _by_whole_path(listed: Listed) -> Listed:
    """Return a session with another id: runs of two logdirs without a name may have one name."""
    run = Path(_sent(listed.logdir), listed.run).as_posix()
    return replace(listed, id=f"{run}/{listed.name}", run=run)


def _sessions_in(logdir: Logdir, refused: list[Path]) -> Iterator[Listed]:
    """Yield a logdir's sessions that lie in their run's folder; links to elsewhere go to `refused`."""
    inside: dict[Path, bool] = {}
    for path in walk_sessions(logdir.path, refused):
        folder = path.parent.parent.parent
        # To resolve a path takes as long as all else: sessions of one folder are in the same place.
        place = path if path.is_symlink() else path.parent
        if place not in inside:
            inside[place] = place.resolve().is_relative_to(folder.resolve())
            if not inside[place]:
                refused.append(place)
        state = _state(path) if inside[place] else ""
        if state:
            run, name = _sent(Path(logdir.name, folder.relative_to(logdir.path))), _sent(path.name)
            yield Listed(f"{run}/{name}", run, name, state, path, logdir.path)


def _sent(name: str | Path) -> str:
    """Return a name as a page can send it back, which can send no bytes that are not UTF-8."""
    return table_name(os.fsencode(name))


def _state(path: Path) -> str:
    """Return a session's state, "" if there is none; a job's is complete if one of its ranks has written."""
    names = _names(path)
    ranks = [path / name for name in names if is_rank_folder(path / name)]
    states = {_part_state(part, _names(part)) for part in ranks} or {_part_state(path, names)}
    return next((state for state in ("complete", "recording", "interrupted") if state in states), "")


def _names(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def _part_state(path: Path, names: list[str]) -> str:
    if MARKER in names:
        return "recording" if is_recording(path) else "interrupted"
    return "complete" if any(name.endswith(META_SUFFIX) for name in names) else ""


def open_readable(path: Path) -> Session:
    """Open what can be read of a session, and nothing outside of it.

    Raises:
        SessionDataError: Nothing of it can be read, or a link leads out of it.
    """
    return _sound(_open_described(path))


def _open_described(path: Path) -> Session:
    """Open a session by its metadata; only if some are damaged, tables are read to leave out what is."""
    for file in [file for folder in {path, *parts_of(path)} for file in folder.iterdir()]:
        if file.is_symlink() and not leads_below(file, path):
            raise SessionDataError(f"{file} leads out of its session and is not read.")
    try:
        return open_session(path)
    except SessionDataError:
        return open_session(path, skip_damaged=True)


def _sound(session: Session) -> Session:
    """Return the session if its tables can be opened, else without the processes whose tables are damaged."""
    try:
        for part in session.processes:
            for table in ("files", "overview", "events", "thinned", "untraced", "faults"):
                if table in part.meta["tables"]:
                    part.columns(table)
    except SessionDataError:
        return open_session(session.path, skip_damaged=True)
    return session


def age(path: Path) -> Age:
    """Changes when a process is added to the session or written again, or a checkpoint becomes durable."""
    parts, suffixes = parts_of(path), (META_SUFFIX, SESSION_SUFFIX)
    files = [file for part in parts for suffix in suffixes for file in part.glob(f"*{suffix}")]
    return tuple(sorted((f"{file.parent.name}/{file.name}", _written_ns(file)) for file in files))


def _written_ns(file: Path) -> int:
    """Return when a file was written, in ns since the epoch; 0 if it is a link to nothing."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
