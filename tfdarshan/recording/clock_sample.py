"""What tells the clocks of a job's hosts apart, taken when a rank begins to record. Nothing is sent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tfdarshan.sessions.session_directory import boot_id

# File systems on which the server's clock says when a new file was made. Lustre takes its client's.
SERVER_TIMES = ("nfs", "nfs4", "cifs", "smb3")
# A server's clock of files stands still between two ticks of its kernel.
TICK_NS = 10_000_000
SAMPLES = 5

Clock = Callable[[], int]


def clock_sample(folder: Path) -> dict[str, Any]:
    """Take a sample: this host's clocks at one moment, and how far off the file server's is.

    Returns:
        `boot_id`; `realtime_ns` and the host's `monotonic_ns` at one moment, within `error_ns`;
        `server_offset_ns`, what has to be added to this host's clock to get the file server's, within
        `server_error_ns`: None where the file system's times are not a server's.

    Args:
        folder: Where the session is written; a file is made there for a moment.
    """
    realtime_ns, monotonic_ns, error_ns = both_clocks()
    offset_ns, server_error_ns = server_offset(folder) if fs_type_of(folder) in SERVER_TIMES else (None, None)
    return {
        "boot_id": boot_id(),
        "realtime_ns": realtime_ns,
        "monotonic_ns": monotonic_ns - time_namespace_offset_ns(),
        "error_ns": error_ns,
        "server_offset_ns": offset_ns,
        "server_error_ns": server_error_ns,
    }


def both_clocks(realtime: Clock = time.time_ns, monotonic: Clock = time.monotonic_ns) -> tuple[int, int, int]:
    """Return CLOCK_REALTIME and CLOCK_MONOTONIC at one moment in ns, and by how much that may be off."""
    samples = []
    for _ in range(SAMPLES):
        before_ns, realtime_ns, after_ns = monotonic(), realtime(), monotonic()
        samples.append((realtime_ns, (before_ns + after_ns) // 2, (after_ns - before_ns + 1) // 2))
    return min(samples, key=lambda sample: sample[2])


def time_namespace_offset_ns(offsets: Path = Path("/proc/self/timens_offsets")) -> int:
    """Return by how much CLOCK_MONOTONIC of this container is ahead of that of its host, in ns."""
    try:
        rows = [line.split() for line in offsets.read_text(encoding="ascii").splitlines()]
        clocks = {clock: (int(seconds), int(rest_ns)) for clock, seconds, rest_ns in rows}
    except (OSError, ValueError):
        return 0  # the kernel has no such namespaces
    seconds, rest_ns = clocks.get("monotonic", (0, 0))
    return seconds * 10**9 + rest_ns


def server_offset(
    folder: Path, realtime: Clock = time.time_ns, made_ns: Callable[[int], int] | None = None
) -> tuple[int | None, int | None]:
    """Return the file server's clock less this host's in ns, and by how much that may be off.

    A file is made between two looks at the own clock, and the server says when.

    Args:
        folder: A folder on the server.
        realtime: The own clock.
        made_ns: Gives when the file with this descriptor was made, by the server.
    """
    made_ns = made_ns or (lambda descriptor: os.fstat(descriptor).st_mtime_ns)
    path, samples = folder / f".clock-{os.getpid()}", []
    for _ in range(SAMPLES):
        try:
            before_ns = realtime()
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            after_ns = realtime()
        except OSError:
            break
        try:
            server_ns = made_ns(descriptor)
        finally:
            os.close(descriptor)
            with suppress(OSError):
                path.unlink()
        least_ns, most_ns = server_ns - after_ns, server_ns + TICK_NS - before_ns
        samples.append(((least_ns + most_ns) // 2, (most_ns - least_ns + 1) // 2))
    return min(samples, key=lambda sample: sample[1]) if samples else (None, None)


def fs_type_of(folder: Path) -> str:
    """Return the type of the file system that a folder is on, "" if it is not known.

    Source: /proc/self/mountinfo, proc_pid_mountinfo(5): fields 3, the device, and that after " - ", the type.
    """
    with suppress(OSError, IndexError):
        device = folder.stat().st_dev
        wanted = f"{os.major(device)}:{os.minor(device)}"
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.split(" ", 3)[2] == wanted:
                return line.partition(" - ")[2].split(" ")[0]
    return ""
