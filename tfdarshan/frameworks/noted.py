"""Puts together what a session's processes noted of steps and batches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.frameworks.batch_rows import read_rows
from tfdarshan.frameworks.batch_table import batch_table
from tfdarshan.frameworks.loaders import Loaders
from tfdarshan.frameworks.marked_steps import SessionSteps, marked_steps, with_requests
from tfdarshan.frameworks.step_rows import step_rows, training_requests
from tfdarshan.native.spool_reader import Array
from tfdarshan.units import plural


@dataclass(frozen=True)
class Noted:
    """What a session's processes noted of their steps and batches.

    Attributes:
        meta: Entries for the metadata of the session's owner.
        steps: Those that the job marked, else those of its batches; None if there was no step.
        batches: Columns of `schema.BATCH_COLUMNS`; None if there was no batch.
        bounds: Sentences on what found no room.
    """

    meta: dict[str, Any]
    steps: SessionSteps | None = None
    batches: dict[str, Array] | None = None
    bounds: tuple[str, ...] = ()


def noted(folder: Path, owner: int, origin_ns: int) -> Noted:
    """Return it, also of processes that were killed.

    Args:
        folder: The session's spool folder.
        owner: The process number of the session's owner.
        origin_ns: When the session began, in ns since the epoch.
    """
    processes = read_rows(folder)
    own = next((one for one in processes if one.pid == owner), None)
    if own is None:
        return Noted({})
    loaders = Loaders(own)
    loaders.number_epochs(own.rows)
    steps, training = step_rows(own.rows, loaders, owner)
    found: dict[str, Any] = {"loaders": loaders.block(own.rows, training)} if loaders.found else {}
    left_out = sum(one.left_out for one in processes)
    rows = plural(left_out, "batch or step", "batches or steps")
    full = f"{rows} found no room in the spool folder: name a larger one with spool_dir"
    bounds: tuple[str, ...] = (full,) if left_out else ()
    marked = marked_steps(folder, owner)
    if marked is not None:
        if marked.left_out:
            meanwhile = plural(marked.left_out, "step")
            bounds += (f"{meanwhile} of other threads left out: a session has steps of one loop at a time",)
        requests = training_requests(own.rows, loaders, training, owner)
        steps = with_requests(marked, requests["begin_ns"], requests["end_ns"]) if len(requests) else marked
    return Noted(found, steps, batch_table(processes, own, loaders, origin_ns), bounds)
