"""TensorFlow for tests that use it in their own process, imported when something of it is first used.

A process that has it takes 3 ms, not 0.3, to show after a test that nothing is attached, three times as long
to start a session, and four times as long to fork. So files with this module, as `tf`, run last.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import pytest


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # what pytest asks of everything
        raise AttributeError(name)
    return getattr(importlib.import_module("tensorflow"), name)


def needs(*packages: str) -> None:
    """Skip a test or a file of tests where a package is missing, without importing it."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed", allow_module_level=True)
