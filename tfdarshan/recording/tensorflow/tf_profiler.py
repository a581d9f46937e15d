"""Joins TensorFlow's profiler: `enable()` for the job's own sessions, and one that runs beside `profile()`.

The plug-in in C takes part in every session of TensorFlow's profiler. Where the job starts one from Python,
`tf_stand_in` sees to it that a whole session of ours goes beside the trace. Captures asked for over the
network pass no Python: the plug-in records alone, and the trace carries what a session can be made of.
"""

from __future__ import annotations

import atexit
from pathlib import Path
from typing import Any

from tfdarshan.errors import ConfigurationError, reason
from tfdarshan.native import _bridge
from tfdarshan.notice import warn
from tfdarshan.options import MIN_MEMORY_CAP_MB, Options, make_options
from tfdarshan.recording.spool import MIB, choose_folder
from tfdarshan.recording.tensorflow.session_proxy import original_functions, stand_in
from tfdarshan.recording.tensorflow.tf_plugin import load_plugin, tensorflow_imported, when_imported
from tfdarshan.recording.tensorflow.tf_trace import TensorflowTrace, Traces, list_traces
from tfdarshan.sessions import pending

_enabled: Options | None = None
_running: TensorflowTrace | None = None


def enable(**options: Any) -> None:
    """Lets every session of TensorFlow's profiler in this process carry the I/O, from now on.

    TensorFlow is not imported by this; where the job imports it later, its profiler is joined then. Called
    again, it takes the new options.

    Args:
        **options: The fields of `tfdarshan.options.Options`; the engine of captures asked for over the
            network is always the builtin one.

    Raises:
        ConfigurationError: An option cannot be used.
        UnsupportedPlatformError: tfdarshan cannot work here.
        StorageError: There is no folder for the recordings.
    """
    global _enabled
    first, checked = _enabled is None, make_options(options)
    _bridge.enable_tensorflow(
        choose_folder(checked),
        capacity_bytes=checked.memory_cap_mb * MIB,
        trace_limit_bytes=checked.trace_limit_mb * MIB if checked.trace else 0,
        smallest_bytes=MIN_MEMORY_CAP_MB * MIB,
        include=checked.include_patterns(),
        exclude=checked.exclude_patterns(),
        follow_children=checked.follow_children,
    )
    _enabled = checked
    if first:
        when_imported(_join_enabled)
        atexit.register(disable)


def disable() -> None:
    """Undoes `enable()`: sessions of TensorFlow's profiler that start from now on carry no I/O."""
    global _enabled
    if _enabled is not None:
        _enabled = None
        _bridge.disable_tensorflow()
        atexit.unregister(disable)
    pending.wait()


def prepare_trace(logdir: Path, options: Options) -> Traces | None:
    """Decides, before a recording starts, whether a session of TensorFlow's profiler is to run beside it.

    Returns:
        None, or what `start_trace()` has to know: the traces that are there already.

    Raises:
        ConfigurationError: `tf_profiler` is True and TensorFlow is not imported.
    """
    if options.tf_profiler is False or not tensorflow_imported():
        if options.tf_profiler is True:
            raise ConfigurationError(
                "tf_profiler=True needs TensorFlow imported first: import it, or leave the option at 'auto'."
            )
        return None
    return list_traces(logdir) if join() else None


def start_trace(logdir: Path, before: Traces | None, max_s: int) -> TensorflowTrace | None:
    """Starts a session of TensorFlow's profiler beside a recording that has started.

    Returns:
        The session; None where none is wanted, or one of the job's own runs already.
    """
    global _running
    if before is None:
        return None
    try:
        session = original_functions().ProfilerSession()
        _running = TensorflowTrace(logdir, session, before, max_s)
    except Exception as error:
        if type(error).__name__ != "AlreadyExistsError":
            warn(f"TensorFlow's profiler did not start: {reason(error)}.")
        return None
    return _running


def join() -> bool:
    """Makes us part of the imported TensorFlow's profiler; False, after one warning, where that cannot be."""
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
