"""Compiles the C files of this folder, at run time, with the machine's C compiler."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = ("-std=c11", "-O2", "-fvisibility=hidden", "-pthread")


def compile_library(name: str, folder: Path) -> ctypes.CDLL:
    """Compile `<name>.c` to a library in `folder` and load it."""
    return ctypes.CDLL(str(_compile(name, folder / f"lib{name}.so", "-shared", "-fPIC")))


def compile_program(name: str, folder: Path) -> Path:
    """Compile `<name>.c` to a program in `folder`."""
    return _compile(name, folder / name)


def _compile(name: str, target: Path, *flags: str) -> Path:
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    subprocess.run([*compiler, *FLAGS, *flags, HERE / f"{name}.c", "-o", target], check=True)
    return target
