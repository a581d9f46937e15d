"""What one finding says of a session by itself, with what its fix gives."""

from __future__ import annotations

from types import ModuleType

from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import replayed
from tfdarshan.sessions.session_data import SessionData


def told(session: SessionData, cause: ModuleType) -> Finding | None:
    """Return what a cause's module finds, None if that is nothing, or its fix gives too little for a word."""
    measures = measure(session)
    found = cause.find(measures)
    return next(iter(replayed([found], measures)), None) if isinstance(found, Finding) else None
