"""Where a job's time went, as far as what-ifs ask: its seconds in reads and writes, and what it waited."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.fleet.job_table import JobTable
from tfdarshan.native.spool_reader import Array

# Of a mount with fewer jobs nobody knows what a call and a byte take.
LEAST_JOBS = 8
# Steps in which weights follow the residuals: jobs that storage held up for other reasons count little.
ROUNDS = 8


@dataclass(frozen=True)
class JobTimes:
    """Seconds of each job's own time, by job: those of a process, or wall-clock time where it is known.

    Attributes:
        duration_s: How long it lasted.
        read_s: In reads.
        write_s: In writes.
        waited_s: What it waited for input, and stood still for checkpoints; NaN if unknown.
        transfer_share: What of the reads is transfer at the speed that its mount usually has, and not the
            time that a call takes by itself; NaN if unknown.
        nodes: How many nodes it had, or is taken to have had.
        nodes_known: Whether that is known.
    """

    duration_s: Array
    read_s: Array
    write_s: Array
    waited_s: Array
    transfer_share: Array
    nodes: Array
    nodes_known: Array

    @property
    def data_s(self) -> Array:
        """In reads and writes."""
        return self.read_s + self.write_s


def job_times(jobs: JobTable) -> JobTimes:
    """Gives the times of jobs."""
    rows = jobs.rows
    parts = {name: rows[name].to_numpy(float) for name in ("read_s", "write_s", "meta_s")}
    whole = sum(parts.values())
    own = rows["io_job_s"].to_numpy(float)
    scale = np.divide(own, whole, out=np.zeros(len(rows)), where=whole > 0)
    waits = rows[["input_wait_s", "checkpoint_stall_s"]].to_numpy(float)
    waited = np.where(np.isnan(waits[:, 0]), np.nan, np.nansum(waits, axis=1))
    return JobTimes(
        duration_s=rows["duration_s"].to_numpy(float),
        read_s=parts["read_s"] * scale,
        write_s=parts["write_s"] * scale,
        waited_s=waited,
        transfer_share=_transfer_shares(jobs),
        nodes=rows["node_count"].to_numpy(float),
        nodes_known=rows["nodes_known"].to_numpy(bool),
    )


def _transfer_shares(jobs: JobTable) -> Array:
    """Fits what a read and a byte take on each mount over its jobs; gives the bytes' part of each job."""
    rows = jobs.rows
    seconds, reads, moved = (rows[name].to_numpy(float) for name in ("read_s", "reads", "bytes_read"))
    shares = np.full(len(rows), np.nan)
    told = (seconds > 0) & (reads > 0)
    for places in rows.groupby("mount_point", dropna=True).indices.values():
        chosen = places[told[places]]
        if len(chosen) < LEAST_JOBS:
            continue
        _call_s, byte_s = fit_call_and_byte(seconds[chosen], reads[chosen], moved[chosen])
        shares[chosen] = np.minimum(byte_s * moved[chosen] / seconds[chosen], 1.0)
    return shares


def fit_call_and_byte(seconds: Array, calls: Array, moved: Array) -> tuple[float, float]:
    """Gives the seconds of a call and of a byte, neither below 0, that fit jobs best by their ratios.

    The fit is one of absolute deviations from each job's own time: few odd jobs change little.
    """
    one, two = calls / seconds, moved / seconds
    weight = np.ones(len(seconds))
    call_s = byte_s = 0.0
    for _ in range(ROUNDS):
        call_s, byte_s = _least_squares(one, two, weight)
        off = np.abs(call_s * one + byte_s * two - 1)
        weight = 1 / np.maximum(off, 1e-3)
    return call_s, byte_s


def _least_squares(one: Array, two: Array, weight: Array) -> tuple[float, float]:
    """Gives a and b, not below 0, of a * one + b * two = 1."""
    aa, ab, bb = (float((weight * x * y).sum()) for x, y in ((one, one), (one, two), (two, two)))
    a, b = float((weight * one).sum()), float((weight * two).sum())
    determinant = aa * bb - ab * ab
    if determinant > 1e-9 * aa * bb:
        first, second = (a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant
        if first >= 0 and second >= 0:
            return first, second
    alone = ((a / aa if aa else 0.0, 0.0), (0.0, b / bb if bb else 0.0))
    errors = [float((weight * (x * one + y * two - 1) ** 2).sum()) for x, y in alone]
    return alone[int(np.argmin(errors))]
