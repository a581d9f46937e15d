"""Sessions of jobs whose batches came from workers of a DataLoader, as if they had been noted."""

import json

import numpy as np

from tests.unit.findings.made_up_training import LOOP, MS, training
from tfdarshan.session import open_session
from tfdarshan.sessions.writing.tables import write_batches

WORKER = 200
LOOK = {
    "framework": "pytorch", "dataset": "Files", "samples": 40, "batch_size": 4, "shuffled": True,
    "workers": 2, "prefetch_factor": 2, "training": True,
}  # fmt: skip


def loader_job(
    folder,
    *,
    start_ms=0,
    fetch_ms=(10, 10),
    back_ms=1,
    epochs=3,
    pairs=6,
    compute_ms=5,
    older=False,
    opens_ms=None,
    one_file=False,
    read_at_ms=None,
    **look,
):
    """Write a job of two workers, each of which puts every second batch together.

    Both begin when the first batch of a pair is requested, and read one file for as long as they take.

    Args:
        folder: Where.
        start_ms: What starting the workers takes, each epoch.
        fetch_ms: What the workers take for a batch.
        back_ms: What a batch takes from its worker to the loop.
        epochs: How many.
        pairs: Batches of each worker in an epoch.
        compute_ms: What the loop computes with a batch.
        older: Whether the workers are older than the session, so that they note no times.
        opens_ms: When the first worker opens a file before its first batch; None: it does not.
        one_file: Whether all read the same bytes of one file.
        read_at_ms: When the loop reads a file, and nobody else any; None: the workers do.
        **look: What else the loader looks like.
    """
    calls, steps, rows, now = [], [], [], 0.0
    if opens_ms is not None:
        calls.append((opens_ms, opens_ms + 1, WORKER, "open", 0, 0, 0))
    if read_at_ms is not None:
        calls.append((read_at_ms, read_at_ms + 1, LOOP, "pread", 0, 1_000_000, 0))
    for epoch in range(epochs):
        starts, now = now, now + start_ms
        for batch in range(2 * pairs):
            worker, asked = batch % 2, now
            if not worker:
                pair = now
            done = pair + fetch_ms[worker]
            came = max(asked, done) + back_ms
            if read_at_ms is None:
                calls.append((pair, done, WORKER + worker, "pread", 0 if one_file else batch, 1_000_000, 0))
            fetched = (-1 / MS, -1 / MS) if older else (pair, done)
            rows.append((0, epoch + 1, batch, 100, asked, came, worker, WORKER + worker, *fetched))
            began = starts if not batch else asked
            now = came + compute_ms
            steps.append((began, now, came - began))
    files = [f"/data/{number:03}" for number in range(2 * pairs)]
    session = training(
        folder, sorted(calls), steps, paths=files, sizes=[1_000_000] * len(files),
        meta={"versions": {"torch": "2.8"}},
    )  # fmt: skip
    starting_ns = round(epochs * start_ms * MS)
    loader = LOOK | {"passes": epochs, "batches": len(rows), "starts": epochs, "start_ns": starting_ns} | look
    return _with_batches(session, loader, rows)


def crowded_job(folder, *, cpus=2, workers=16, epochs=6, read_ms=4, decode_ms=46, compute_ms=25):
    """Write a job of workers that prepare a batch each as an epoch begins, and take turns at the processors.

    The loop waits until all of them have finished, since they do so at the same time.

    Args:
        folder: Where.
        cpus: How many processors the job has.
        workers: How many workers, each of which prepares one batch an epoch.
        epochs: How many epochs.
        read_ms: What a worker reads for a batch.
        decode_ms: What it then takes of a processor.
        compute_ms: What the loop computes with a batch.
    """
    calls, steps, rows = [], [], []
    made_ms = read_ms + decode_ms * max(1, workers / cpus)
    epoch_ms = made_ms + workers * compute_ms
    for batch in range(epochs * workers):
        epoch, worker = divmod(batch, workers)
        begun = epoch_ms * epoch
        came = begun + made_ms + worker * compute_ms
        wait_ms = 0 if worker else made_ms
        calls.append((begun, begun + read_ms, WORKER + worker, "pread", worker, 1_000_000, 0))
        rows.append(
            (epoch, 1, batch, 100, came - wait_ms, came, worker, WORKER + worker, begun, begun + made_ms)
        )
        steps.append((came - wait_ms, came + compute_ms, wait_ms))
    files = [f"/data/{number:03}" for number in range(workers)]
    cpu_s = epochs * workers * (decode_ms + compute_ms) / 1000
    machine = {"cpus": cpus, "memory_bytes": 1 << 34, "cpu_s": cpu_s}
    session = training(
        folder, sorted(calls), steps, paths=files, sizes=[1_000_000] * len(files),
        meta={"versions": {"torch": "2.8"}, "machine": machine},
    )  # fmt: skip
    look = {"workers": workers, "passes": epochs, "batches": len(rows), "starts": 1, "persistent": True}
    return _with_batches(session, LOOK | look, rows)


def accumulated_job(folder, *, steps=20, batches=8, read_ms=100, compute_ms=100):
    """Write a job without workers, whose steps read several batches, and compute with each.

    Args:
        folder: Where.
        steps: How many steps.
        batches: Batches of each.
        read_ms: What the loop reads for a batch.
        compute_ms: What it computes with one.
    """
    each_ms, count = read_ms + compute_ms, steps * batches
    calls = [(each_ms * n, each_ms * n + read_ms, LOOP, "pread", n, 1_000_000, 0) for n in range(count)]
    made = [(each_ms * batches * n, each_ms * batches * (n + 1), read_ms * batches) for n in range(steps)]
    nobody = -1 / MS
    rows = [
        (0, 1, number, LOOP, begin, end, -1, LOOP, nobody, nobody)
        for number, (begin, end, *_) in enumerate(calls)
    ]
    session = training(
        folder, calls, made, paths=[f"/data/{n:03}" for n in range(count)], sizes=[1_000_000] * count,
        meta={"versions": {"torch": "2.8"}},
    )  # fmt: skip
    loader = LOOK | {"workers": 0, "prefetch_factor": 0, "passes": 1, "batches": count, "starts": 1}
    return _with_batches(session, loader, rows)


def _with_batches(session, loader, rows):
    (path,) = session.path.glob("*.meta.json")
    content = json.loads(path.read_text())
    table = session.path / path.name.replace(".meta.json", ".batches.parquet")
    names = ("loader", "epoch", "batch", "tid", "request_ns", "arrival_ns", "worker", "fetch_tid",
             "fetch_start_ns", "fetch_end_ns")  # fmt: skip
    columns = {
        name: np.array([round(value * MS) if name.endswith("_ns") else value for value in values], np.int64)
        for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    columns |= {"fetch_pid": columns["fetch_tid"]} | dict.fromkeys(("queued", "kept"), 0 * columns["batch"])
    write_batches(columns, table)
    content["tables"]["batches"] = {"file": table.name, "rows": len(rows)}
    content["loaders"] = {"found": [loader]}
    path.write_text(json.dumps(content))
    return open_session(session.path)
