"""What the staging files must hold, field by field: the plan, its promise, and a line of the journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from tfdarshan.sessions.checked_json import Amount, Count, Integer, NonEmpty, Number


class FileShape(Struct, frozen=True, gc=False):
    """A file of a plan; `plan.first_bad_name` checks its name."""

    name: str
    size: Count
    mtime_ns: Integer


class PlanShape(Struct, frozen=True):
    """A plan; `plan.Plan` says what the fields are. The promise has a shape of its own."""

    slow_root: NonEmpty
    fast_root: NonEmpty
    files: list[FileShape]
    reserve_bytes: Count = 0
    checksum: str = "blake2b"
    sessions: tuple[str, ...] = ()
    promise: dict[str, Any] = {}
    written_by: str = ""
    fast_mount: str = ""


@dataclass(frozen=True)
class Promise:
    """What a plan promises, in the terms that a later session can be held against. Times are per epoch.

    Attributes:
        epoch_s: An epoch before: of the steps' time where the sessions have steps, else of all their time.
        saved_s: What staging saves of it.
        low_s: Lower bound of `saved_s`.
        high_s: Upper bound of `saved_s`.
        readers: Threads that read.
        staged_passes: Passes over the staged files.
        staged_slow_s: Readers' time that they took on the slow tier, by the model.
        staged_fast_s: Readers' time that they are to take on the fast tier.
        rest_passes: Passes over the other files.
        rest_slow_s: Readers' time of these.
        whole_epoch_s: Where `epoch_s` is of the steps' time, an epoch of all time; None otherwise.
        reading_epoch_s: An epoch from the first read of the data set to the last, so without start-up; None
            where the sessions do not have all calls.
        cached_share: 1 if the page cache may keep the input from a run's first epoch on: that one is what is
            promised; else 0.
    """

    epoch_s: Amount
    saved_s: Number
    low_s: Number
    high_s: Number
    readers: Amount
    staged_passes: Amount
    staged_slow_s: Amount
    staged_fast_s: Amount
    rest_passes: Amount
    rest_slow_s: Amount
    whole_epoch_s: Amount | None = None
    reading_epoch_s: Amount | None = None
    cached_share: Amount = 0.0


class RecordShape(Struct, frozen=True, gc=False):
    """A line of the journal; `journal.Record` says what the fields are."""

    kind: Literal["file", "link", "folder"]
    name: NonEmpty
    plan: NonEmpty
    inode: Count = 0
    size: Count = 0
    mtime_ns: Integer = 0
    source_mtime_ns: Integer = 0
    checksum: str = ""
    policy: str = ""
    target: str = ""
