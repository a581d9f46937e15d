"""Runs the saving child and ends it at a moment of the caller's choice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lean_tensorflow import WITHOUT_KERAS

ROOT = Path(__file__).parents[3]


@contextmanager
def saving(pool: Path, folder: Path, *options: object) -> Iterator[subprocess.Popen[str]]:
    """Yield a child that saves without end; it is killed by SIGKILL at the end, if it still lives."""
    child = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.integration.burst.crash_child", "run"),
            *map(str, (pool, folder, *options)),
        ],
        cwd=ROOT,
        env={**os.environ, **WITHOUT_KERAS},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        ready = child.stdout.readline()
        assert ready == "ready\n", child.stderr.read()
        yield child
        assert child.poll() is None, f"the child ended by itself: {child.stderr.read()}"
    finally:
        child.kill()
        child.communicate()
