"""A small file system in memory, for tests of full and read-only disks."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted_tmpfs(folder: Path, options: str) -> Iterator[None]:
    """Mount one on a folder for the time of the block; skip the test where that is not allowed."""
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)
