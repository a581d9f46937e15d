"""What is true of all jobs together: sums, how figures are spread, and the jobs that lose most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.fleet.job_columns import LOG, READ
from tfdarshan.fleet.job_table import HOUR_S, JobTable

QUANTILES = (0.1, 0.5, 0.9, 0.99, 1.0)
SHOWN_OF_JOB = (
    "input", "user", "application", "start", "duration_s", "processes", "node_count", "nodes_known",
    "io_job_s", "lost_s", "lost_node_hours", "lost_process_hours", "bytes_read", "bytes_written", "opens",
    "stats", "mount_point", "fs_type", "small_read_share", "reread_share", "cached_share",
    "verdict", "finding",
    "finding_title", "finding_cost_s", "finding_gain_s",
)  # fmt: skip


@dataclass(frozen=True)
class Totals:
    """Sums over jobs. Hours of processes add up what each process spent; those of jobs are wall-clock time.

    Attributes:
        jobs: How many.
        first: When the first one began, ISO 8601, None if unknown.
        last: When the last one began.
        job_hours: How long they lasted.
        node_hours: The same, by their nodes; at least, where `nodes_unknown` is not 0.
        nodes_unknown: Jobs of which nobody says how many nodes they had.
        lost_node_hours: What of these is lost to I/O, at most: waits and stalls where known, else all I/O.
        lost_process_hours: The same by processes.
        waits_known: Jobs whose input wait is known.
        input_wait_hours: What these waited, of `steps_hours`.
        steps_hours: What their steps took.
        device_copy_hours: What of these was copies to the device, of jobs that know; None if none does.
        communication_hours: The same of communication.
        checkpoint_stall_hours: What checkpoints held up, of jobs that know; None if none does.
        read_process_hours: Time in reads, added up over processes.
        write_process_hours: The same of writes.
        meta_process_hours: The same of opens, stats, seeks, closes and syncs.
        files: Files, once a process and job.
        opens: Opens.
        stats: Stats, of jobs that count them.
        bytes_read: Bytes.
        bytes_written: Bytes.
    """

    jobs: int
    first: str | None
    last: str | None
    job_hours: float
    node_hours: float
    nodes_unknown: int
    lost_node_hours: float
    lost_process_hours: float
    waits_known: int
    input_wait_hours: float | None
    steps_hours: float | None
    device_copy_hours: float | None
    communication_hours: float | None
    checkpoint_stall_hours: float | None
    read_process_hours: float
    write_process_hours: float
    meta_process_hours: float
    files: int
    opens: int
    stats: int
    bytes_read: int
    bytes_written: int


@dataclass(frozen=True)
class Distribution:
    """How a figure is spread over the jobs that have it: `values` at QUANTILES."""

    name: str
    unit: str
    jobs: int
    values: tuple[float, ...]


@dataclass(frozen=True)
class WeekTotal:
    """The jobs that began in a week, by its Monday: how many, their node-hours, and what is lost of them."""

    monday: str
    jobs: int
    node_hours: float
    lost_node_hours: float


def total_of(jobs: JobTable) -> Totals:
    """Add jobs up; bytes and calls are exact."""
    rows = jobs.rows
    starts = rows["start"].dropna()
    duration = rows["duration_s"].to_numpy(float)
    return Totals(
        jobs=len(rows),
        first=_iso(starts.min()) if len(starts) else None,
        last=_iso(starts.max()) if len(starts) else None,
        job_hours=float(duration.sum()) / HOUR_S,
        node_hours=float((duration * rows["node_count"].to_numpy(float)).sum()) / HOUR_S,
        nodes_unknown=int((~rows["nodes_known"].to_numpy(bool)).sum()),
        lost_node_hours=float(rows["lost_node_hours"].sum()),
        lost_process_hours=float(rows["lost_process_hours"].sum()),
        waits_known=int(rows["input_wait_s"].notna().sum()),
        input_wait_hours=_hours(rows, "input_wait_s"),
        steps_hours=_hours(rows, "steps_s"),
        device_copy_hours=_hours(rows, "device_copy_s"),
        communication_hours=_hours(rows, "communication_s"),
        checkpoint_stall_hours=_hours(rows, "checkpoint_stall_s"),
        read_process_hours=_hours(rows, "read_s") or 0.0,
        write_process_hours=_hours(rows, "write_s") or 0.0,
        meta_process_hours=_hours(rows, "meta_s") or 0.0,
        **{
            name: sum(map(int, rows[name].dropna().tolist()))
            for name in ("files", "opens", "stats", "bytes_read", "bytes_written")
        },
    )


def distributions(jobs: JobTable) -> list[Distribution]:
    """Return how jobs are spread, figure by figure."""
    rows = jobs.rows
    duration = rows["duration_s"].where(rows["duration_s"] > 0)
    figures = (
        ("duration", "s", rows["duration_s"]),
        ("share of the job in I/O", "share", rows["io_job_s"] / duration),
        (
            "input wait of the steps",
            "share",
            rows["input_wait_s"] / rows["steps_s"].where(rows["steps_s"] > 0),
        ),
        ("bytes read", "B", rows["bytes_read"]),
        ("bytes written", "B", rows["bytes_written"]),
        ("opens and stats a second", "1/s", (rows["opens"] + rows["stats"].fillna(0)) / duration),
        ("reads of at most 10 KiB", "share", rows["small_read_share"]),
        ("bytes read again", "share", rows["reread_share"]),
        ("bytes from the page cache", "share", rows["cached_share"]),
    )
    found = []
    for name, unit, values in figures:
        known = values.to_numpy(float)
        known = known[np.isfinite(known)]
        if len(known):
            at = tuple(float(value) for value in np.quantile(known, QUANTILES))
            found.append(Distribution(name, unit, len(known), at))
    return found


def weekly_totals(jobs: JobTable) -> list[WeekTotal]:
    """Add jobs up week by week (Mondays, UTC), of those whose start is known."""
    rows = jobs.rows[jobs.rows["start"].notna()]
    monday = (rows["start"] - pd.to_timedelta(rows["start"].dt.day_of_week, unit="D")).dt.strftime("%Y-%m-%d")
    figures = pd.DataFrame(
        {
            "jobs": 1,
            "node_hours": rows["duration_s"] * rows["node_count"] / HOUR_S,
            "lost_node_hours": rows["lost_node_hours"],
        }
    )
    sums = figures.groupby(monday).sum()
    return [
        WeekTotal(str(week), int(row["jobs"]), float(row["node_hours"]), float(row["lost_node_hours"]))
        for week, row in sums.iterrows()
    ]


def worst_jobs(jobs: JobTable, most: int) -> list[dict[str, Any]]:
    """Return the jobs that lose most node-hours to I/O: SHOWN_OF_JOB, None for what is unknown."""
    worst = jobs.rows.nlargest(most, ["lost_node_hours", "lost_process_hours"])
    return plain_rows(worst[list(SHOWN_OF_JOB)])


def not_looked_at(jobs: JobTable, most: int) -> list[str]:
    """Return the logs among the `most` jobs that lose most in which nobody has looked for findings."""
    worst = jobs.rows.nlargest(most, ["lost_node_hours", "lost_process_hours"])
    new = worst[(worst["kind"] == LOG) & worst["verdict"].isna() & (worst["state"] == READ)]
    return [str(name) for name in new["input"]]


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON has them: times as ISO 8601, None for what is unknown, whole numbers as such."""
    rows = []
    for row in frame.to_dict("records"):
        rows.append({name: _plain(value) for name, value in row.items()})
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, pd.Timestamp):
        return _iso(value)
    if value is None or value is pd.NaT:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return (
            None
            if np.isnan(number)
            else int(number)
            if number.is_integer() and abs(number) < 2**53
            else number
        )
    return value.item() if isinstance(value, np.generic) else value


def _hours(rows: pd.DataFrame, name: str) -> float | None:
    known = rows[name].dropna()
    return float(known.sum()) / HOUR_S if len(known) else None


def _iso(moment: Any) -> str:
    return str(moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
