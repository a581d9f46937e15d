"""Tests with a real libdarshan, each in a process of its own: it stays loaded for good."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import LIBDARSHAN

REPOSITORY = Path(__file__).parents[3]

SETTINGS = {
    "PYTHONPATH": str(REPOSITORY),
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TFDARSHAN_DARSHAN_LIBRARY": LIBDARSHAN,
}


@pytest.fixture(scope="session")
def libdarshan() -> str:
    if not LIBDARSHAN:
        pytest.skip("no libdarshan: set TFDARSHAN_DARSHAN_LIBRARY to the libdarshan.so to test with")
    return LIBDARSHAN


@pytest.fixture
def run_child(tmp_path: Path) -> Callable[..., str]:
    """Run a Python program in a fresh interpreter and return its output."""

    def run(code: str, *arguments: str, timeout_s: float = 550, **environment: str) -> str:
        settings = os.environ | SETTINGS | environment
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code, *arguments],
            cwd=tmp_path,
            env=settings,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run
