"""What each checkpoint cost and when it was durable: JSON lines, one event each, and the rows they add up to.

Lines are appended to `<fast_dir>/.tfdarshan-burst/ledger.jsonl` as things happen, so that a killed job loses
none of them; while a tfdarshan session records they go to `<session>/<host>.<pid>.checkpoints.jsonl` as well.
`<slow_dir>/.tfdarshan-burst/ledger.jsonl` gets the events of every checkpoint that became durable there.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tfdarshan.sessions.session_directory import BURST_CONTROL, host_name
from tfdarshan.sessions.whole_file import JSON_GROWTH, read_whole

LEDGER = "ledger.jsonl"
SESSION_SUFFIX = ".checkpoints.jsonl"


@dataclass(frozen=True, kw_only=True)
class CheckpointRow:
    """One checkpoint.

    Attributes:
        id: Unlike that of any other.
        checkpoint: Its name on the fast tier.
        target: Its name on the slow tier.
        step: The training step, where it is known.
        outcome: The last that happened: "saved" (its capture began), "fast_durable", "slow_durable", or for
            one that will not get there "skipped", "superseded", "stale", "failed".
        saved_at: When saving began, in seconds since the epoch.
        blocked_s: Seconds for which the caller of save() waited.
        waited_s: Seconds of these that were back pressure.
        size_bytes: Bytes of all its files.
        files: Number of its files.
        fast_durable_at: When it was durable on the fast tier, in seconds since the epoch.
        slow_durable_at: When it was durable on the slow tier, in seconds since the epoch.
        copy_s: Seconds of copying to the slow tier, with syncing, also while it was still written.
        verify_s: Seconds of reading the copy back.
        tries: How often the slow tier was tried.
        backlog_checkpoints: Checkpoints that still waited when this one was durable.
        backlog_bytes: Bytes of these.
        reason: Why it did not get there.
    """

    id: str
    checkpoint: str | None = None
    target: str | None = None
    step: int | None = None
    outcome: str = "saved"
    saved_at: float | None = None
    blocked_s: float | None = None
    waited_s: float | None = None
    size_bytes: int | None = None
    files: int | None = None
    fast_durable_at: float | None = None
    slow_durable_at: float | None = None
    copy_s: float | None = None
    verify_s: float | None = None
    tries: int | None = None
    backlog_checkpoints: int | None = None
    backlog_bytes: int | None = None
    reason: str | None = None


FIELDS = frozenset(field.name for field in fields(CheckpointRow))
# An event of a checkpoint that is as far as it gets; "saved" may be recorded after them.
GIVEN_UP = ("skipped", "superseded", "stale", "failed")
OUTCOMES = ("saved", "fast_durable", "slow_durable", *GIVEN_UP)


class Ledger:
    """Appends events; a ledger that cannot be written is no reason for a checkpoint to fail.

    Args:
        fast_folder: The fast tier.
        slow_folder: The slow tier.
        clock: Gives seconds since the epoch.
    """

    def __init__(
        self, fast_folder: Path, slow_folder: Path, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._fast = fast_folder / BURST_CONTROL / LEDGER
        self._slow = slow_folder / BURST_CONTROL / LEDGER
        self._clock = clock
        self._sessions: dict[str, Path | None] = {}
        self._seen: dict[str, set[str]] = {}
        self._lines: dict[str, list[str]] = {}
        self._late: list[str] = []
        self._lock = threading.Lock()

    def record(self, event: str, unique: str, **values: Any) -> None:
        """Append one event of a checkpoint; `values` are columns of `CheckpointRow`."""
        line = json.dumps({"event": event, "at": self._clock(), "id": unique, **values}) + "\n"
        with self._lock:
            session = self._sessions.setdefault(unique, _session_file())
            self._append(self._fast, line)
            if session is not None:
                self._append(session, line)
            self._keep_for_slow(event, unique, line)

    def flush(self) -> None:
        """Append what the slow tier's ledger has not been given yet."""
        with self._lock:
            text, self._late = "".join(self._late), []
            if text:
                self._append(self._slow, text)

    def _keep_for_slow(self, event: str, unique: str, line: str) -> None:
        """Keep the events of what becomes durable; only the drain's own event writes to the slow tier.

        A save that returns after its checkpoint was durable must not wait for slow storage: its line is late.
        """
        seen = self._seen.setdefault(unique, set())
        seen.add(event)
        self._lines.setdefault(unique, []).append(line)
        if "slow_durable" in seen:
            self._late += self._lines.pop(unique)
        if event == "slow_durable":
            text, self._late = "".join(self._late), []
            self._append(self._slow, text)
        if seen >= {"saved", "slow_durable"} or event in GIVEN_UP:
            del self._seen[unique], self._sessions[unique]
            self._lines.pop(unique, None)

    def _append(self, path: Path, text: str) -> None:
        # A ledger that cannot be written is no reason for a checkpoint to wait.
        with suppress(OSError):
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)


def read_ledger(path: str | os.PathLike[str]) -> list[CheckpointRow]:
    """Add a ledger's events up to one row per checkpoint, in the order of saving; [] without a file.

    What a crash cut short is left out, and so is a row whose values are not what a ledger has: a session, and
    its ledger with it, may come from anybody.

    Raises:
        OSError: It cannot be read.
    """
    try:
        lines = read_whole(Path(path), growth=JSON_GROWTH).splitlines()
    except FileNotFoundError:
        return []
    rows = fold_events(event for line in lines if (event := _event(line)) is not None)
    return [row for row in rows if _is_sound(row)]


def fold_events(events: Iterable[dict[str, Any]]) -> list[CheckpointRow]:
    """Add events up to one row per checkpoint, in the order of their saving."""
    rows: dict[str, CheckpointRow] = {}
    for event in events:
        row = rows.get(event["id"]) or CheckpointRow(id=event["id"])
        known = {name: value for name, value in event.items() if name in FIELDS and name != "outcome"}
        if OUTCOMES.index(event["event"]) > OUTCOMES.index(row.outcome):
            known["outcome"] = event["event"]
        rows[row.id] = replace(row, **known)
    return sorted(rows.values(), key=_saved_at)


def _saved_at(row: CheckpointRow) -> float:
    return row.saved_at if isinstance(row.saved_at, (int, float)) else 0.0


def ledger_path(folder: Path) -> Path:
    """Return where a tier's ledger is."""
    return folder / BURST_CONTROL / LEDGER


def _event(line: bytes) -> dict[str, Any] | None:
    """Read a line; None for one that a crash cut short, or that is of no event."""
    from tfdarshan.checkpoint.tier_shape import EventShape
    from tfdarshan.sessions.checked_json import DecodingError, check, decode_json

    try:
        event: dict[str, Any] = decode_json(line)
        return event if check(event, EventShape).event in OUTCOMES else None
    except DecodingError:
        return None


def _is_sound(row: CheckpointRow) -> bool:
    from tfdarshan.checkpoint.tier_shape import RowShape
    from tfdarshan.sessions.checked_json import DecodingError, check

    try:
        check(vars(row), RowShape)
    except DecodingError:
        return False
    return True


def _session_file() -> Path | None:
    """Return the file of the session that records in this process, if there is one; loads nothing for it."""
    lock = sys.modules.get("tfdarshan.recording.session_lock")
    active = getattr(lock, "_active", None)
    if active is None or not active.in_this_process():
        return None
    path: Path = active.path / f"{host_name()}.{os.getpid()}{SESSION_SUFFIX}"
    return path
