"""The replay model of a session that was measured; its facts are kept beside it for the next reader."""

from __future__ import annotations

from tfdarshan.analysis.measured_session import MeasuredSession
from tfdarshan.replay.calibrate import ModelledJob, calibrated
from tfdarshan.replay.kept_facts import as_kept, of_kept
from tfdarshan.replay.session_facts import recorded_facts
from tfdarshan.replay.thinned_facts import thinned


def session_model(measured: MeasuredSession) -> ModelledJob:
    """Return the model, calibrated; by the job's counters if the session has no calls.

    Args:
        measured: The session; of a job of several ranks that of one of them.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    kept = measured.kept.get("replay", lambda: as_kept(thinned(recorded_facts(measured))))
    return calibrated(of_kept(kept, measured.files))
