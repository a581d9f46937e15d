"""The burst buffer's ledger in a session: the checkpoints that were saved while it recorded."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.checkpoint.ledger import SESSION_SUFFIX, CheckpointRow, read_ledger
from tfdarshan.errors import SessionDataError, reason
from tfdarshan.sessions.process_data import ProcessData


def session_ledger(processes: Sequence[ProcessData]) -> list[CheckpointRow]:
    """Return one row per checkpoint of all processes, in the order of saving; [] without a burst buffer.

    Raises:
        SessionDataError: A ledger cannot be read.
    """
    rows: list[CheckpointRow] = []
    for process in processes:
        path = process.directory / f"{process.meta['host']}.{process.pid}{SESSION_SUFFIX}"
        try:
            rows += read_ledger(path)
        except OSError as error:
            raise SessionDataError(f"{path} cannot be read: {reason(error)}.") from error
    return sorted(rows, key=lambda row: row.saved_at or 0.0)
