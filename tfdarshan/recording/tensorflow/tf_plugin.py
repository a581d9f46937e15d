"""Loads tfdarshan into TensorFlow's profiler: at once, or as soon as the job has imported TensorFlow.

TensorFlow is never imported from here before the job imports it.
"""

from __future__ import annotations

from collections.abc import Callable

from tfdarshan.errors import reason
from tfdarshan.frameworks import late_import
from tfdarshan.native import _bridge, _extension
from tfdarshan.notice import warn

TENSORFLOW = "tensorflow"

_problem: str | None = None


def tensorflow_imported() -> bool:
    """Return whether the job has imported TensorFlow, all of it."""
    return late_import.is_imported(TENSORFLOW)


def load_plugin() -> bool:
    """Make the C extension a plug-in of the imported TensorFlow's profiler; once per process.

    Returns:
        Whether it is one. Where it is not a warning has said so, once.
    """
    global _problem
    if _bridge.tensorflow_registered():
        return True
    if _problem is None:
        _problem = _load() or (
            "" if _bridge.tensorflow_registered() else "TensorFlow did not take the plug-in"
        )
        if _problem:
            warn(
                f"TensorFlow's profiles will not show I/O: {_problem.rstrip('.')} (its profiler's plug-in "
                "interface is missing or another one); tfdarshan.profile() works without it."
            )
    return _bridge.tensorflow_registered()


def _load() -> str:
    """Load it and return what went wrong.

    TensorFlow's public function for this also lists the devices anew, and would forget how the job has
    configured them.
    """
    try:
        from tensorflow.python.client import pywrap_tf_session

        pywrap_tf_session.TF_LoadPluggableDeviceLibrary(_extension.extension_path())
    except Exception as error:
        return reason(error)
    return ""


def when_imported(action: Callable[[], None]) -> None:
    """Calls `action` now if TensorFlow is imported, else right after the job has imported it."""
    late_import.when_imported(TENSORFLOW, action)
