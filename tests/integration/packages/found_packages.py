"""The environment that `make test-packages` makes: how jobs find its packages, and whether it has one."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path

import pytest


def with_packages(folder: Path) -> dict[str, str]:
    """Return variables with which a job, and whatever it starts, finds them.

    Args:
        folder: Where a folder of modules is made for that.
    """
    # Behind this interpreter's own packages, so that all have one NumPy.
    folders = sorted(Path(os.environ.get("TFD_PACKAGES", "nowhere")).glob("lib/python*/site-packages"))
    (folder / "start").mkdir()
    (folder / "start/sitecustomize.py").write_text(f"import sys\nsys.path += {list(map(str, folders))}\n")
    return os.environ | {
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(folder / "start"),
    }


def need(module: str, environment: Mapping[str, str]) -> None:
    """Skip the test where a module cannot be imported."""
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    if subprocess.run([sys.executable, "-c", look], env=environment, check=False).returncode != 0:
        pytest.skip(f"{module} is not installed: `make test-packages` makes an environment that has it")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(environment):
    return {normal(found.name) for found in distributions(path=[str(environment)])}
