"""TensorFlow's trace beside a session: runs TensorFlow's profiler along, and finds the file it wrote.

TensorFlow names a profile, `<logdir>/plugins/profile/<stamp>/<host>.xplane.pb`, by the second it is written
in, and tells nobody. So the folders before and after are compared, and a file is ours only if it holds our
mark: two processes of one host write over each other's file if they write in the same second. Ours wait for
each other, and each gives its file a name of its own; of others' nothing is known.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.errors import SessionDataError, reason
from tfdarshan.native import _bridge
from tfdarshan.notice import warn
from tfdarshan.recording.active_recording import Recording
from tfdarshan.sessions.session_directory import MARKER, PLUGIN_FOLDER, read_marker
from tfdarshan.sessions.traces.xspace import ANY_MARK, holds_mark

LOST = (
    "another process of this host wrote over the trace of TensorFlow's profiler, which TensorFlow names by "
    "host and second: the steps in it are not known"
)
PROFILE_FOLDER = Path("plugins") / "profile"
TRACE_SUFFIX = ".xplane.pb"

# So long one process waits for another's trace; it is written in less.
MOST_WAIT_S = 10.0
LOOK_S = 0.01

Traces = dict[Path, int]


@contextmanager
def writing_alone(logdir: Path) -> Iterator[None]:
    """Have other processes wait to write a trace into a logdir, and wait for them; where it can be locked."""
    try:
        folder = os.open(logdir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        _lock(folder)
        yield
    finally:
        os.close(folder)


def _lock(folder: int) -> None:
    until_s = time.monotonic() + MOST_WAIT_S
    while time.monotonic() < until_s:
        try:
            return fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOOK_S)
        except OSError:  # not on this file system
            return None
    return None


def list_traces(logdir: Path) -> Traces:
    """Return the traces of a logdir, with the time each was last written, in ns since the epoch."""
    found = {}
    for path in (logdir / PROFILE_FOLDER).glob(f"*/*{TRACE_SUFFIX}"):
        try:
            found[path] = path.stat().st_mtime_ns
        except OSError:
            continue
    return found


def new_traces(logdir: Path, before: Traces) -> list[Path]:
    """List the traces written since `before` was listed, this host's first, the newest first."""
    own = f"{socket.gethostname()}{TRACE_SUFFIX}"
    changed = [
        (path.name == own, written, path)
        for path, written in list_traces(logdir).items()
        if before.get(path) != written
    ]
    return [path for *_, path in sorted(changed, reverse=True)]


@dataclass(frozen=True)
class WrittenTrace:
    """A trace that TensorFlow wrote, and what the plug-in put into it; `path` is None where it is lost."""

    path: Path | None
    session: _bridge.TensorflowSession


def written_trace(logdir: Path, before: Traces) -> WrittenTrace | None:
    """Return the trace that the newest session of TensorFlow's profiler left since `before` was listed."""
    changed, session = new_traces(logdir, before), _bridge.last_tensorflow_session()
    if not changed:
        return None
    own = _marked(changed, session.mark)
    if own is None and not all(path.exists() for path in changed):
        # Another process gave it its own name before it saw that it was not its trace.
        changed = new_traces(logdir, before)
        own = _marked(changed, session.mark)
    if own is not None:
        kept = _kept(own, logdir)
        # Another process may have written over it until it had another name; from then on none can.
        return WrittenTrace(_marked([kept], session.mark), session)
    # A trace in which the plug-in had no room for its plane holds nobody's; an empty one is being written.
    unmarked = (path for path in changed if _size(path) and not holds_mark(path, ANY_MARK))
    return WrittenTrace(next(unmarked, None), session)


def _marked(traces: list[Path], mark: str) -> Path | None:
    return next((path for path in traces if holds_mark(path, mark)), None)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _kept(trace: Path, logdir: Path) -> Path:
    """Rename a trace by its process where others of this host record, which may yet write over it."""
    if trace.name != f"{socket.gethostname()}{TRACE_SUFFIX}" or not _others_record(logdir):
        return trace
    own = trace.with_name(f"{trace.name.removesuffix(TRACE_SUFFIX)}.{os.getpid()}{TRACE_SUFFIX}")
    try:
        return trace.rename(own)
    except OSError:
        return trace


def _others_record(logdir: Path) -> bool:
    """Return whether another process has a session in this logdir that it has not written yet."""
    sessions = logdir / PLUGIN_FOLDER
    for marker in (*sessions.glob(f"*/{MARKER}"), *sessions.glob(f"*/rank-*/{MARKER}")):
        try:
            if read_marker(marker.parent).pid != os.getpid():
                return True
        except SessionDataError:
            continue
    return False


def put_beside(recording: Recording, trace: WrittenTrace | None) -> None:
    """Give a recording its trace's stamp, and say in the metadata what of it is in the trace."""
    if trace is None:
        return
    if trace.path is None:
        recording.add_note(LOST)
        return
    recording.rename(trace.path.parent.name)
    recording.extra["tensorflow"] = {
        "trace": str(trace.path.relative_to(recording.logdir)),
        "start_ns": trace.session.start_ns,
        "end_ns": trace.session.end_ns,
        "events": trace.session.events,
        "left_out": trace.session.left_out,
        "mark": trace.session.mark,
    }


def brought_beside(recording: Recording, trace: WrittenTrace | None) -> WrittenTrace | None:
    """Give a trace the session's stamp, which the job may have been told; return it as it is then."""
    if trace is None or trace.path is None:
        return trace
    folder = recording.logdir / PROFILE_FOLDER / recording.marker.session
    name = trace.path.name
    if recording.marker.job is not None:  # all ranks of a host would give theirs the same name
        name = f"{name.removesuffix(TRACE_SUFFIX)}.{os.getpid()}{TRACE_SUFFIX}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        moved = trace.path.rename(folder / name)
    except OSError:
        return trace
    with suppress(OSError):  # another process's trace is in it too
        trace.path.parent.rmdir()
    return dataclasses.replace(trace, path=moved)


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
        """End it and return its trace; a second call gives the same."""
        with self._lock:
            session, self._session = self._session, None
            if session is not None:
                self._timer.cancel()
                self._export(session)
            return self._trace

    def _export(self, session: Any) -> None:
        try:
            with writing_alone(self._logdir):
                session.export_to_tb()
                self._trace = written_trace(self._logdir, self._before)
        except Exception as error:
            warn(f"TensorFlow's profiler wrote no trace: {reason(error)}.")
        finally:
            _bridge.tensorflow_session_written(False)
