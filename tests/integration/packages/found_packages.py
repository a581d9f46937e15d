"""Whether the environment that `make test-packages` makes has what a test is about."""

import subprocess
import sys
from collections.abc import Mapping

import pytest


def need(module: str, environment: Mapping[str, str]) -> None:
    """Skips the test where a module cannot be imported."""
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    if subprocess.run([sys.executable, "-c", look], env=environment, check=False).returncode != 0:
        pytest.skip(f"{module} is not installed: `make test-packages` makes an environment that has it")
