"""The replay model of a job's newest session."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tfdarshan.file_name import table_name
from tfdarshan.replay.calibrate import ModelledJob, calibrated
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.sessions.session_data import SessionData


def newest_job(sessions: Sequence[SessionData], slow: str | None = None) -> ModelledJob:
    """Return it.

    Args:
        sessions: Sessions of one job, or of like ones.
        slow: What is below this folder is input, whatever its name.
    """
    newest = max(sessions, key=lambda one: int(one.meta[0].get("origin_realtime_ns") or 0))
    return calibrated(facts_of(newest, None if slow is None else table_name(os.fsencode(slow))))
