"""The replay model of a job's newest session."""

from __future__ import annotations

from collections.abc import Sequence

from tfdarshan.analysis.measured_session import MeasuredSession, measure_session
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.session_model import session_model


def newest_job(runs: Sequence[MeasuredSession]) -> ModelledJob:
    """Return it; of several ranks that of the leading one.

    Args:
        runs: Sessions of one job, or of like ones.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    newest = max(runs, key=lambda run: int(run.session.meta[0].get("origin_realtime_ns") or 0))
    if newest.session.joint is not None:
        newest = measure_session(newest.session.leading, data_folder=newest.data_folder)
    return session_model(newest)
