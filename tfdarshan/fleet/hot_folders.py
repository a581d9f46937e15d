"""The folders of input that give back most hours for each byte of a fast tier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.native.spool_reader import Array


@dataclass(frozen=True)
class HotFolder:
    """A folder to stage.

    Attributes:
        folder: Its path.
        size_bytes: The most that a job read of it, each byte once: it is at least as large.
        jobs: Jobs whose input is there.
        users: How many users these are of.
        bytes_read: What they read of it.
        high_node_hours: What they would save at most.
    """

    folder: str
    size_bytes: int
    jobs: int
    users: int
    bytes_read: int
    high_node_hours: float


def hot_folders(
    rows: pd.DataFrame, node_hours: Array, capacity_bytes: int
) -> tuple[tuple[HotFolder, ...], Array, Array]:
    """Choose folders, those first that save most for each byte, as long as they fit.

    Args:
        rows: The jobs.
        node_hours: What each job would save.
        capacity_bytes: The fast tier's room.

    Returns:
        The folders, those that save most first; which jobs read them, and which of these is a folder's first.
    """
    frame = rows[["input_folder", "input_unique_bytes", "input_bytes_read", "user", "start"]].assign(
        saved=node_hours, place=np.arange(len(rows))
    )
    frame = frame[frame["input_folder"].notna() & (frame["input_unique_bytes"] > 0)]
    sums = _sums(frame)
    names = _that_fit(sums, capacity_bytes)
    found = [_folder(str(name), row) for name, row in sums.loc[names].iterrows()]
    chosen, first = (np.zeros(len(rows), bool) for _ in range(2))
    mine = frame[frame["input_folder"].isin(names)].sort_values("start", kind="stable")
    chosen[mine["place"].to_numpy()] = True
    first[mine.drop_duplicates("input_folder")["place"].to_numpy()] = True
    return tuple(sorted(found, key=lambda folder: -folder.high_node_hours)), chosen, first


def _sums(frame: pd.DataFrame) -> pd.DataFrame:
    """Add jobs up by folder, of those from which anything would be saved."""
    grouped = frame.groupby("input_folder", sort=True)
    sums = pd.DataFrame(
        {
            "size": grouped["input_unique_bytes"].max(),
            "jobs": grouped.size(),
            "users": grouped["user"].nunique(),
            "read": grouped["input_bytes_read"].sum(),
            "saved": grouped["saved"].sum(),
        }
    )
    return sums[sums["saved"] > 0]


def _that_fit(sums: pd.DataFrame, capacity_bytes: int) -> list[str]:
    """Name folders by what they save for each byte, as long as they fit."""
    left, names = capacity_bytes, []
    for name in (sums["saved"] / sums["size"]).sort_values(ascending=False, kind="stable").index:
        size = int(sums["size"][name])
        if size <= left:
            left -= size
            names.append(name)
    return names


def _folder(name: str, row: pd.Series[float]) -> HotFolder:
    return HotFolder(
        folder=name,
        size_bytes=int(row["size"]),
        jobs=int(row["jobs"]),
        users=int(row["users"]),
        bytes_read=int(row["read"]),
        high_node_hours=float(row["saved"]),
    )
