"""Acts on a module of the job once the job has imported it. Nothing is imported from here."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tfdarshan.errors import reason
from tfdarshan.notice import warn

# Modules whose import is waited for, and what is done then.
_followed: set[tuple[str, Callable[[], None]]] = set()


def is_imported(name: str) -> bool:
    """Return whether the job has imported a module, all of it."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Call `action` now if a module is imported, else right after the job has imported it."""
    if is_imported(name):
        action()
    else:
        sys.meta_path.insert(0, _Finder(name, action))


def follow_import(name: str, action: Callable[[], None]) -> None:
    """Call `action` as `when_imported` does, but once after an import, however often that was asked for.

    What goes wrong then is said in a warning: the import is the job's.
    """
    if is_imported(name):
        action()
    elif (name, action) not in _followed:
        _followed.add((name, action))
        when_imported(name, lambda: _try(name, action))


def _try(name: str, action: Callable[[], None]) -> None:
    try:
        action()
    except Exception as error:
        warn(f"steps of {name} are not followed: {reason(error)}.")


class _Finder:
    """Finds a module as Python would have, and has it call back when it is imported.

    It stays until then: programs also look a module up only to know whether it is installed.
    """

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self._name = name
        self._action = action
        # Threads that look the module up, past this finder.
        self._looking: set[int] = set()

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's spec with a loader that calls back; None of other modules."""
        thread = threading.get_ident()
        if name != self._name or thread in self._looking:
            return None
        self._looking.add(thread)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._looking.discard(thread)
        if spec is not None and spec.loader is not None:
            loader: Any = _Loader(spec.loader, self)
            spec.loader = loader
        return spec

    def note_import(self) -> None:
        """Look no more, and act."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self._action()


class _Loader:
    """The module's own loader, and a call after it."""

    def __init__(self, loader: Any, finder: _Finder) -> None:
        self._loader = loader
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Make the module."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own loader back, import it, and call."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._finder.note_import()
