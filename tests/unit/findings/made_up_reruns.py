"""Sessions of a job before and after a fix."""

from __future__ import annotations

import json
import shutil

from tests.unit.findings.made_up_jobs import BATCH, LOAD, PATHS
from tests.unit.findings.made_up_jobs import pipeline_job as of_tf_data
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.session import open_session


def one_after_the_other(logdir, *sessions, command="python train.py"):
    """Put sessions into one logdir, a minute apart; the last has the command. Return the last one."""
    for minute, session in enumerate(sessions):
        target = logdir / "plugins" / "tfdarshan" / f"2026_01_01_00_{minute:02}_00"
        shutil.copytree(session.path, target)
    (meta,) = target.glob("*.meta.json")
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"command": command}))
    return open_session(target)


def reading(folder, calls=None, *, step_ms=50.0):
    """Return a job of one map with so many calls, whose steps wait, but for 5 ms, for one read at a time."""
    session = of_tf_data(folder, PATHS, LOAD | {"calls": calls}, BATCH)
    if step_ms == 50.0:
        return session
    calls_made = [
        (step_ms * n, step_ms * n + step_ms - 5, 1, "pread", 0, 100_000, n * 100_000) for n in range(200)
    ]
    meta = json.loads(next(session.path.glob("*.meta.json")).read_text())
    kept = {"pipelines": meta["pipelines"]}
    steps = epochs_of_steps(200, step_ms, step_ms - 5)
    return training(folder / "quick", calls_made, steps, paths=["/data/0"], sizes=[10**12], meta=kept)


def fewer(folder, step_ms):
    """Return the job `crowded` with 2 readers throughout, whose steps are that long."""
    calls = [
        (at, at + 4, tid + 1, "pread", tid, 400_000, at * 1_000_000)
        for at in range(0, int(20 * step_ms), 4)
        for tid in range(2)
    ]
    steps = epochs_of_steps(20, step_ms, 0.9 * step_ms)
    return training(folder, calls, steps, paths=[f"/data/{n}" for n in range(2)], sizes=[10**11] * 2)
