"""Runs a script or module in this process as `python SCRIPT` or `python -m MODULE` would."""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from tfdarshan.errors import ConfigurationError, reason


@dataclass(frozen=True)
class Program:
    """What to run. `module` is set for `-m`; `code` is compiled beforehand for a script."""

    path: str
    arguments: tuple[str, ...]
    module: str | None = None
    code: CodeType | None = None

    def run(self) -> None:
        """Runs it as `__main__`, with sys.argv and sys.path[0] as Python sets them.

        Whatever it raises comes out, and is printed without the frames above the program's own.
        """
        try:
            if self.module is None:
                _become_main(self.path, self.arguments, str(Path(self.path).resolve().parent))
                code: Any = self.code
            else:
                code = _module_code(self.module, self.arguments)
            exec(code, sys.modules["__main__"].__dict__)
        except BaseException as error:
            hide_our_frames(error)
            raise


def load_script(path: str, arguments: Sequence[str]) -> Program:
    """Reads and compiles a script.

    Raises:
        ConfigurationError: It cannot be read.
        SyntaxError: It is no Python.
    """
    try:
        with io.open_code(os.path.abspath(path)) as file:  # noqa: PTH100
            source = file.read()
    except OSError as error:
        raise ConfigurationError(f"the script {path} cannot be read: {reason(error)}.") from error
    return Program(path, tuple(arguments), code=compile(source, path, "exec", dont_inherit=True))


def load_module(name: str, arguments: Sequence[str]) -> Program:
    """Checks that a module can be found. Its package is imported when it runs, as with `python -m`.

    Raises:
        ConfigurationError: There is no such top-level module or package.
    """
    _set_first_path(str(Path.cwd()))
    try:
        found = importlib.util.find_spec(name.partition(".")[0])
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise ConfigurationError(f"there is no module {name}: give a module's name as to `python -m`.")
    return Program(name, tuple(arguments), module=name)


def hide_our_frames(error: BaseException) -> None:
    """Makes sys.excepthook print `error` from the frame below the caller's."""
    previous = sys.excepthook
    shown = error.__traceback__.tb_next if error.__traceback__ is not None else None

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if value is error:
            trace, value = shown, value.with_traceback(shown)
        previous(kind, value, trace)

    sys.excepthook = hook


def _module_code(name: str, arguments: Sequence[str]) -> CodeType:
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    get_code: Callable[[str], CodeType | None] | None = getattr(spec and spec.loader, "get_code", None)
    code = get_code(spec.name) if spec is not None and get_code is not None else None
    if spec is None or code is None:
        raise ModuleNotFoundError(f"No module named {name} that can be executed", name=name)
    main = _become_main(spec.origin or name, arguments, str(Path.cwd()))
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
    main.__dict__["__cached__"] = spec.cached
    return code


def _become_main(path: str, arguments: Sequence[str], first_path: str) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None, __annotations__={})
    sys.modules["__main__"] = main
    sys.argv = [path, *arguments]
    _set_first_path(first_path)
    return main


def _set_first_path(folder: str) -> None:
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder
