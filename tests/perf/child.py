"""Runs a module of this package in a new process and gives the JSON it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tfdarshan.recording.engine import LIBRARY_VARIABLE

ROOT = Path(__file__).parents[2]


def run_child(module: str, *arguments: object, python: str | None = None) -> Any:
    """Run `python -m tests.perf.<module> ARGUMENTS`; what it prints on its last line is the result.

    The libdarshan that a variable names, for those who count with it, is not used there.

    Args:
        module: The module.
        arguments: Its arguments.
        python: The interpreter, where it is not this one.
    """
    environment = {name: value for name, value in os.environ.items() if name != LIBRARY_VARIABLE}
    ran = subprocess.run(
        [python or sys.executable, "-m", f"tests.perf.{module}", *map(str, arguments)],
        cwd=ROOT,
        env={**environment, "TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise RuntimeError(f"{module} failed: {ran.stderr}")
    return json.loads(ran.stdout.splitlines()[-1])
