"""Whether the job's control group has the memory that writing a session takes: the kernel kills without."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tfdarshan.errors import StorageError
from tfdarshan.native.memory_left import memory_left
from tfdarshan.recording.memory_cap_limit import MIB

# Bytes that pandas and Arrow take, bytes for each byte of a recording, and the most bytes of all: whatever is
# written, one row group is in memory. Measured as growth of RssAnon at a stop: 18 MiB for 1,000 calls, 54 for
# 200,000 calls (3.3 MiB of recording), 78 for 400,000, 113 for 1,000,000 and 116 for 5,000,000.
LIBRARIES_BYTES = 24 * MIB
FACTOR = 10
MOST_BYTES = 128 * MIB


def check_memory_to_write(spool: Path) -> None:
    """Raise if writing the session from a spool folder would take more memory than is left.

    Raises:
        StorageError: It would.
    """
    needed_bytes = min(LIBRARIES_BYTES + FACTOR * _used_bytes(spool), MOST_BYTES)
    left_bytes = memory_left().cgroup
    if left_bytes < needed_bytes:
        raise StorageError(
            f"the job's control group leaves {left_bytes // MIB} MiB of memory, and writing takes up to "
            f"{needed_bytes // MIB}."
        )


def _used_bytes(spool: Path) -> int:
    with suppress(OSError), os.scandir(spool) as entries:  # after a chroot it is not seen
        return sum(entry.stat().st_blocks * 512 for entry in entries if entry.name.endswith(".spool"))
    return 0
