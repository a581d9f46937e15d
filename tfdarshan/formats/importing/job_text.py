"""The command and the mounts of a log's job.

PyDarshan takes what follows a command's first line for mounts and fails; of a command of many lines, such as
that of `python -c`, Darshan 3.5.0 leaves stray bytes there.
"""

from __future__ import annotations

import re

from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.log_regions import OLD_VERSIONS, LogRegions

# Darshan writes blanks of a mount point as they are.
MOUNT = re.compile(r"([^\s/]+)\t(/.*)")
OCTAL = re.compile(r"\\([0-7]{3})")


def read_job_text(log: LogRegions) -> tuple[str, list[tuple[str, str]]]:
    """Return the command, and the mounts as pairs of point and type.

    They are what follows the job's record: lines, of which the last ones are mounts.
    """
    start = darshan_format.OLD_JOB_BYTES if log.version in OLD_VERSIONS else darshan_format.JOB.itemsize
    text = log.job[start:].split(b"\0")[0].decode("utf-8", "backslashreplace")
    lines = text.split("\n")
    mounts: list[tuple[str, str]] = []
    while len(lines) > 1 and (found := MOUNT.fullmatch(lines[-1])):
        mounts.append((_unescaped(found[2]), found[1]))
        lines.pop()
    return "\n".join(lines).strip(), mounts[::-1]


def _unescaped(mount_point: str) -> str:
    r"""Return a mount point without /proc/mounts' octal escapes, such as \040 for a blank."""
    return OCTAL.sub(lambda match: chr(int(match[1], 8)), mount_point)
