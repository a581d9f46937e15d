"""The C hazard programs, built in several variants."""

from __future__ import annotations

import fcntl
import functools
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE.parent.parent / "build" / "native"


@functools.cache
def build(variant: str, target: str = "all") -> None:
    """Make it once, also where several workers ask for it."""
    BUILD.mkdir(parents=True, exist_ok=True)
    jobs = len(os.sched_getaffinity(0))
    with (BUILD / f"{variant}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run(
            ["make", "--no-print-directory", "-s", f"-j{jobs}", "-C", HERE, f"VARIANT={variant}", target],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    assert made.returncode == 0, made.stderr
