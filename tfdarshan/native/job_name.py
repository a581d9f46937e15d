"""Has programs that this process starts, and children that it forks, wait for sessions that begin later."""

from __future__ import annotations

import _imp
import os
import sys
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec

VARIABLE = b"TFDARSHAN_SESSION"


def begin_job() -> None:
    """Name the job in the environment; where that cannot be done, such processes are not found.

    The core is loaded without Python's bindings, which would take a hundred times as long.
    """
    if sys.platform != "linux":
        return
    cores = (f"{__file__.removesuffix('job_name.py')}_core{suffix}" for suffix in EXTENSION_SUFFIXES)
    core = next((path for path in cores if os.access(path, os.R_OK)), None)
    if core is not None:
        with suppress(ImportError):
            job = _imp.create_dynamic(ModuleSpec("_job", None, origin=core))
            _imp.exec_dynamic(job)
            _show(getattr(job, "name", None))


def _show(name: str | None) -> None:
    """Put the name into Python's copy of the environment, of which programs are given copies.

    Not by `os.environ` itself: that calls setenv, which frees what other threads may be reading.
    """
    variables = getattr(os.environ, "_data", None)
    if name is not None and isinstance(variables, dict):
        variables[VARIABLE] = os.fsencode(name)
