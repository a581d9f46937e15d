"""When the loop waited in steps of several batches, such as those of gradient accumulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tfdarshan.analysis.steps.step_windows import StepWindows, place_in
from tfdarshan.sessions.process_data import ProcessData

COLUMNS = ("loader", "tid", "request_ns", "arrival_ns")


def with_requests(windows: StepWindows | None, owner: ProcessData) -> StepWindows | None:
    """Return steps with each of their waits, where steps took several batches; else the same steps.

    A step says how long it waited in all. Between its batches the loop computes.

    Args:
        windows: The steps.
        owner: The process whose steps they are.

    Raises:
        SessionDataError: The table of batches is damaged or missing.
    """
    if windows is None or windows.wait_end_ns is None or "batches" not in owner.meta["tables"]:
        return windows
    if windows.asked_ns is not None and (windows.asked_ns != windows.start_ns).any():
        return windows  # the GPU's clock knows them only together
    found = owner.meta.get("loaders", {}).get("found", [])
    training = [place for place, one in enumerate(found) if one.get("training")]
    table = owner.table("batches", COLUMNS)
    loader, thread, begin_ns, end_ns = (table[name].to_numpy() for name in COLUMNS)
    step = place_in(windows.start_ns, windows.end_ns, begin_ns)
    mine = np.flatnonzero(np.isin(loader, training) & (thread == owner.pid) & (step >= 0))
    mine = mine[np.argsort(begin_ns[mine], kind="stable")]
    step, begin_ns, end_ns = step[mine], begin_ns[mine], end_ns[mine]
    is_first = np.append(True, np.diff(step) > 0)[: len(step)]
    # A step begins with the iterator, if that was made for its first batch.
    begin_ns = np.where(is_first, windows.start_ns[step], begin_ns)
    waited_ns = np.bincount(step, end_ns - begin_ns, minlength=len(windows.start_ns))
    apart = bool((end_ns[:-1] <= begin_ns[1:]).all()) and bool((end_ns <= windows.end_ns[step]).all())
    # Marks of the job may call other times waits.
    told = bool((waited_ns <= windows.wait_end_ns - windows.start_ns).all())
    known = apart and told and not is_first.all()
    return replace(windows, waited_ns=(begin_ns, end_ns)) if known else windows
