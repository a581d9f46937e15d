"""Puts together what a session's processes noted of steps and batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.frameworks.batch_rows import ProcessRows
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


def training_processes(processes: Sequence[ProcessRows], recorder: int) -> list[int]:
    """Return the numbers of the processes that train, by rank; the recorder's own if none does.

    Who takes batches trains only if nobody has steps: another process may measure how good the model is. Nor
    does a loader's worker train, which may have a loader of its own. Beside a recorder that trains itself,
    those do that have been told which rank they are. Of jobs that train one after the other, as in a search
    for parameters, the longest counts.

    Args:
        processes: What the session's processes noted.
        recorder: The number of the process that began the session.
    """
    workers = {pid for one in processes for note in one.notes for pid in note.get("workers") or ()}
    known = [one for one in processes if one.pid not in workers]
    training = [one for one in known if one.stepped] or [one for one in known if one.took_batches]
    if recorder not in (one.pid for one in training):
        training = _beside_longest(training)
    ranks = {one.rank["rank"]: one.pid for one in training if "rank" in one.rank}
    if len(ranks) == len(training):
        return [ranks[rank] for rank in sorted(ranks)] or [recorder]
    pids = [one.pid for one in training]
    return [recorder] if recorder in pids else pids


def _beside_longest(training: Sequence[ProcessRows]) -> list[ProcessRows]:
    """Return those that train while the one does that trains longest."""
    longest_ns = max((one.span_ns for one in training), key=lambda span: span[1] - span[0], default=(0, 0))
    begin_ns, end_ns = longest_ns
    return [one for one in training if one.span_ns[0] <= end_ns and one.span_ns[1] >= begin_ns]


def noted(processes: Sequence[ProcessRows], folder: Path, owner: int, origin_ns: int) -> Noted:
    """Return it, also of processes that were killed.

    Args:
        processes: What the session's processes noted: `read_rows(folder)`.
        folder: The session's spool folder.
        owner: The number of the process that trains.
        origin_ns: When the session began, in ns since the epoch.
    """
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
