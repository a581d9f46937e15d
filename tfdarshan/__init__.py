"""tfdarshan: see a job's file I/O with one line, counted by Darshan's definitions.

Importing this package records and patches nothing, and imports no TensorFlow. It names the job in the
environment (TFDARSHAN_SESSION), so that workers which are started before a session can join it.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfdarshan.errors import (
        ConfigurationError,
        SessionActiveError,
        SessionDataError,
        StorageError,
        TfdarshanError,
        UnsupportedPlatformError,
    )
    from tfdarshan.recording.profiler import Profile, profile
    from tfdarshan.recording.redirect import staged
    from tfdarshan.recording.step_loop import steps
    from tfdarshan.recording.steps import step
    from tfdarshan.recording.tensorflow.tf_profiler import disable, enable
    from tfdarshan.session import Session, find_sessions, open_session

    __version__: str

__all__ = [
    "ConfigurationError",
    "Profile",
    "Session",
    "SessionActiveError",
    "SessionDataError",
    "StorageError",
    "TfdarshanError",
    "UnsupportedPlatformError",
    "__version__",
    "disable",
    "enable",
    "find_sessions",
    "open_session",
    "profile",
    "staged",
    "step",
    "steps",
]

_HOMES = {
    "ConfigurationError": "errors",
    "Profile": "recording.profiler",
    "Session": "session",
    "SessionActiveError": "errors",
    "SessionDataError": "errors",
    "StorageError": "errors",
    "TfdarshanError": "errors",
    "UnsupportedPlatformError": "errors",
    "disable": "recording.tensorflow.tf_profiler",
    "enable": "recording.tensorflow.tf_profiler",
    "find_sessions": "session",
    "open_session": "session",
    "profile": "recording.profiler",
    "step": "recording.steps",
    "steps": "recording.step_loop",
    "staged": "recording.redirect",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = importlib.import_module("tfdarshan.native.versions").VERSION
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"tfdarshan.{_HOMES[name]}"), name)
    elif name == "keras":
        value = importlib.import_module("tfdarshan.keras")
    else:
        raise AttributeError(f"module 'tfdarshan' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic `%%tfdarshan` to IPython, which calls this for `%load_ext tfdarshan`."""
    importlib.import_module("tfdarshan.commands.cell_magic").add_to(shell)


# pytest imports the plug-ins of all packages that are installed, for tests that are about anything.
if "_pytest" not in sys.modules:
    from tfdarshan.native.job_name import begin_job

    begin_job()
