"""The jobs of a fleet that count, as a data frame, with what every view asks of each: what I/O costs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.fleet.job_columns import READ, VANISHED

HOUR_S = 3600.0
UNKNOWN = "(unknown)"


@dataclass(frozen=True)
class JobTable:
    """The jobs.

    Attributes:
        rows: One row a job: the catalogue's columns but `mounts` and `doubts`, with NaN for what is unknown,
            and `io_job_s` (seconds of the job in I/O: `io_s`, else the sums over its processes, at most all
            of it), `lost_s` (its input wait and checkpoint stalls where the wait is known, else `io_job_s`),
            `node_count` (nodes; where they are not known as many as `processes_per_node` says, else 1),
            `nodes_known` (bool), `lost_node_hours` and `lost_process_hours`.
        mounts: One row for each job and mount: the fields of `mounts`, `job` (place in `rows`) and `start_s`
            (since the epoch).
    """

    rows: pd.DataFrame
    mounts: pd.DataFrame

    def __len__(self) -> int:
        return len(self.rows)


def job_table(table: Any, *, processes_per_node: int | None = None, with_vanished: bool = False) -> JobTable:
    """Make the table of the rows of a catalogue that count.

    Args:
        table: The catalogue's rows.
        processes_per_node: What to go by where a job's nodes are not known.
        with_vanished: Whether jobs count whose inputs are gone.
    """
    states = [READ, VANISHED] if with_vanished else [READ]
    chosen = pc.and_(pc.is_in(table["state"], pa.array(states)), pc.is_valid(table["duration_s"]))
    kept = table.filter(chosen)
    rows = kept.drop_columns(["mounts", "doubts"]).to_pandas()
    return JobTable(_with_losses(rows, processes_per_node), _mounts(kept))


def _with_losses(rows: pd.DataFrame, processes_per_node: int | None) -> pd.DataFrame:
    number = {name: rows[name].to_numpy(float) for name in ("duration_s", "processes", "nodes")}
    summed = sum(rows[name].to_numpy(float) for name in ("read_s", "write_s", "meta_s"))
    processes = np.maximum(np.nan_to_num(number["processes"], nan=1), 1)
    known = rows["io_s"].to_numpy(float)
    io_s = np.minimum(np.where(np.isnan(known), summed / processes, known), number["duration_s"])
    waits = rows[["input_wait_s", "checkpoint_stall_s"]].to_numpy(float)
    waited = ~np.isnan(waits[:, 0])
    lost = np.where(waited, np.nansum(waits, axis=1), io_s)
    nodes_known = ~np.isnan(number["nodes"])
    guessed = np.ones(len(rows)) if processes_per_node is None else np.ceil(processes / processes_per_node)
    node_count = np.where(nodes_known, number["nodes"], guessed)
    lost = np.minimum(lost, number["duration_s"])
    return rows.assign(
        io_job_s=io_s,
        lost_s=lost,
        node_count=node_count,
        nodes_known=nodes_known,
        lost_node_hours=lost * node_count / HOUR_S,
        lost_process_hours=lost * processes / HOUR_S,
    )


def _mounts(table: Any) -> pd.DataFrame:
    """Make a row of each entry of `mounts`."""
    mounts = table["mounts"].combine_chunks()
    entries = pc.list_flatten(mounts)
    job = pc.list_parent_indices(mounts).to_numpy()
    columns = dict(zip((f.name for f in entries.type), entries.flatten(), strict=True))
    frame = pa.table(columns).to_pandas()
    start_ns = table["start"].cast(pa.int64()).to_numpy().astype(float)
    return frame.assign(job=job, start_s=start_ns[job] / 1e9)
