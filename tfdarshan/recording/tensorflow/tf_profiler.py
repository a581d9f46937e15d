"""Joins TensorFlow's profiler: `enable()` for the job's own sessions, and one that runs beside `profile()`.

The plug-in in C takes part in every session of TensorFlow's profiler. Where the job starts one from Python,
`tf_stand_in` sees to it that a whole session of ours goes beside the trace. Captures asked for over the
network pass no Python: the plug-in records alone, and the trace carries what a session can be made of.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from tfdarshan.errors import reason
from tfdarshan.frameworks.tensorflow.input_pipelines import before_first_iterator
from tfdarshan.native import _bridge
from tfdarshan.notice import warn
from tfdarshan.options import MIN_MEMORY_CAP_MB, Options, make_options
from tfdarshan.recording.keyword_options import documents_options, option_values, says_wrong_arguments
from tfdarshan.recording.memory_cap_limit import MIB
from tfdarshan.recording.spool import choose_folder
from tfdarshan.recording.tensorflow.session_proxy import original_functions, stand_in
from tfdarshan.recording.tensorflow.tf_plugin import load_plugin, tensorflow_imported, when_imported
from tfdarshan.recording.tensorflow.tf_trace import TensorflowTrace, Traces, WrittenTrace, list_traces
from tfdarshan.sessions import background_writer

_enabled: Options | None = None
_running: TensorflowTrace | None = None
# The recording whose job has not imported TensorFlow yet, and whether its import is being watched for.
_waiting: TraceBeside | None = None
_asked = False


@documents_options()
@says_wrong_arguments
def enable(  # noqa: D417 - options are put in
    *,
    engine: str = "auto",
    darshan_library: str | os.PathLike[str] | None = None,
    darshan_files: int = 1_000_000,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    default_excludes: bool = True,
    memory_cap_mb: int = 1024,
    trace: bool = True,
    trace_memory_mb: int | None = None,
    spool_dir: str | os.PathLike[str] | None = None,
    follow_children: bool = True,
    programs: bool = False,
    mapped: bool | str = False,
    as_if: str | None = None,
    as_if_paths: Sequence[str] = (),
    tf_profiler: bool | str = "auto",
    tf_profiler_max_s: int = 60,
    probe: bool = False,
    job: str | None = None,
) -> None:
    """Let every session of TensorFlow's profiler in this process carry the I/O, from now on.

    TensorFlow is not imported by this; where the job imports it later, its profiler is joined then. Called
    again, it takes the new options. Captures asked for over the network always have the builtin engine.

    Args:
        {options}

    Raises:
        ConfigurationError: An option cannot be used, or there is no such option.
        UnsupportedPlatformError: tfdarshan cannot work here.
        StorageError: There is no folder for the recordings.
    """
    global _enabled
    checked = make_options(option_values(locals()))
    first = _enabled is None
    _bridge.enable_tensorflow(
        choose_folder(checked),
        capacity_bytes=checked.memory_cap_mb * MIB,
        trace_limit_bytes=checked.trace_limit_mb * MIB if checked.trace else 0,
        smallest_bytes=MIN_MEMORY_CAP_MB * MIB,
        include=checked.include_patterns(),
        exclude=checked.exclude_patterns(),
        follow_children=checked.follow_children,
        mapped=checked.mapped,
    )
    _enabled = checked
    if first:
        when_imported(_join_enabled)
        atexit.register(disable)


def disable() -> None:
    """Undo `enable()`: sessions of TensorFlow's profiler that start from now on carry no I/O."""
    global _enabled
    if _enabled is not None:
        _enabled = None
        _bridge.disable_tensorflow()
        atexit.unregister(disable)
    background_writer.wait()


class TraceBeside:
    """The session of TensorFlow's profiler that runs beside one recording.

    Where TensorFlow is imported it starts with the recording. Where the job imports it later it starts with
    the job's first tf.data iterator: before that there is no step to see, and the trace would only grow.

    Args:
        logdir: The recording's logdir.
        options: The recording's options.
    """

    def __init__(self, logdir: Path, options: Options) -> None:
        self._logdir = logdir
        self._mode = options.tf_profiler
        self._max_s = options.tf_profiler_max_s
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._ended = False
        self._before: Traces | None = None
        self._trace: TensorflowTrace | None = None

    def prepare(self) -> None:
        """Find the traces that are there already. Is called before the recording starts."""
        if self._mode is not False and tensorflow_imported() and join():
            self._before = list_traces(self._logdir)

    def start(self) -> None:
        """Start it, or have the job's first iterator start it. Is called when the recording has started."""
        global _waiting, _asked
        if self._before is not None:
            self._trace = _start_trace(self._logdir, self._before, self._max_s)
        elif self._mode is not False and not tensorflow_imported():
            _waiting = self
            if not _asked:
                _asked = True
                when_imported(_wait_for_iterator)

    def start_late(self) -> None:
        """Start it in the middle of its recording; does nothing after that, or in a forked child."""
        with self._lock:
            if self._ended or self._before is not None or os.getpid() != self._pid:
                return
            self._before = list_traces(self._logdir)
            self._trace = _start_trace(self._logdir, self._before, self._max_s)

    def end(self) -> WrittenTrace | None:
        """End it and return its trace, None where there was none."""
        global _waiting
        if _waiting is self:
            _waiting = None
        with self._lock:
            self._ended = True
            trace, self._trace = self._trace, None
        return None if trace is None else trace.end()

    @property
    def lacks(self) -> str:
        """Describe why there is no trace where one was asked for; "" where there is, or nobody asked."""
        if self._mode is not True or tensorflow_imported():
            return ""
        return "tf_profiler=True has no effect: the job never imported TensorFlow"


def _wait_for_iterator() -> None:
    """Is called when the job has imported TensorFlow."""
    waiting = _waiting
    if waiting is not None and join() and not before_first_iterator(waiting.start_late):
        waiting.start_late()


def _start_trace(logdir: Path, before: Traces, max_s: int) -> TensorflowTrace | None:
    """Return a session of TensorFlow's profiler that has started; None where one of the job's own runs."""
    global _running
    try:
        session = original_functions().ProfilerSession()
        _running = TensorflowTrace(logdir, session, before, max_s)
    except Exception as error:
        if type(error).__name__ != "AlreadyExistsError":
            warn(f"TensorFlow's profiler did not start: {reason(error)}.")
        return None
    return _running


def join() -> bool:
    """Make us part of the imported TensorFlow's profiler; False, after one warning, where that cannot be."""
    if not load_plugin():
        return False
    try:
        stand_in(_begin)
    except (ImportError, AttributeError, TypeError) as error:
        warn(
            f"TensorFlow's profiler cannot be followed from Python: {reason(error)}. Its traces show I/O; "
            "sessions beside them are made by `tfdarshan rebuild LOGDIR`."
        )
    return True


def _begin() -> Options | None:
    """The job starts a session of its own, which comes first: TensorFlow runs one at a time."""
    if _running is not None:
        _running.end()
    return _enabled


def _join_enabled() -> None:
    if _enabled is not None:
        join()
