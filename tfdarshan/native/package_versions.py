"""Which packages are installed, by their folders: nothing is imported."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder
from pathlib import Path

from tfdarshan.errors import UnsupportedPlatformError

# First pyarrow that refuses NumPy 1; pip does not know, for its wheels declare no NumPy.
FIRST_WITHOUT_NUMPY_1 = 26
# What only views import, never a recording, by module: the packages of the extra `view`.
VIEW_PACKAGES = {
    "google": "protobuf",
    "jinja2": "Jinja2",
    "pandas": "pandas",
    "plotly": "plotly",
    "werkzeug": "Werkzeug",
}
VIEW_COMMAND = "pip install 'tfdarshan[view]'"


def installed_version(package: str) -> str | None:
    """Return the version of a package, None if it is missing or nothing beside it names one version."""
    spec = PathFinder.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    beside = Path(spec.submodule_search_locations[0]).parent
    try:
        names = os.listdir(beside)  # noqa: PTH208
    except OSError:
        return None
    found = [name for name in names if name.startswith(f"{package}-") and name.endswith(".dist-info")]
    return found[0][len(package) + 1 : -len(".dist-info")] if len(found) == 1 else None


def packages_problem() -> str | None:
    """Return why the packages for sessions do not work together, and what mends it; None if they do."""
    arrow, numpy = installed_version("pyarrow"), installed_version("numpy")
    if not (arrow and numpy and _major(arrow) >= FIRST_WITHOUT_NUMPY_1 and _major(numpy) < 2):
        return None
    return (
        f"pyarrow {arrow} needs NumPy 2, but NumPy {numpy} is installed: "
        f"run `pip install 'pyarrow<{FIRST_WITHOUT_NUMPY_1}'`."
    )


def check_packages() -> None:
    """Return if the packages that read and write sessions work together.

    Raises:
        UnsupportedPlatformError: They do not.
    """
    if (problem := packages_problem()) is not None:
        raise UnsupportedPlatformError(problem)


def view_problem(module: str) -> str | None:
    """Return what installs a missing module, None if it is none that only views import."""
    package = VIEW_PACKAGES.get(module.partition(".")[0])
    return None if package is None else f"reading sessions needs {package}: run `{VIEW_COMMAND}`."


def has_view() -> bool:
    """Return whether sessions can be read here, which takes pandas in any case."""
    # A recording, which imports this module, does without.
    from importlib.util import find_spec

    return find_spec("pandas") is not None


def check_view() -> None:
    """Return if sessions can be read here.

    Raises:
        UnsupportedPlatformError: The packages that read them are not installed.
    """
    if not has_view():
        raise UnsupportedPlatformError(str(view_problem("pandas")))


def _major(version: str) -> int:
    first = version.partition(".")[0]
    return int(first) if first.isdigit() else 0
