"""The first region of a Darshan log: who ran what, when, on which mounts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.formats import darshan_format

# What mounts may take of the room that the command has to share with them.
MOUNT_BYTES = 2000
# What ends a mount point for Darshan's reader, and a backslash that begins such an escape.
ESCAPED = re.compile(r"[ \t\n\v\f\r]|\\(?=[0-7]{3})")


@dataclass(frozen=True)
class Job:
    """What the region says. Times in ns since the epoch; `mounts` are pairs of point and type.

    `metadata` is for programs that know its keys; "lib_ver" must be one of them.
    """

    user: int
    job: int
    processes: int
    start_realtime_ns: int
    end_realtime_ns: int
    command: str
    mounts: Sequence[tuple[str, str]]
    metadata: dict[str, str]


def job_region(job: Job) -> bytes:
    """Return the region's content, at most 4,096 bytes: what has no room is cut."""
    record = np.zeros((), darshan_format.JOB)
    record["uid"], record["job"], record["processes"] = job.user, job.job, job.processes
    record["start_s"], record["start_ns"] = divmod(job.start_realtime_ns, 1_000_000_000)
    record["end_s"], record["end_ns"] = divmod(job.end_realtime_ns, 1_000_000_000)
    record["metadata"] = _lines(
        (f"{key}={value}\n" for key, value in job.metadata.items()), darshan_format.METADATA_BYTES - 1
    )
    room = darshan_format.JOB_REGION_BYTES - darshan_format.JOB.itemsize - 1
    mounts = _lines((f"\n{fs_type}\t{_escaped(point)}" for point, fs_type in job.mounts), MOUNT_BYTES)
    # The command ends at the first line break.
    command = " ".join(job.command.splitlines()).replace("\0", " ")
    return record.tobytes() + cut_text(command, room - len(mounts)) + mounts + b"\0"


def cut_text(text: str, size: int) -> bytes:
    """Return text as UTF-8 of at most `size` bytes, without half a character at its end."""
    encoded = text.encode("utf-8", "backslashreplace")[:size]
    return encoded.decode("utf-8", "ignore").encode()


def _lines(lines: Iterable[str], size: int) -> bytes:
    """Join whole lines until the next has no room."""
    kept, used = [], 0
    for line in lines:
        encoded = line.encode("utf-8", "backslashreplace")
        used += len(encoded)
        if used > size:
            break
        kept.append(encoded)
    return b"".join(kept)


def _escaped(mount_point: str) -> str:
    """Return a mount point whose blanks, which end it for Darshan's reader, are as in /proc/mounts."""
    return ESCAPED.sub(lambda match: f"\\{ord(match[0]):03o}", mount_point)


def is_readable(mount_point: str) -> bool:
    """Return whether Darshan's reader knows a mount point by its name."""
    return not ESCAPED.search(mount_point)
