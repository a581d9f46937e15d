"""Where a job's time went, as far as what-ifs ask: its seconds in reads and writes, and what it waited."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.fleet.job_table import JobTable
from tfdarshan.native.spool_reader import Array


@dataclass(frozen=True)
class JobTimes:
    """Seconds of each job's own time, by job: those of a process, or wall-clock time where it is known.

    Attributes:
        duration_s: How long it lasted.
        read_s: In reads.
        write_s: In writes.
        waited_s: What it waited for input, and stood still for checkpoints; NaN if unknown.
        nodes: How many nodes it had, or is taken to have had.
        nodes_known: Whether that is known.
    """

    duration_s: Array
    read_s: Array
    write_s: Array
    waited_s: Array
    nodes: Array
    nodes_known: Array

    @property
    def data_s(self) -> Array:
        """In reads and writes."""
        return self.read_s + self.write_s


def job_times(jobs: JobTable) -> JobTimes:
    """Return the times of jobs."""
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
        nodes=rows["node_count"].to_numpy(float),
        nodes_known=rows["nodes_known"].to_numpy(bool),
    )
