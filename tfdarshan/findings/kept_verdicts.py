"""Verdicts that were worked out once, kept for whoever lists a logdir: its sessions never change.

They are in the user's own cache folder, one file for each logdir: a logdir may be somebody else's. What is
kept is of one version of tfdarshan and of one state of a session's files; anything else is as good as none.
That some of it cannot be read is of all its files, which may still be copied, and of no machine that failed.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan.durable.user_folders import cache_folder
from tfdarshan.errors import SessionDataError, StorageError
from tfdarshan.native.versions import VERSION
from tfdarshan.sessions.catalogue import ListedSession
from tfdarshan.sessions.whole_file import TooLargeError
from tfdarshan.thresholds import THRESHOLD

if TYPE_CHECKING:
    from tfdarshan.findings.diagnosis import Diagnosis

UNREADABLE = "its data cannot be read"


@dataclass(frozen=True)
class KeptVerdict:
    """What a list says of a session.

    Attributes:
        state: "slow", "healthy" or "unknown".
        sentence: The whole verdict.
        finding: The finding whose fix it names, "" if none.
        title: What costs most, in a few words.
        speedup: What the fix gives, None if there is none.
        wait_share: Share of step time that waits for input, None if unknown.
        lost_s: Seconds of the session that the fix is expected to give back.
        in_part: Whether it is of a part of the session: the rest cannot be read.
    """

    state: str
    sentence: str
    finding: str = ""
    title: str = ""
    speedup: float | None = None
    wait_share: float | None = None
    lost_s: float = 0.0
    in_part: bool = False


class KeptVerdicts:
    """The verdicts of one logdir's sessions.

    Args:
        logdir: The logdir.
    """

    def __init__(self, logdir: Path) -> None:
        self._file = _file_of(logdir)
        self._entries = {} if self._file is None else _read(self._file)
        self._changed = False

    def get(self, session: ListedSession) -> KeptVerdict | None:
        """Return the verdict on a session, None if it is not kept."""
        entry = self._entries.get(session.name)
        if not isinstance(entry, dict):
            return None
        from tfdarshan.sessions.checked_json import DecodingError, check

        with suppress(DecodingError):
            verdict = check(entry, KeptVerdict)
            return verdict if entry.get("age") == _age(session, verdict) else None
        return None

    def put(self, session: ListedSession, verdict: KeptVerdict) -> None:
        """Keep a verdict; `save()` writes it."""
        self._entries[session.name] = asdict(verdict) | {"age": _age(session, verdict)}
        self._changed = True

    def put_unreadable(self, session: ListedSession, error: SessionDataError | OSError) -> KeptVerdict:
        """Keep that a session cannot be read, unless the machine failed, and return the verdict."""
        verdict = KeptVerdict("unknown", str(error), title=UNREADABLE)
        if not _may_pass(error) and not _may_pass(error.__cause__):
            self.put(session, verdict)
        return verdict

    def save(self) -> None:
        """Write what was added. Where the cache folder cannot be written nothing is kept."""
        if self._file is None or not self._changed or len(self._entries) > THRESHOLD["listed"]:
            return
        content = json.dumps({"version": VERSION, "sessions": self._entries})
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            partial = self._file.with_suffix(f".{os.getpid()}")
            partial.write_text(content, encoding="ascii")
            partial.replace(self._file)


def kept_verdict(diagnosis: Diagnosis, *, in_part: bool = False) -> KeptVerdict:
    """Take from a diagnosis what a list says; `in_part` if a part of the session was left out."""
    verdict = diagnosis.verdict
    named = diagnosis.named
    gain = verdict.gain if verdict.state == "slow" else None
    return KeptVerdict(
        state=verdict.state,
        sentence=verdict.sentence,
        finding=verdict.finding,
        title="" if named is None else named.title,
        speedup=None if gain is None else min(gain.speedup, 1e9),
        wait_share=verdict.wait_share,
        lost_s=0.0 if gain is None else gain.saved_s * diagnosis.units,
        in_part=in_part,
    )


def _file_of(logdir: Path) -> Path | None:
    """Return where a logdir's verdicts are kept, None if this user has no folder for that."""
    with suppress(StorageError):
        name = hashlib.sha256(os.fsencode(logdir.resolve())).hexdigest()[:32]
        return cache_folder() / "verdicts" / f"{name}.json"
    return None


def _read(file: Path) -> dict[str, Any]:
    from tfdarshan.sessions.checked_json import DecodingError, decode_json

    with suppress(OSError, DecodingError):
        content = decode_json(file.read_bytes())
        if isinstance(content, dict) and content.get("version") == VERSION:
            sessions = content.get("sessions")
            return sessions if isinstance(sessions, dict) else {}
    return {}


def _may_pass(error: BaseException | None) -> bool:
    """Return whether the machine failed, not the data."""
    return isinstance(error, MemoryError | TooLargeError) or (
        isinstance(error, OSError) and error.errno is not None
    )


def _age(session: ListedSession, verdict: KeptVerdict) -> list[list[Any]]:
    """Return when its metadata were written, and if some of it cannot be read the state of all its files."""
    age: list[list[Any]] = [list(file) for file in session.age]
    if verdict.in_part or verdict.title == UNREADABLE:
        with suppress(OSError):
            age += sorted(_stamp(path, session.path) for path in session.path.rglob("*"))
    return age


def _stamp(path: Path, folder: Path) -> list[Any]:
    status = path.lstat()
    name = os.fsencode(path.relative_to(folder)).hex()
    return [name, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
