"""Which software a session was recorded with."""

from __future__ import annotations

import platform
import sys

from tfdarshan.native._extension import c_library_version

VERSION = "0.1.0"

# Named in the metadata where the job had loaded them.
LIBRARIES = ("tensorflow", "keras", "torch", "jax", "numpy", "h5py", "pyarrow")


def engine() -> dict[str, str]:
    """Name the engine that counted, its version and where it comes from."""
    return {"name": "builtin", "version": VERSION, "source": "tfdarshan"}


def versions() -> dict[str, str]:
    """Return the versions of Python, the system and the libraries loaded now."""
    found = {
        "tfdarshan": VERSION,
        "python": platform.python_version(),
        "kernel": platform.release(),
        "c_library": c_library_version(),
        "machine": platform.machine(),
    }
    for name in LIBRARIES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            found[name] = version
    return found
