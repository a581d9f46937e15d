"""What a session takes on disk."""

from __future__ import annotations

from pathlib import Path

import tfdarshan


def session_size(session: tfdarshan.recording.profiler.Profile) -> dict[str, int]:
    """Return its segments, and the bytes of the events table and of all its files."""
    paths = list(Path(session.path).iterdir())
    events = [path for path in paths if path.name.endswith(".events.parquet")]
    return {
        "segments": sum(meta["counts"]["segments"] for meta in session.meta),
        "events_bytes": sum(path.stat().st_size for path in events),
        "session_bytes": sum(path.stat().st_size for path in paths),
    }
