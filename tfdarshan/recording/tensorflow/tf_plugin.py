"""Loads tfdarshan into TensorFlow's profiler: at once, or as soon as the job has imported TensorFlow.

TensorFlow is never imported from here before the job imports it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tfdarshan.errors import reason
from tfdarshan.native import _bridge, _extension
from tfdarshan.notice import warn

_problem: str | None = None


def tensorflow_imported() -> bool:
    """Says whether the job has imported TensorFlow, all of it."""
    module = sys.modules.get("tensorflow")
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)


def load_plugin() -> bool:
    """Makes the C extension a plug-in of the imported TensorFlow's profiler; once per process.

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
    """Loads it and gives what went wrong.

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
    if tensorflow_imported():
        action()
    else:
        sys.meta_path.insert(0, _Finder(action))


class _Finder:
    """Finds TensorFlow as Python would have, and has it call back when it is imported."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Gives TensorFlow's spec with a loader that calls back."""
        if name != "tensorflow":
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = _Loader(spec.loader, self._action)
            spec.loader = loader
        return spec


class _Loader:
    """TensorFlow's own loader, and a call after it."""

    def __init__(self, loader: Any, action: Callable[[], None]) -> None:
        self._loader = loader
        self._action = action

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Makes the module."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Imports TensorFlow, gives it its own loader back, and calls."""
        self._loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._action()
