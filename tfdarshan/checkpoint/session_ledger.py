"""The burst buffer's ledger in a session: the checkpoints that were saved while it recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfdarshan.checkpoint.ledger import SESSION_SUFFIX, CheckpointRow, read_ledger
from tfdarshan.errors import SessionDataError, reason
from tfdarshan.sessions.process_data import ProcessData


def session_ledgers(processes: Sequence[ProcessData]) -> list[list[CheckpointRow]]:
    """Return of each process that saved through a burst buffer one row per checkpoint, in order of saving.

    Raises:
        SessionDataError: A ledger cannot be read.
    """
    ledgers = []
    for process in processes:
        path = process.directory / f"{process.meta['host']}.{process.pid}{SESSION_SUFFIX}"
        try:
            rows = read_ledger(path)
        except OSError as error:
            raise SessionDataError(f"{path} cannot be read: {reason(error)}.") from error
        if rows:
            ledgers.append(in_order(rows))
    return ledgers


def in_order(rows: Iterable[CheckpointRow]) -> list[CheckpointRow]:
    """Return checkpoints in the order of saving."""
    return sorted(rows, key=lambda row: row.saved_at or 0.0)
