"""What the staging files must hold, field by field: the plan, and a line of the journal."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

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


class PromiseShape(Struct, frozen=True):
    """What a plan promises; `question.Promise` says what the fields are."""

    epoch_s: Amount
    saved_s: Number
    low_s: Number
    high_s: Number
    readers: Amount
    staged_passes: Amount
    staged_bytes: Amount
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
    plan: Annotated[str, Meta(min_length=1)]
    inode: Count = 0
    size: Count = 0
    mtime_ns: Integer = 0
    source_mtime_ns: Integer = 0
    checksum: str = ""
    policy: str = ""
    target: str = ""
