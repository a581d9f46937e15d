"""Decides whether the job of an unfinished session still runs or has died.

The marker of an unfinished session names the process that began it. Another process may have its number by
now, so the marker also has its start, boot and pid namespace. If the process has ended, or cannot be seen
from here, the session counts as interrupted.

`tfdarshan recover` also asks whether children still record, and where else a session may be recorded: see
tfdarshan/recording/recover.py.
"""

from __future__ import annotations

import os
from pathlib import Path

from tfdarshan.errors import SessionDataError
from tfdarshan.sessions.session_directory import Marker, boot_id, pid_namespace, process_start, read_marker


def is_recording(directory: Path) -> bool:
    """Return whether the process that began a session still runs; False without a readable marker."""
    try:
        marker = read_marker(directory)
    except SessionDataError:
        return False
    return is_seen_here(marker) and is_running(marker)


def was_begun_by_this_process(directory: Path) -> bool:
    """Return whether this process began a session, as another program; False without a readable marker."""
    try:
        marker = read_marker(directory)
    except SessionDataError:
        return False
    return marker.pid == os.getpid() and is_seen_here(marker) and is_running(marker)


def is_seen_here(marker: Marker) -> bool:
    """Return whether the process's number means the same here: boot and pid namespace are this process's."""
    return marker.boot_id == boot_id() and marker.pid_namespace == pid_namespace()


def is_running(marker: Marker) -> bool:
    """Return whether the process of this number is still the one that began the session."""
    return process_start(marker.pid) == marker.process_start != 0
