"""Files that are read without calls of the C library: the summary says that these reads are missing."""

import ctypes
import errno
import os
from contextlib import contextmanager

import pytest

import tfdarshan

IO_URING_SETUP = 425
# On x86-64 and aarch64.
IO_SETUP, IO_DESTROY = {"x86_64": (206, 207), "aarch64": (0, 1)}[os.uname().machine]
ENTRIES = 4
PARAMETERS_BYTES = 120
LIBC = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    """Make a system call, or skip the test where the kernel forbids it."""
    result = LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0 and ctypes.get_errno() in (errno.ENOSYS, errno.EPERM):
        pytest.skip(f"this kernel forbids system call {number}: {os.strerror(ctypes.get_errno())}")
    assert result >= 0, os.strerror(ctypes.get_errno())
    return result


@contextmanager
def ring():
    descriptor = call(IO_URING_SETUP, ENTRIES, ctypes.create_string_buffer(PARAMETERS_BYTES))
    yield
    os.close(descriptor)


@contextmanager
def context():
    made = ctypes.c_ulong(0)
    call(IO_SETUP, ENTRIES, ctypes.byref(made))
    yield
    call(IO_DESTROY, made)


def words_of(session, **options):
    return " ".join(session.summary(**options).split())


@pytest.mark.parametrize(("bypass", "name"), [(ring, "io_uring"), (context, "Linux AIO")])
def test_what_bypasses_libc_is_said_to_be_missing(bypass, name, tmp_path):
    # WHEN a job has such a way open
    with bypass(), tfdarshan.profile(tmp_path / "logs") as session:
        (tmp_path / "data").write_bytes(b"x" * 1000)

    # THEN both summaries say what is missing, why, and what to do
    said = (
        f"any file reads and writes through {name} are missing, because they make no libc calls: "
        "use a reader that calls `pread()`."
    )
    assert said in words_of(session)
    assert said in words_of(session, verbose=True)


def test_nothing_is_said_of_a_job_that_calls_libc(tmp_path):
    with tfdarshan.profile(tmp_path / "logs") as session:
        (tmp_path / "data").write_bytes(b"x" * 1000)
    assert "no libc calls" not in words_of(session, verbose=True)
