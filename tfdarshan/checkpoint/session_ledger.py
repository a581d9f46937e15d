"""The burst buffer's ledger in a session: the checkpoints that were saved while it recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from tfdarshan.checkpoint.ledger import SESSION_SUFFIX, CheckpointRow, read_ledger
from tfdarshan.errors import SessionDataError, reason
from tfdarshan.sessions.process_data import ProcessData

TEXTS = ("id", "checkpoint", "target", "outcome", "reason")
REQUIRED = ("id", "outcome")
MOST = 1 << 62


def session_ledger(processes: Sequence[ProcessData]) -> list[CheckpointRow]:
    """Gives one row per checkpoint of all processes, in the order of saving; [] without a burst buffer.

    A row whose values are not what the ledger writes is left out: a session may come from anybody.

    Raises:
        SessionDataError: A ledger cannot be read.
    """
    rows: list[CheckpointRow] = []
    for process in processes:
        path = process.directory / f"{process.meta['host']}.{process.pid}{SESSION_SUFFIX}"
        try:
            rows += filter(_is_sound, read_ledger(path))
        except OSError as error:
            raise SessionDataError(f"{path} cannot be read: {reason(error)}.") from error
    return sorted(rows, key=lambda row: row.saved_at or 0.0)


def _is_sound(row: CheckpointRow) -> bool:
    return all(_fits(field.name, getattr(row, field.name)) for field in fields(row))


def _fits(name: str, value: object) -> bool:
    if value is None:
        return name not in REQUIRED
    if name in TEXTS:
        return isinstance(value, str)
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MOST
