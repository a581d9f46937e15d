"""C calls by every name, C and C++ streams, in shared libraries compiled for the test."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

_SOURCES = Path(__file__).parent
_LIBRARIES = Path(os.environ["TFD_ORACLE_LIBRARIES"])  # outside what is compared
_LOADED: dict[str, ctypes.CDLL] = {}


def _compile(compiler: str, source: str, name: str) -> Path:
    library = _LIBRARIES / f"lib{name}.so"
    _LIBRARIES.mkdir(parents=True, exist_ok=True)
    flags = ["-O2", "-D_FORTIFY_SOURCE=2", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", library, _SOURCES / source], check=True)
    return library


def prepare_cpp_streams(directory: Path) -> None:
    _LOADED["cpp"] = ctypes.CDLL(str(_compile("g++", "streams.cpp", "cpp_early")))


def cpp_streams(directory: Path) -> None:
    assert _LOADED["cpp"].use_cpp_streams(os.fsencode(directory / "stream"))


def prepare_cpp_streams_loaded_late(directory: Path) -> None:
    _compile("g++", "streams.cpp", "cpp_late")


def cpp_streams_loaded_late(directory: Path) -> None:
    library = ctypes.CDLL(str(_LIBRARIES / "libcpp_late.so"))
    assert library.use_cpp_streams(os.fsencode(directory / "stream"))


def prepare_c_streams(directory: Path) -> None:
    _LOADED["c"] = ctypes.CDLL(str(_compile("gcc", "streams.c", "c_early")))


def c_streams(directory: Path) -> None:
    assert _LOADED["c"].use_c_streams(os.fsencode(directory))


def prepare_c_streams_loaded_late(directory: Path) -> None:
    _compile("gcc", "streams.c", "c_late")


def c_streams_loaded_late(directory: Path) -> None:
    library = ctypes.CDLL(str(_LIBRARIES / "libc_late.so"))
    assert library.use_c_streams(os.fsencode(directory))


def prepare_c_calls(directory: Path) -> None:
    _LOADED["calls"] = ctypes.CDLL(str(_compile("gcc", "calls.c", "c_calls")))


def c_calls(directory: Path) -> None:
    assert _LOADED["calls"].use_calls(os.fsencode(directory))
