"""Stands in for the sessions that TensorFlow's `start` and `stop` use, so that one of ours goes along.

Only the module of TensorFlow's own Python functions gets another class of sessions, derived from its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tfdarshan.errors import ConfigurationError, TfdarshanError, reason
from tfdarshan.native import _bridge
from tfdarshan.notice import warn
from tfdarshan.options import Options
from tfdarshan.recording.session_lock import Recorder
from tfdarshan.recording.tensorflow.tf_trace import (
    Traces,
    list_traces,
    put_beside,
    writing_alone,
    written_trace,
)
from tfdarshan.sessions import background_writer

# Called when the job starts a session; gives the options to record it with, None where it is not recorded.
Begin = Callable[[], "Options | None"]


def original_functions() -> Any:
    """Return TensorFlow's own module of profiler functions."""
    from tensorflow.python.profiler import profiler_v2

    return getattr(profiler_v2, "_tfdarshan_original", profiler_v2._pywrap_profiler)


def stand_in(begin: Begin) -> None:
    """Have `begin` asked about every session that the job starts from Python; a second call does nothing.

    Raises:
        ImportError: TensorFlow is another than we know.
        AttributeError: The same.
        TypeError: The same.
    """
    from tensorflow.python.profiler import profiler_v2

    if not hasattr(profiler_v2, "_tfdarshan_original"):
        original = profiler_v2._pywrap_profiler
        profiler_v2._pywrap_profiler = _StandIn(original, _session_class(original.ProfilerSession, begin))
        profiler_v2._tfdarshan_original = original


class _StandIn:
    """TensorFlow's module of profiler functions, with another class of sessions."""

    def __init__(self, original: Any, session_class: type) -> None:
        self._original = original
        self.ProfilerSession = session_class

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def _session_class(base: Any, begin: Begin) -> type:
    class ProfilerSession(base):  # type: ignore[misc]
        """TensorFlow's session, with a recording of ours that starts and ends with it."""

        def __init__(self) -> None:
            super().__init__()
            self._follower = _Follower(begin)

        def start(self, logdir: Any, options: Any) -> None:
            self._follower.start(logdir)
            try:
                super().start(logdir, options)
            except BaseException:
                self._follower.discard()
                raise

        def export_to_tb(self) -> None:
            self._follower.detach()
            with self._follower.writing_alone():
                try:
                    super().export_to_tb()
                finally:
                    self._follower.finish()

        def __del__(self) -> None:
            follower = getattr(self, "_follower", None)
            if follower is not None:
                follower.discard()

    return ProfilerSession


class _Follower:
    """The recording that goes with one session of TensorFlow's profiler. Nothing in it raises."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._recorder: Recorder | None = None
        self._before: Traces = {}

    def start(self, logdir: Any) -> None:
        """Start recording, where that is wanted and nothing records yet."""
        wanted = self._begin()
        if wanted is None or not logdir or _bridge.session_active():
            return
        try:
            recorder = Recorder(os.fsdecode(logdir), **{**wanted.as_dict(), "tf_profiler": False})
            self._before = list_traces(recorder.logdir)
            recorder.begin()
        except (TfdarshanError, TypeError) as error:
            if not isinstance(error, ConfigurationError):  # a remote logdir: the trace carries the session
                warn(f"TensorFlow's profile gets no session beside it: {reason(error)}")
            return
        self._recorder = recorder
        _bridge.tensorflow_session_written(True)

    def detach(self) -> None:
        """End recording; what was recorded stays."""
        if self._recorder is not None:
            self._recorder.detach()

    def writing_alone(self) -> AbstractContextManager[None]:
        """Have other processes that we record wait with their traces."""
        return nullcontext() if self._recorder is None else writing_alone(self._recorder.logdir)

    def finish(self) -> None:
        """Write the session beside the trace, in the background."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        _bridge.tensorflow_session_written(False)
        recording = recorder.release()
        if recording is not None:
            put_beside(recording, written_trace(recorder.logdir, self._before))
            background_writer.submit(recording.write)

    def discard(self) -> None:
        """Forget a recording whose session TensorFlow did not save."""
        recorder, self._recorder = self._recorder, None
        if recorder is None or sys.is_finalizing():
            return
        _bridge.tensorflow_session_written(False)
        recording = recorder.release()
        if recording is not None:
            recording.discard()
