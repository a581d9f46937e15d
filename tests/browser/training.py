"""A session of a made-up training job: image reading, two checkpoints, steps that wait for input."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd

from tests.made_up_session import OPERATIONS, image_job, write_session
from tfdarshan.native.spool_reader import EVENT_DTYPES
from tfdarshan.session import Session

FILES, EPOCHS, THREADS = 400, 2, 4
SAVES, WRITES, WRITE_BYTES = 2, 44, 1 << 20
SAVER_TID = 99


def training_session(logdir: Path, stamp: str = "2024_01_01_00_00_00", *, files: int = FILES) -> Session:
    """Write the session: FILES images of EPOCHS epochs, and SAVES checkpoints of WRITES fwrites each."""
    job = image_job(files, EPOCHS, THREADS, reads=1)
    end = int(job.columns["end_ns"].max())
    saves = [_save(int(end * (place + 1) / (SAVES + 1)), files + place) for place in range(SAVES)]
    columns = {
        name: np.concatenate([job.columns[name], *(save[name] for save in saves)]) for name in EVENT_DTYPES
    }
    # Stretch time a hundredfold: checkpoints are then more than half a second apart.
    columns["start_ns"], columns["end_ns"] = columns["start_ns"] * 100, columns["end_ns"] * 100
    order = np.argsort(columns["start_ns"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    paths = [*job.paths, *(f"/ckpt/model-{n}.data-00000-of-00001" for n in range(1, SAVES + 1))]
    made = dataclasses.replace(
        job,
        columns=columns,
        paths=paths,
        size_bytes=np.concatenate([job.size_bytes, np.full(SAVES, WRITES * WRITE_BYTES)]),
        duration_ns=int(columns["end_ns"].max()) + 1,
        threads=job.threads | {SAVER_TID: "python"},
        kernel={"rchar": 2 * int(job.size_bytes.sum()) + 1000, "read_bytes": int(job.size_bytes.sum())},
    )
    return write_session(logdir, made, stamp=stamp)


def with_steps(session: Session, steps: int = 20) -> Session:
    """Return the session with equal steps, of which the first tenth to a third waits for input."""
    duration = session.meta[0]["duration_ns"]
    edges = np.linspace(0, duration, steps + 1).astype(np.int64)
    wait = (np.diff(edges) * np.linspace(1 / 3, 0.1, steps)).astype(np.int64)
    session.__dict__["steps"] = pd.DataFrame(
        {
            "start_ns": edges[:-1],
            "end_ns": edges[1:],
            "input_wait_ns": wait,
            "source": "test",
            "io_ns": wait // 2,
            "operations": 1,
        }
    )
    return session


def _save(at_ns: int, file: int) -> dict[str, np.ndarray]:
    start = at_ns + 20_000 * np.arange(WRITES)
    columns = {
        "start_ns": start, "end_ns": start + 15_000, "tid": np.full(WRITES, SAVER_TID),
        "operation": np.full(WRITES, OPERATIONS["fwrite"]), "flags": np.zeros(WRITES),
        "error": np.zeros(WRITES), "file": np.full(WRITES, file), "offset": WRITE_BYTES * np.arange(WRITES),
        "length": np.full(WRITES, WRITE_BYTES),
    }  # fmt: skip
    return {name: values.astype(EVENT_DTYPES[name]) for name, values in columns.items()}
