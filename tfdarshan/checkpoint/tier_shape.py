"""What the files that a burst buffer keeps must hold, field by field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tfdarshan.sessions.checked_json import Count, Integer, NonEmpty, Number

# As a ledger's numbers: whole or not, and a date or a size at most.
LedgerNumber = Annotated[float, Meta(ge=-(1 << 62), le=1 << 62)]


class EntryShape(Struct, frozen=True):
    """`manifest.Entry` says what the fields are."""

    id: NonEmpty
    order: Count
    name: NonEmpty
    kind: Literal["tensorflow", "file"]
    files: Annotated[tuple[NonEmpty, ...], Meta(min_length=1)]
    size_bytes: Count
    saved_at: Number
    fast_durable_at: Number | None
    fast_id: str
    step: Integer | None = None
    era: Count | None = None


class CopiedShape(Struct, frozen=True):
    """`copying.CopiedFile` says what the fields are."""

    name: NonEmpty
    size_bytes: Count
    digest: NonEmpty


class QueuedShape(Struct, frozen=True):
    """The manifest of a checkpoint that waits on the fast tier."""

    entry: EntryShape


class PublishedShape(Struct, frozen=True):
    """The manifest of a checkpoint on the slow tier; `manifest.Published` says what the fields are."""

    entry: EntryShape
    target: NonEmpty
    copied: Annotated[tuple[CopiedShape, ...], Meta(min_length=1)]


class VersionShape(Struct, frozen=True):
    """What every manifest has."""

    version: Count


class IdentityShape(Struct, frozen=True):
    """A tier's identity; of a slow one, also its era and the fast tier that began it."""

    id: str
    era: Count = 0
    owner: str = ""


class PairingShape(Struct, frozen=True):
    """The slow tier that a fast tier drains to."""

    folder: str
    id: str


class LockShape(Struct, frozen=True):
    """Who has a tier's lock."""

    host: str
    pid: Integer


class EventShape(Struct, frozen=True):
    """What a line of a ledger must have to be one."""

    event: str
    id: str


class RowShape(Struct, frozen=True):
    """`ledger.CheckpointRow` says what the fields are."""

    id: str
    outcome: str
    checkpoint: str | None
    target: str | None
    step: LedgerNumber | None
    saved_at: LedgerNumber | None
    blocked_s: LedgerNumber | None
    waited_s: LedgerNumber | None
    size_bytes: LedgerNumber | None
    files: LedgerNumber | None
    fast_durable_at: LedgerNumber | None
    slow_durable_at: LedgerNumber | None
    copy_s: LedgerNumber | None
    verify_s: LedgerNumber | None
    tries: LedgerNumber | None
    backlog_checkpoints: LedgerNumber | None
    backlog_bytes: LedgerNumber | None
    reason: str | None


def fields_of(shape: Any) -> dict[str, Any]:
    """Return a shape's fields by name."""
    return {name: getattr(shape, name) for name in shape.__struct_fields__}
