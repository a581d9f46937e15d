"""Sessions of made-up training jobs whose time model can be worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.made_up_session import job_of, write_session
from tfdarshan.frameworks.marked_steps import SESSION_STEP
from tfdarshan.session import Session, open_session
from tfdarshan.sessions.writing.tables import write_steps

MS = 1_000_000
LOOP = 100  # the thread of the training loop: its id is the process's
ORIGIN_NS = 1_700_000_000_000_000_000


def training(
    logdir: Path,
    calls: Sequence[tuple],
    steps: Sequence[tuple[float, ...]] = (),
    *,
    paths: Sequence[str] = ("/data/a",),
    sizes: Sequence[int] | None = None,
    duration_ms: float | None = None,
    meta: dict | None = None,
    **more,
) -> Session:
    """Write a session.

    Args:
        logdir: Where.
        calls: (start, end, tid, operation, file, length) or with an offset after these; times in ms.
        steps: (start, end, input wait) or with the exposed wait after these, in ms; a wait is -1 where it is
            unknown.
        paths: The files.
        sizes: Their sizes, unknown by default.
        duration_ms: How long the session is; by default up to the last call's or step's end.
        meta: Entries of the metadata to be replaced.
        **more: Fields of `tests.made_up_session.Job`.
    """
    calls = [(round(call[0] * MS), round(call[1] * MS), *call[2:]) for call in calls]
    if duration_ms is None:
        duration_ms = max([call[1] / MS for call in calls] + [step[1] for step in steps])
    sizes = [-1] * len(paths) if sizes is None else sizes
    session = write_session(logdir, job_of(calls, paths, sizes, duration_ns=round(duration_ms * MS), **more))
    (path,) = session.path.glob("*.meta.json")
    content = json.loads(path.read_text()) | (meta or {})
    if any(len(step) > 3 for step in steps):
        name = path.name.replace("meta.json", "steps.parquet")
        rows = write_steps([session_steps(steps)], [""], 0, session.path / name)
        content["tables"]["steps"] = {"file": name, "rows": rows}
    elif steps:
        content["steps"] = {"rows": [_in_metadata(*step) for step in enumerate(steps)], "left_out": 0}
    path.write_text(json.dumps(content))
    return open_session(session.path)


def _in_metadata(number: int, step: tuple[float, ...]) -> list:
    """Return a step as sessions of earlier versions have it."""
    start, end, wait = step
    times = [ORIGIN_NS + round(at * MS) for at in (start, end)]
    return [number, *times, round(wait * MS) if wait >= 0 else -1, ""]


def session_steps(steps: Sequence[tuple[float, ...]]) -> np.ndarray:
    """Return steps, as `training` takes them, as an array of SESSION_STEP."""
    found = np.full(len(steps), -1, SESSION_STEP)
    found["step"], found["source"] = np.arange(len(steps)), 0
    for place, name in enumerate(("start_ns", "end_ns", "input_wait_ns", "exposed_wait_ns")):
        times = [step[place] if place < len(step) else -1 for step in steps]
        found[name] = [round(ms * MS) if ms >= 0 else -1 for ms in times]
    return found


def epochs_of_steps(count: int, step_ms: float, wait_ms: float) -> list[tuple[float, float, float]]:
    """Return steps one after the other."""
    return [(n * step_ms, (n + 1) * step_ms, wait_ms) for n in range(count)]
