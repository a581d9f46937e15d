"""Whether the packages that write and read sessions can be loaded together."""

from __future__ import annotations

from importlib import import_module

from tfdarshan.doctor.pip_command import reinstalling
from tfdarshan.errors import UnsupportedPlatformError, reason
from tfdarshan.native.package_versions import VIEW_COMMAND, check_packages, has_view

# By the names that they are imported by.
NAMES = {"numpy": "NumPy", "pandas": "pandas", "pyarrow": "pyarrow"}
RECORDING = ("numpy", "pyarrow")


def loaded_packages() -> str:
    """Return each package with its version, all of them loaded, and what installs those that are missing.

    Raises:
        UnsupportedPlatformError: One cannot be loaded.
    """
    check_packages()
    view = has_view()
    found = ", ".join(f"{NAMES[package]} {_version(package)}" for package in (NAMES if view else RECORDING))
    return found if view else f"{found}; to read sessions, run `{VIEW_COMMAND}`"


def _version(package: str) -> str:
    try:
        return str(import_module(package).__version__)
    except Exception as error:
        raise UnsupportedPlatformError(
            f"{package} cannot be loaded ({reason(error).rstrip('.')}): run `{reinstalling(package)}`."
        ) from error
