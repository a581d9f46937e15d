"""The sessions with their verdicts, as `tfdarshan list` has them: the worst first, overlapping ones together.

A request reads metadata and kept verdicts. One that asks for more looks at sessions that were never looked
at for `LOOK_S`, and small ones only; what it finds is kept in the user's cache folder, where `list` keeps it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import Any

from tfdarshan.errors import SessionDataError
from tfdarshan.file_name import printable, shell_word
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.kept_verdicts import KeptVerdict, KeptVerdicts, kept_verdict
from tfdarshan.reports.text.command_text import as_typed
from tfdarshan.reports.text.list_text import why
from tfdarshan.reports.views.panel import Headline, Panel
from tfdarshan.sessions.catalogue import (
    COMPLETE,
    INTERRUPTED,
    ListedSession,
    groups_in_time,
    list_session,
    list_sessions,
)
from tfdarshan.units import human_seconds, human_times, percent, started_at

from .session_store import LIST_SECONDS, Listed, SessionStore, open_readable

LOOK_S, MOST_SEGMENTS = 0.5, 200_000
Verdicts = dict[Path, KeptVerdict]


class SessionList:
    """Lists the sessions of TensorBoard's logdirs.

    Args:
        store: Which sessions are shown.
        clock: Gives seconds; metadata is read anew after LIST_SECONDS.
    """

    def __init__(self, store: SessionStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._lock, self._looking = Lock(), Lock()
        self._listed: list[ListedSession] = []
        self._listed_at = float("-inf")

    def answer(self, *, look: bool) -> dict[str, Any]:
        """Return groups of rows, and how many sessions nobody looked at; `look` looks at some first."""
        shown = self._store.sessions()
        ids = {listed.path: listed.id for listed in shown}
        sessions = self._sessions(ids)
        kept = _Kept(shown)
        verdicts = {one.path: found for one in sessions if (found := kept.get(one)) is not None}
        left = self._look(sessions, kept, verdicts) if look else _missing(sessions, verdicts)
        groups = sorted(groups_in_time(sessions), key=lambda group: _rank(group, verdicts))
        rows = [[_row(ids[one.path], one, verdicts.get(one.path)) for one in group] for group in groups]
        return {"groups": rows, "left": len(left), "too_large": sum(map(_is_large, left))}

    def keep(self, path: Path, verdict: KeptVerdict) -> None:
        """Keep a verdict that was worked out for a view."""
        logdir = self._logdir_of(path)
        session = None if logdir is None else list_session(path, logdir)
        if session is None or logdir is None:
            return
        with self._looking:
            kept = KeptVerdicts(logdir)
            if kept.get(session) is None:
                kept.put(session, verdict)
            kept.save()

    def verdict(self, path: Path) -> list[Panel]:
        """Return the verdict that is kept of a session, until its findings are there; nothing if none is."""
        logdir = self._logdir_of(path)
        session = None if logdir is None else list_session(path, logdir)
        found = None if session is None or logdir is None else KeptVerdicts(logdir).get(session)
        return [] if found is None else [Headline(found.sentence, found.state)]

    def nearest(self, wanted: Listed) -> str:
        """Return the id of the complete session to compare one with: the same command's, then the same run's.

        Of several the one before it, then the nearest in time; itself if there is no other.
        """
        ids = {listed.path: listed.id for listed in self._store.sessions() if listed.state == COMPLETE}
        sessions = self._sessions(ids)
        mine = next((one for one in sessions if one.path == wanted.path), None)
        others = [one for one in reversed(sessions) if one is not mine]
        if mine is None or not others:
            return wanted.id
        return ids[min(others, key=lambda one: _distance(one, mine)).path]

    def _logdir_of(self, path: Path) -> Path | None:
        return next((listed.logdir for listed in self._store.sessions() if listed.path == path), None)

    def _sessions(self, shown: Container[Path]) -> list[ListedSession]:
        """List those that the tab shows: a link in the logdir may lead to others."""
        with self._lock:
            if self._clock() - self._listed_at > LIST_SECONDS:
                folders = [logdir.path for logdir in self._store.logdirs if logdir.path.is_dir()]
                self._listed = [session for folder in folders for session in list_sessions(folder)]
                self._listed_at = self._clock()
            return [session for session in self._listed if session.path in shown]

    def _look(
        self, sessions: Sequence[ListedSession], kept: _Kept, verdicts: Verdicts
    ) -> list[ListedSession]:
        """Work out verdicts, the newest session's first; return the sessions that are left."""
        missing = _missing(sessions, verdicts)
        # Another request that looks at them is enough.
        if not self._looking.acquire(blocking=False):
            return missing
        try:
            until_s = self._clock() + LOOK_S
            for session in [one for one in missing if not _is_large(one)]:
                verdicts[session.path] = _verdict_on(session, kept)
                if self._clock() >= until_s:
                    break
            kept.save()
        finally:
            self._looking.release()
        return _missing(missing, verdicts)


