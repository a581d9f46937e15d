"""The page code that the report and the TensorBoard tab share: one stylesheet, ES modules, no build step."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

from tfdarshan.errors import TfdarshanError

STATIC = ("panels.js", "report.js", "style.css")


class PageError(TfdarshanError):
    """Something that pages are made of is missing."""


def static_file(name: str) -> bytes:
    """Return one of STATIC."""
    if name not in STATIC:
        raise PageError(f"there is no page file {name}.")
    return (Path(__file__).parent / name).read_bytes()


@lru_cache(maxsize=1)
def plotly_js() -> bytes:
    """Return plotly.js as the installed plotly package has it.

    Raises:
        PageError: plotly is not installed.
    """
    found = importlib.util.find_spec("plotly")
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        path = Path(folder) / "package_data" / "plotly.min.js"
        if path.is_file():
            return path.read_bytes()
    raise PageError("plotly, which draws the charts, is not installed: run `pip install plotly`.")
