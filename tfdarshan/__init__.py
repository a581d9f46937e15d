"""tfdarshan: see a job's file I/O with one line, counted by Darshan's definitions.

Importing this package does nothing: no library is loaded, no TensorFlow is imported.
"""

from __future__ import annotations

import importlib
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
    from tfdarshan.profiler import Profile, profile
    from tfdarshan.session import Session, find_sessions, open_session
    from tfdarshan.staging.redirect import staged
    from tfdarshan.steps import step
    from tfdarshan.tf_profiler import disable, enable

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
]

_HOMES = {
    "ConfigurationError": "errors",
    "Profile": "profiler",
    "Session": "session",
    "SessionActiveError": "errors",
    "SessionDataError": "errors",
    "StorageError": "errors",
    "TfdarshanError": "errors",
    "UnsupportedPlatformError": "errors",
    "disable": "tf_profiler",
    "enable": "tf_profiler",
    "find_sessions": "session",
    "open_session": "session",
    "profile": "profiler",
    "step": "steps",
    "staged": "staging.redirect",
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
