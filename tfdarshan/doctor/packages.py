"""Whether the packages that write and read sessions can be loaded together."""

from __future__ import annotations

from importlib import import_module

from tfdarshan.doctor.pip_command import reinstalling
from tfdarshan.errors import UnsupportedPlatformError, reason
from tfdarshan.native.package_versions import check_packages

# By the names that they are imported by.
NAMES = {"numpy": "NumPy", "pandas": "pandas", "pyarrow": "pyarrow"}


def loaded_packages() -> str:
    """Return each package with its version, all of them loaded.

    Raises:
        UnsupportedPlatformError: One cannot be loaded.
    """
    check_packages()
    return ", ".join(f"{name} {_version(package)}" for package, name in NAMES.items())


def _version(package: str) -> str:
    try:
        return str(import_module(package).__version__)
    except Exception as error:
        raise UnsupportedPlatformError(
            f"{package} cannot be loaded ({reason(error).rstrip('.')}): run `{reinstalling(package)}`."
        ) from error
