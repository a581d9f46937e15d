"""Runs a program in this process as `python` would: a script, module, folder, zip file, string or stdin."""

from __future__ import annotations

import builtins
import code
import importlib.util
import io
import linecache
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from tfdarshan.errors import ConfigurationError, reason

STDIN = "-"


@dataclass(frozen=True)
class Program:
    """What to run, and what Python gives it before its first line.

    Attributes:
        argv: sys.argv.
        first_path: sys.path[0].
        code: Compiled beforehand; None where `runpy` finds the code, or a terminal gives it.
        names: What `__main__` has besides what Python gives every `__main__`.
        module: The module for `runpy`: a name, or `__main__` of the folder or zip file `first_path`.
    """

    argv: tuple[str, ...]
    first_path: str
    code: CodeType | None = None
    names: dict[str, Any] = field(default_factory=dict)
    module: str | None = None

    def run(self) -> None:
        """Run it as `__main__`.

        Whatever it raises comes out, and is printed without the frames above the program's own.
        """
        main = _new_main(self.names)
        sys.argv = list(self.argv)
        _set_first_path(self.first_path, always=self.module == "__main__")
        try:
            if self.module is not None:
                # What Python itself calls for `-m`, folders and zip files.
                runpy._run_module_as_main(self.module, self.module != "__main__")  # type: ignore[attr-defined]
            elif self.code is not None:
                exec(self.code, main.__dict__)
            else:
                code.interact("", local=main.__dict__, exitmsg="")
        except BaseException as error:
            hide_our_frames(error)
            raise


def load_script(path: str, arguments: Sequence[str]) -> Program:
    """Load a script, compiled or not, or a folder or zip file with `__main__.py`; `-` is standard input.

    Raises:
        ConfigurationError: It cannot be read.
        SyntaxError: It is no Python.
    """
    if path == STDIN:
        return _load_stdin(arguments)
    full_path = os.path.join(_working_folder(), path)  # noqa: PTH118 (Python leaves `./` in it)
    importer = pkgutil.get_importer(full_path)
    if importer is not None:
        if importer.find_spec("__main__") is None:
            raise ConfigurationError(f"{path} has no __main__.py: name the script to run.")
        return Program((path, *arguments), full_path, module="__main__")
    program_code, loader = _read_script(path, full_path)
    names = {"__loader__": loader, "__file__": full_path, "__cached__": None}
    folder = os.path.dirname(os.path.realpath(path))  # noqa: PTH120
    return Program((path, *arguments), folder, program_code, names)


def load_module(name: str, arguments: Sequence[str]) -> Program:
    """Check that a module can be found. Its package is imported when it runs, as with `python -m`.

    Raises:
        ConfigurationError: There is no such top-level module or package.
    """
    folder = _working_folder()
    _set_first_path(folder)
    try:
        found = importlib.util.find_spec(name.partition(".")[0])
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise ConfigurationError(f"there is no module {name}: give a module's name as to `python -m`.")
    return Program(("-m", *arguments), folder, module=name)


def _working_folder() -> str:
    """Return the working directory, "" if it was removed: Python goes on then, too."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


def load_string(source: str, arguments: Sequence[str]) -> Program:
    """Compile the program that `-c` gives.

    Raises:
        SyntaxError: It is no Python.
    """
    name, text = "<string>", f"{source}\n"
    program_code = compile(text, name, "exec", dont_inherit=True)
    _show_in_tracebacks(program_code, text, name)
    return Program(("-c", *arguments), "", program_code)


def _show_in_tracebacks(program_code: CodeType, text: str, name: str) -> None:
    """Keep the lines of `-c` for tracebacks, as Python does since 3.13: first by name, later by the code."""
    register = getattr(linecache, "_register_code", None)
    if register is not None:
        register(program_code if hasattr(linecache, "_interactive_cache") else name, text, name)


def hide_our_frames(error: BaseException) -> None:
    """Make sys.excepthook print `error` from the frame below the caller's."""
    previous = sys.excepthook
    shown = error.__traceback__.tb_next if error.__traceback__ is not None else None

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if value is error:
            trace, value = shown, value.with_traceback(shown)
        previous(kind, value, trace)

    sys.excepthook = hook


def _load_stdin(arguments: Sequence[str]) -> Program:
    argv = (STDIN, *arguments)
    if sys.stdin.isatty():
        return Program(argv, "")
    name = "<stdin>"
    program_code = compile(sys.stdin.buffer.read(), name, "exec", dont_inherit=True)
    return Program(argv, "", program_code, {"__file__": name, "__cached__": None})


def _read_script(path: str, full_path: str) -> tuple[CodeType, Any]:
    try:
        with io.open_code(full_path) as file:
            source = file.read()
        if full_path.endswith(".pyc") or source[:2] == importlib.util.MAGIC_NUMBER[:2]:
            compiled = SourcelessFileLoader("__main__", full_path)
            return _compiled_code(compiled.get_code), compiled
    except (OSError, ImportError, EOFError, ValueError) as error:
        raise ConfigurationError(
            f"the script {path} cannot be read: {reason(error)}; name a script that you can read."
        ) from error
    loader = SourceFileLoader("__main__", full_path)
    return loader.source_to_code(source, full_path), loader


def _compiled_code(get_code: Callable[[str], CodeType | None]) -> CodeType:
    found = get_code("__main__")
    if found is None:
        raise ImportError("it holds no code")
    return found


def _new_main(names: dict[str, Any]) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(__loader__=BuiltinImporter, __annotations__={}, __builtins__=builtins)
    main.__dict__.update(names)
    sys.modules["__main__"] = main
    return main


def _set_first_path(folder: str, *, always: bool = False) -> None:
    """Set what Python puts first in sys.path; with -P (3.10: -I) only a folder or zip file that runs."""
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[0] = folder
    elif always:
        sys.path.insert(0, folder)