def _distance(one: ListedSession, mine: ListedSession) -> tuple[int, bool, bool, int]:
    """Return how far apart two sessions are: in words of their commands, runs, and time."""
    words = zip(*(as_typed(session.command).split() for session in (one, mine)), strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], words))
    later = one.start_ns > mine.start_ns
    return -alike, one.run != mine.run, later, abs(one.start_ns - mine.start_ns)


class _Kept:
    """The verdicts that are kept of the sessions of all logdirs.

    Args:
        shown: The sessions.
    """

    def __init__(self, shown: Sequence[Listed]) -> None:
        self._logdirs = {listed.path: listed.logdir for listed in shown}
        self._kept = {logdir: KeptVerdicts(logdir) for logdir in set(self._logdirs.values())}

    def get(self, session: ListedSession) -> KeptVerdict | None:
        """Return the verdict on a session, None if it is not kept."""
        return self._of(session).get(session)

    def put(self, session: ListedSession, verdict: KeptVerdict) -> None:
        """Keep a verdict; `save()` writes it."""
        self._of(session).put(session, verdict)

    def put_unreadable(self, session: ListedSession, error: SessionDataError | OSError) -> KeptVerdict:
        """Keep that a session cannot be read, unless that may pass; return the verdict."""
        return self._of(session).put_unreadable(session, error)

    def save(self) -> None:
        """Write what was added."""
        for kept in self._kept.values():
            kept.save()

    def _of(self, session: ListedSession) -> KeptVerdicts:
        return self._kept[self._logdirs[session.path]]


def _missing(sessions: Sequence[ListedSession], verdicts: Verdicts) -> list[ListedSession]:
    found = [one for one in sessions if one.state == COMPLETE and one.path not in verdicts]
    return sorted(found, key=lambda one: -one.start_ns)


def _is_large(session: ListedSession) -> bool:
    """Return whether it takes too long to look at a session that nobody opened."""
    return session.segments > MOST_SEGMENTS


def _verdict_on(session: ListedSession, kept: _Kept) -> KeptVerdict:
    try:
        read = open_readable(session.path)
        verdict = kept_verdict(diagnose(read), in_part=read.left_out)
    except (SessionDataError, OSError) as error:
        return kept.put_unreadable(session, error)
    kept.put(session, verdict)
    return verdict


def _rank(group: Sequence[ListedSession], verdicts: Verdicts) -> tuple[float, int]:
    """Sort by the seconds lost by all of a group, then the newest first."""
    lost_s = sum(verdicts[one.path].lost_s for one in group if one.path in verdicts)
    return -lost_s, -max(one.start_ns for one in group)


def _row(session_id: str, session: ListedSession, verdict: KeptVerdict | None) -> dict[str, Any]:
    share = None if verdict is None else verdict.wait_share
    speedup = None if verdict is None else verdict.speedup
    said = why(session, verdict)
    if session.state == INTERRUPTED:
        said += f": `tfdarshan recover {shell_word(session.path.parents[2])}` writes what it recorded"
    return {
        "id": session_id,
        "state": session.state,
        "when": started_at(session.start_ns),
        "lasted": human_seconds(session.duration_ns / 1e9) if session.state == COMPLETE else "-",
        "waits": "-" if share is None else percent(share, 1),
        "gain": "-" if speedup is None else human_times(speedup),
        "why": printable(said),
        "slow": verdict is not None and verdict.state == "slow",
        "job": printable(as_typed(session.command)),
        "command": printable(session.command),
    }
