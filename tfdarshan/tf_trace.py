"""TensorFlow's trace beside a session: runs TensorFlow's profiler along, and finds the file it wrote.

TensorFlow names a profile, `<logdir>/plugins/profile/<stamp>/<host>.xplane.pb`, by the time it is written and
tells nobody. So the folders before and after are compared.
"""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan import _bridge
from tfdarshan.errors import reason
from tfdarshan.notice import warn
from tfdarshan.recording import ActiveRecording

PROFILE_FOLDER = Path("plugins") / "profile"
TRACE_SUFFIX = ".xplane.pb"

Traces = dict[Path, int]


def list_traces(logdir: Path) -> Traces:
    """Gives the traces of a logdir, with the time each was last written, in ns since the epoch."""
    found = {}
    for path in (logdir / PROFILE_FOLDER).glob(f"*/*{TRACE_SUFFIX}"):
        try:
            found[path] = path.stat().st_mtime_ns
        except OSError:
            continue
    return found


def new_trace(logdir: Path, before: Traces) -> Path | None:
    """Gives the trace of this host that has been written since `before` was listed."""
    own = f"{socket.gethostname()}{TRACE_SUFFIX}"
    changed = [
        (path.name == own, written, path)
        for path, written in list_traces(logdir).items()
        if before.get(path) != written
    ]
    return max(changed)[2] if changed else None


@dataclass(frozen=True)
class WrittenTrace:
    """A trace that TensorFlow wrote, and what the plug-in put into it."""

    path: Path
    session: _bridge.TensorflowSession


def written_trace(logdir: Path, before: Traces) -> WrittenTrace | None:
    """Gives the trace that the newest session of TensorFlow's profiler left since `before` was listed."""
    path = new_trace(logdir, before)
    return None if path is None else WrittenTrace(path, _bridge.last_tensorflow_session())


def put_beside(recording: ActiveRecording, trace: WrittenTrace | None) -> None:
    """Gives a recording its trace's stamp, and says in the metadata what of it is in the trace."""
    if trace is None:
        return
    recording.rename(trace.path.parent.name)
    recording.extra["tensorflow"] = {
        "trace": str(trace.path.relative_to(recording.logdir)),
        "start_ns": trace.session.start_ns,
        "end_ns": trace.session.end_ns,
        "events": trace.session.events,
        "left_out": trace.session.left_out,
    }


class TensorflowTrace:
    """A session of TensorFlow's profiler that runs along with ours.

    It ends with ours, after `max_s` seconds, or as soon as the job starts a session of its own.
    """

    def __init__(self, logdir: Path, session: Any, before: Traces, max_s: int) -> None:
        self._logdir = logdir
        self._session = session
        self._before = before
        self._lock = threading.Lock()
        self._trace: WrittenTrace | None = None
        _bridge.tensorflow_session_written(True)
        try:
            session.start(str(logdir), {})
        except BaseException:
            _bridge.tensorflow_session_written(False)
            raise
        self._timer = threading.Timer(max_s, self.end)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> WrittenTrace | None:
        """Ends it and gives its trace; a second call gives the same."""
        with self._lock:
            session, self._session = self._session, None
            if session is not None:
                self._timer.cancel()
                self._export(session)
            return self._trace

    def _export(self, session: Any) -> None:
        try:
            session.export_to_tb()
            self._trace = written_trace(self._logdir, self._before)
        except Exception as error:
            warn(f"TensorFlow's profiler wrote no trace: {reason(error)}.")
        finally:
            _bridge.tensorflow_session_written(False)
