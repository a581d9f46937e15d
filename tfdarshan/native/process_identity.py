"""Which process a spool is of, read from the spool's head alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import SessionDataError
from tfdarshan.native import _extension

# What a spool that was begun has at its head: csrc/spool/spool.h.
MAGIC_BYTES = 8


@dataclass(frozen=True)
class ProcessIdentity:
    """A process, and the program that it ran when it began to record.

    Attributes:
        pid: Its number, which another process may have had before.
        process_start: When it began, in clock ticks since boot, 0 if unknown: a program that takes another's
            place by exec has the same. Source: field 22 of /proc/PID/stat, proc_pid_stat(5).
        parent_pid: The number of the process that started it, 0 for the session's owner.
        joined: It was started as a program, not forked.
        start_realtime_ns: When it began to record, ns since the epoch.
        start_monotonic_ns: The same by a clock that nobody sets, and that all processes of a host share.
        arguments: Its command line, as far as 1,023 bytes hold it.
    """

    pid: int
    process_start: int
    parent_pid: int
    joined: bool
    start_realtime_ns: int
    start_monotonic_ns: int
    arguments: tuple[str, ...]

    def start_by_clock_of(self, other: ProcessIdentity) -> int:
        """Return when it began, ns since the epoch as another process of the host had it when that began."""
        return other.start_realtime_ns + self.start_monotonic_ns - other.start_monotonic_ns


def is_blank(spool: Path) -> bool:
    """Return whether a spool was never begun: its process ended first, and has recorded nothing."""
    with spool.open("rb") as file:
        return not any(file.read(MAGIC_BYTES))


def process_identity(spool: Path) -> ProcessIdentity:
    """Read it.

    Raises:
        SessionDataError: The file is no spool, or one of another version.
    """
    ffi, lib = _extension.core()
    found = ffi.new("struct tfd_process_identity *")
    if lib.tfd_spool_identity(os.fsencode(spool), found):
        why = _extension.last_error() or "no reason given"
        raise SessionDataError(f"the spool {spool} cannot be read: {why}.")
    arguments = bytes(ffi.buffer(found.arguments)).rstrip(b"\0").split(b"\0")
    return ProcessIdentity(
        found.pid,
        found.process_start,
        found.parent_pid,
        bool(found.joined),
        found.start_realtime_ns,
        found.start_monotonic_ns,
        tuple(argument.decode("utf-8", "backslashreplace") for argument in arguments),
    )
