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
    """Chooses folders, those first that save most for each byte, as long as they fit.

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
    sums = sums[sums["saved"] > 0]
    order = (sums["saved"] / sums["size"]).sort_values(ascending=False, kind="stable").index
    left, names = capacity_bytes, []
    for name in order:
        if sums["size"][name] <= left:
            left -= int(sums["size"][name])
            names.append(name)
    found = [
        HotFolder(
            str(name),
            int(row["size"]),
            int(row["jobs"]),
            int(row["users"]),
            int(row["read"]),
            float(row["saved"]),
        )
        for name, row in sums.loc[names].iterrows()
    ]
    chosen, first = (np.zeros(len(rows), bool) for _ in range(2))
    mine = frame[frame["input_folder"].isin(names)].sort_values("start", kind="stable")
    chosen[mine["place"].to_numpy()] = True
    first[mine.drop_duplicates("input_folder")["place"].to_numpy()] = True
    return tuple(sorted(found, key=lambda folder: -folder.high_node_hours)), chosen, first
