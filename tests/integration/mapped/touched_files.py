"""Runs touched_pages.py on storage of a known kind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.mapped.touched_pages import CANNOT_REFUSE, offsets_of

HERE = Path(__file__).parent
NOBODY = 65534
# Whatever watching costs: then each fault is seen.
ALL = {"TFDARSHAN_MAPPED_COST_PERCENT": "100"}


def must_be_seen(notes):
    """Skips the test where page faults cannot be seen, and says why; in CI as root that is a failure."""
    why = f"page faults cannot be seen here: {'; '.join(notes)}"
    if "CI" in os.environ and os.geteuid() == 0:
        pytest.fail(why)
    pytest.skip(why)


def build_touch(folder):
    """Compiles touch.c; gives the library."""
    compiler = next((name for name in ("gcc", "cc", "clang") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("needs a C compiler")
    library = folder / "touch.so"
    flags = ["-std=c11", "-O1", "-shared", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, "-o", library, HERE / "touch.c"], check=True)
    return library


@contextmanager
def open_folder():
    """Gives a folder that every user may enter, which pytest's are not."""
    with tempfile.TemporaryDirectory(prefix="tfd-mapped-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for below in ("logs", "spool"):
            (folder / below).mkdir()
            (folder / below).chmod(0o777)
        yield folder


def write_file(path, size):
    """Writes a file of random bytes, and has the page cache forget it."""
    path.write_bytes(os.urandom(size))
    path.chmod(0o644)
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


def touched(library, path, order, threads, folder, *, user=0, refuse=False, environment=ALL):
    """Gives what session and oracle say, as touched_pages.py prints it."""
    command = [sys.executable, HERE / "touched_pages.py", library, path, order, str(threads), folder / "logs"]
    command += [str(user), *(["refuse"] if refuse else [])]
    ran = subprocess.run(
        list(map(str, command)),
        env={**os.environ, "TFDARSHAN_SPOOL_DIR": str(folder / "spool"), "PYTHONPATH": str(HERE.parents[2]),
             **environment},
        capture_output=True,
        text=True,
    )  # fmt: skip
    if ran.returncode == CANNOT_REFUSE:
        pytest.skip("no system call filter can be set here")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["failed"] == 0
    return told


def touches(order, size):
    """Gives how many touches that are."""
    return len(offsets_of(order, size))
