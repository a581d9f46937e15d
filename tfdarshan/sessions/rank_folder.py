"""Where the ranks of one job keep their parts of a session: each in a folder of its own within the session's.

A rank's folder is a session of one process and its children, with a marker and metadata of its own: no two
ranks write one file, and no rank looks at another's.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

# TensorBoard's folder in a logdir, which has ours.
PLUGINS = "plugins"
RANK_FOLDER = re.compile(r"rank-[0-9]{5,}\Z")


def rank_folder(session: Path, rank: int) -> Path:
    """Return the folder of a rank."""
    return session / f"rank-{rank:05}"


def is_rank_folder(directory: Path) -> bool:
    """Return whether a session directory is one rank's part of a joint session."""
    return RANK_FOLDER.match(directory.name) is not None


def rank_of(directory: Path) -> int:
    """Return the rank that a folder is of."""
    return int(directory.name.rpartition("-")[2])


def rank_folders(session: Path) -> list[Path]:
    """List the folders of the ranks that are in a session, by rank; empty for a session of one process."""
    try:
        with os.scandir(session) as entries:
            names = [entry.name for entry in entries if RANK_FOLDER.match(entry.name) and entry.is_dir()]
    except OSError:
        return []
    return sorted((session / name for name in names), key=rank_of)


def parts_of(session: Path) -> list[Path]:
    """List the directories that hold a session's files: the ranks' folders, else the session's own."""
    return rank_folders(session) or [session]


def whole_session(directory: Path) -> Path:
    """Return the joint session that a rank's folder is in; any other session directory as it is."""
    return directory.parent if is_rank_folder(directory) else directory


def logdir_of(directory: Path) -> Path:
    """Return the logdir that a session directory, or a rank's folder, is in; "/" above all folders.

    A link in a logdir to a session that is kept elsewhere is in that logdir. A link from anywhere else, such
    as `latest`, leads to the session's own.
    """
    # "." has no parents.
    named = whole_session(Path(os.path.abspath(directory)))  # noqa: PTH100
    if named.parent.parent.name != PLUGINS:
        named = whole_session(Path(os.path.realpath(directory)))
    return named.parent.parent.parent


def missing_ranks(present: list[int], world_size: int | None) -> list[int]:
    """List the ranks that should be there and are not; up to the highest seen if no size is known."""
    count = max([-1, *present]) + 1 if world_size is None else world_size
    return sorted(set(range(count)) - set(present))
