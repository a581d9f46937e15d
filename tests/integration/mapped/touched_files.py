"""Runs touched_pages.py on storage of a known kind."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.mapped.touched_pages import CANNOT_REFUSE, PERF_EVENT_OPEN, offsets_of

HERE = Path(__file__).parent
NOBODY = 65534
# Of struct perf_event_attr in linux/perf_event.h: its first version, and what it asks for.
PERF_ATTRIBUTES_BYTES, PERF_FLAGS_AT = 64, 40
SOFTWARE, PAGE_FAULTS = 1, 2
EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 1 << 5, 1 << 6
# Whatever watching costs: then each fault is seen.
ALL = {"TFDARSHAN_MAPPED_COST_PERCENT": "100"}


def must_be_seen(notes):
    """Skip the test if the kernel refuses to tell of page faults; if it does tell, none seen fails."""
    why = f"page faults were not seen: {'; '.join(notes)}"
    refusal = perf_refusal()
    if refusal is None:
        pytest.fail(f"{why}, though the kernel tells of them")
    pytest.skip(f"{why}; the kernel refuses perf_event_open: {refusal}")


def perf_refusal():
    """Return why the kernel does not count this process's page faults; None if it does.

    Source: perf_event_open(2): a software event, the user's faults alone, of this thread on any processor.
    """
    attributes = ctypes.create_string_buffer(PERF_ATTRIBUTES_BYTES)
    flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR
    struct.pack_into("=IIQ", attributes, 0, SOFTWARE, PERF_ATTRIBUTES_BYTES, PAGE_FAULTS)
    struct.pack_into("=Q", attributes, PERF_FLAGS_AT, flags)
    if PERF_EVENT_OPEN is None:
        return "its number is not known here"
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(PERF_EVENT_OPEN, attributes, 0, -1, -1, ctypes.c_ulong(0))
    if descriptor < 0:
        return os.strerror(ctypes.get_errno())
    os.close(descriptor)
    return None


def build_touch(folder):
    """Compile touch.c; return the library."""
    compiler = next((name for name in ("gcc", "cc", "clang") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("needs a C compiler")
    library = folder / "touch.so"
    flags = ["-std=c11", "-O1", "-shared", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, "-o", library, HERE / "touch.c"], check=True)
    return library


@contextmanager
def open_folder():
    """Yield a folder that every user may enter, which pytest's are not."""
    with tempfile.TemporaryDirectory(prefix="tfd-mapped-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for below in ("logs", "spool"):
            (folder / below).mkdir()
            (folder / below).chmod(0o777)
        yield folder


def write_file(path, size):
    """Write a file of random bytes, and have the page cache forget it."""
    path.write_bytes(os.urandom(size))
    path.chmod(0o644)
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


def touched(library, path, order, threads, folder, *, user=0, refuse=False, environment=ALL):
    """Return what session and oracle say, as touched_pages.py prints it."""
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
    """Return how many touches that are."""
    return len(offsets_of(order, size))
