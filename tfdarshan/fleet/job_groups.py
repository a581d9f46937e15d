"""Jobs together by who ran what, or by the file systems that they used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.fleet.job_table import HOUR_S, UNKNOWN, JobTable

MOUNT, FILE_SYSTEM = "mount", "file-system"
OF_JOBS = {"user": "user", "project": "project", "application": "application"}
OF_MOUNTS = {MOUNT: "mount_point", FILE_SYSTEM: "fs_type"}
KINDS = (*OF_JOBS, *OF_MOUNTS)
SUMS = ("lost_node_hours", "lost_process_hours", "read_s", "write_s", "meta_s", "bytes_read", "bytes_written",
        "opens", "stats")  # fmt: skip


@dataclass(frozen=True)
class JobGroup:
    """Sums over the jobs of one name. What a job loses is dealt to its mounts by the time in calls on each.

    Attributes:
        name: The user, project, application, mount point or type of file system.
        jobs: How many.
        lost_node_hours: What they lose to I/O, at most.
        lost_process_hours: The same by processes.
        read_process_hours: Time in reads, added up over processes.
        write_process_hours: The same of writes.
        meta_process_hours: The same of opens, stats, seeks, closes and syncs.
        bytes_read: Bytes.
        bytes_written: Bytes.
        opens: Opens.
        stats: Stats, of those that count them.
        call_s: Seconds of metadata time for each open or stat; None where there are none.
        read_bytes_per_s: Bytes read for each second in reads; None where there are none.
    """

    name: str
    jobs: int
    lost_node_hours: float
    lost_process_hours: float
    read_process_hours: float
    write_process_hours: float
    meta_process_hours: float
    bytes_read: int
    bytes_written: int
    opens: int
    stats: int
    call_s: float | None
    read_bytes_per_s: float | None


def group_jobs(jobs: JobTable, kind: str) -> list[JobGroup]:
    """Return the groups of one of KINDS, those that lose most first."""
    if kind in OF_JOBS:
        rows = jobs.rows
        name = rows[OF_JOBS[kind]]
        if kind == "user":
            name = name.where(name.notna(), user_names(rows))
        rows = rows.assign(name=name, job=np.arange(len(rows)))
    else:
        rows = _dealt(jobs).assign(name=jobs.mounts[OF_MOUNTS[kind]])
    rows = rows.assign(name=rows["name"].astype(object).fillna(UNKNOWN))
    grouped = rows.groupby("name", sort=False)
    sums = grouped[list(SUMS)].sum()
    sums["jobs"] = grouped["job"].nunique()
    ordered = sums.sort_values(["lost_node_hours", "lost_process_hours"], ascending=False, kind="stable")
    return [_group(str(name), row) for name, row in ordered.iterrows()]


def user_names(rows: pd.DataFrame) -> pd.Series[str]:
    """Return what users are called whose names are not known."""
    known = rows["uid"].notna()
    named = "uid " + rows["uid"].fillna(0).astype("int64").astype(str)
    return named.where(known, UNKNOWN)


def _dealt(jobs: JobTable) -> pd.DataFrame:
    """Return the mounts' rows with what their jobs lose, dealt by the time in calls on each."""
    rows, mounts = jobs.rows, jobs.mounts
    job = mounts["job"].to_numpy()
    seconds = mounts[["read_s", "write_s", "meta_s"]].sum(axis=1).to_numpy(float)
    whole = np.bincount(job, seconds, minlength=len(rows))
    count = np.bincount(job, minlength=len(rows))
    share = np.where(whole[job] > 0, seconds / np.maximum(whole[job], 1e-300), 1 / np.maximum(count[job], 1))
    return mounts.assign(
        lost_node_hours=rows["lost_node_hours"].to_numpy()[job] * share,
        lost_process_hours=rows["lost_process_hours"].to_numpy()[job] * share,
    )


def _group(name: str, row: pd.Series[float]) -> JobGroup:
    calls = row["opens"] + row["stats"]
    return JobGroup(
        name=name,
        jobs=int(row["jobs"]),
        lost_node_hours=float(row["lost_node_hours"]),
        lost_process_hours=float(row["lost_process_hours"]),
        read_process_hours=float(row["read_s"]) / HOUR_S,
        write_process_hours=float(row["write_s"]) / HOUR_S,
        meta_process_hours=float(row["meta_s"]) / HOUR_S,
        bytes_read=int(row["bytes_read"]),
        bytes_written=int(row["bytes_written"]),
        opens=int(row["opens"]),
        stats=int(row["stats"]),
        call_s=float(row["meta_s"] / calls) if calls > 0 else None,
        read_bytes_per_s=float(row["bytes_read"] / row["read_s"]) if row["read_s"] > 0 else None,
    )
