"""Files that are read without calls of the C library: the summary says that these reads are missing."""

import ctypes
import errno
import mmap
import os
import struct
from contextlib import contextmanager

import pytest

import tfdarshan

IO_URING_SETUP, IO_URING_ENTER = 425, 426
# Source: include/uapi/linux/io_uring.h.
ENTRIES_OFFSET, NOP, FSYNC, EPOLL_CTL = 0x10000000, 0, 3, 29
RING_BYTES = 4096
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


class Ring:
    """A ring that is mapped, and used for one operation, as libraries do it."""

    def __init__(self):
        self.parameters = ctypes.create_string_buffer(PARAMETERS_BYTES)
        self.descriptor = call(IO_URING_SETUP, ENTRIES, self.parameters)
        self.queue, self.entries = (
            mmap.mmap(self.descriptor, RING_BYTES, offset=offset) for offset in (0, ENTRIES_OFFSET)
        )

    def submit(self, operation):
        self.entries[0] = operation
        # Where the tail of the queue is: struct io_sqring_offsets.
        (tail,) = struct.unpack_from("I", self.parameters, 44)
        self.queue[tail] += 1
        assert call(IO_URING_ENTER, self.descriptor, 1, 0, 0, None, 0) == 1

    def end(self):
        self.queue.close()
        self.entries.close()
        os.close(self.descriptor)


@pytest.mark.parametrize(("operation", "is_said"), [(NOP, False), (EPOLL_CTL, False), (FSYNC, True)])
@pytest.mark.parametrize("when", ["within the session", "into it", "out of it", "through it"])
def test_a_ring_that_was_used_for_no_file_is_not_said(operation, is_said, when, tmp_path):
    # GIVEN a ring of io_uring, by which libraries also poll
    made = Ring() if when in ("into it", "through it") else None

    # WHEN it is used while a session records
    with tfdarshan.profile(tmp_path / "logs") as session:
        made = made or Ring()
        made.submit(operation)
        if when in ("within the session", "into it"):
            made.end()
    if when in ("out of it", "through it"):
        made.end()

    # THEN the session says that reads may be missing only if it was used for files, or if that was not seen
    assert ("no libc calls" in words_of(session)) == (is_said or when == "into it")


def test_nothing_is_said_of_a_job_that_calls_libc(tmp_path):
    with tfdarshan.profile(tmp_path / "logs") as session:
        (tmp_path / "data").write_bytes(b"x" * 1000)
    assert "no libc calls" not in words_of(session, verbose=True)
