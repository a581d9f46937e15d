"""The only module that imports the C extensions, and how their values become Python's.

Importing this module loads nothing. An extension is loaded at its first use, which raises one clear sentence
where tfdarshan cannot work.
"""

from __future__ import annotations

import os
import platform
import sys
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdarshan.errors import UnsupportedPlatformError

if TYPE_CHECKING:
    from tfdarshan.native import _aggregate, _core, _lmdb, _probe, _replay

SUPPORTED_MACHINES = ("x86_64", "aarch64")


class Core(NamedTuple):
    """The core's two objects."""

    ffi: _core.FFI
    lib: _core.Lib


class Probe(NamedTuple):
    """Those of the extension that makes known calls."""

    ffi: _probe.FFI
    lib: _probe.Lib


def platform_problem(system: str, machine: str, c_library: str) -> str | None:
    """Describe why tfdarshan cannot work on such a platform; None where it can."""
    what = "tfdarshan needs Linux with glibc on x86-64 or aarch64"
    if not system.startswith("linux"):
        return f"{what}, and this is {system}: profile the job on such a machine."
    if machine not in SUPPORTED_MACHINES:
        return f"{what}, and this machine is {machine}: profile the job on such a machine."
    if not c_library.startswith("glibc"):
        return (
            f"{what}, and this Python runs on another C library (musl?): use a glibc-based Python or image."
        )
    return None


def interpreter_problem(abi_flags: str) -> str | None:
    """Return why tfdarshan cannot work in an interpreter with such `sys.abiflags`, None if it can."""
    if "t" not in abi_flags:
        return None
    return (
        "tfdarshan needs the global interpreter lock, and this is a free-threaded Python: use a build of "
        "Python that has the lock, such as python3.14 for python3.14t."
    )


def c_library_version() -> str:
    """Return the C library and its version ("glibc 2.36"), or "" where it does not say."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        return ""


class Aggregate(NamedTuple):
    """Those of the extension that adds up recorded calls."""

    ffi: _aggregate.FFI
    lib: _aggregate.Lib


class Lmdb(NamedTuple):
    """Those of the extension that reads LMDB databases."""

    ffi: _lmdb.FFI
    lib: _lmdb.Lib


class Replay(NamedTuple):
    """Those of the extension that simulates jobs."""

    ffi: _replay.FFI
    lib: _replay.Lib


@lru_cache(maxsize=1)
def core() -> Core:
    """Load the extension at first use.

    Raises:
        UnsupportedPlatformError: The platform is not supported, or the extension is missing or does not load.
    """
    problem = platform_problem(sys.platform, platform.machine(), c_library_version())
    problem = problem or interpreter_problem(getattr(sys, "abiflags", ""))
    if problem is not None:
        raise UnsupportedPlatformError(problem)
    extension = _load("_core", "C extension")
    return Core(extension.ffi, extension.lib)


@lru_cache(maxsize=1)
def probe() -> Probe:
    """Load the extension whose calls `tfdarshan doctor` proves the hooks with.

    Raises:
        UnsupportedPlatformError: The extension is missing or does not load.
    """
    extension = _load("_probe", "probe extension")
    return Probe(extension.ffi, extension.lib)


@lru_cache(maxsize=1)
def aggregate() -> Aggregate:
    """Return the extension that adds up recorded calls, loaded at first use.

    Raises:
        UnsupportedPlatformError: The extension is missing or does not load.
    """
    extension = _load("_aggregate", "aggregate extension")
    return Aggregate(extension.ffi, extension.lib)


@lru_cache(maxsize=1)
def lmdb() -> Lmdb:
    """Load the extension that reads LMDB databases.

    Raises:
        UnsupportedPlatformError: The extension is missing or does not load.
    """
    extension = _load("_lmdb", "LMDB extension")
    return Lmdb(extension.ffi, extension.lib)


@lru_cache(maxsize=1)
def replay() -> Replay:
    """Return the extension that simulates jobs, loaded at first use.

    Raises:
        UnsupportedPlatformError: The extension is missing or does not load.
    """
    extension = _load("_replay", "replay extension")
    return Replay(extension.ffi, extension.lib)


def _load(module: str, what: str) -> Any:
    try:
        return import_module(f"tfdarshan.native.{module}")
    except ImportError as error:
        raise UnsupportedPlatformError(
            f"tfdarshan's {what} does not load ({error}): "
            "install gcc and Python's headers, then run `pip install --force-reinstall tfdarshan`."
        ) from error


def extension_path() -> str:
    """Return the path of the core's extension, which is also TensorFlow's plug-in."""
    core()
    return str(import_module("tfdarshan.native._core").__file__)


def program_library() -> Path:
    """Return the path of the library that programs without Python are recorded by.

    Raises:
        UnsupportedPlatformError: It is not there, or the dynamic loader cannot be told its path.
    """
    path = Path(extension_path()).with_name("libtfdarshan_programs.so")
    if not os.access(path, os.R_OK):
        raise UnsupportedPlatformError(f"{path} is not there: run `pip install --force-reinstall tfdarshan`.")
    if (problem := program_library_problem()) is not None:
        raise UnsupportedPlatformError(f"{problem}.")
    return path


def program_library_problem() -> str | None:
    """Return why the dynamic loader cannot be told the path of that library, None if it can."""
    folder = Path(extension_path()).parent
    if not any(character in str(folder) for character in " :;$"):
        return None
    return (
        f"{folder} holds a space, : ; or $, which the dynamic loader takes for something else. To record "
        "programs without Python, install tfdarshan into another folder"
    )


def text(pointer: Any) -> str:
    """Decode a C string; "" for NULL, undecodable bytes as surrogates."""
    return os.fsdecode(core().ffi.string(pointer)) if pointer else ""


def last_error() -> str:
    """Return the C core's sentence about what failed last."""
    return text(core().lib.tfd_last_error()).rstrip(". ")


def plain(struct: Any) -> dict[str, Any]:
    """Turn a C struct of numbers and character arrays into a dictionary."""
    ffi = core().ffi
    values = {}
    for name, field in ffi.typeof(struct).fields:
        value = getattr(struct, name)
        values[name] = value if field.type.kind == "primitive" else text(value)
    return values
