"""Made-up sessions, sketches of the jobs of workloads/scenarios: small, and always the same."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow.parquet as pq

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.session import Session, open_session

KB, MB = 1_000, 1_000_000
BUCKET = {"options": {"as_if": "bucket", "as_if_paths": ["/data/"]}}
MACHINE = {"cpus": 4, "memory_bytes": 16_000_000_000}


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """A job in steps. Each reads `batch` files by `readers` threads, one file after the other, and computes.

    Attributes:
        files: How many.
        size: Bytes of one.
        batch: Files of a step.
        readers: Threads.
        epochs: How often all are read.
        open_ms: What opening takes.
        read_ms: What a read takes.
        parts: Reads of a file.
        part_bytes: Bytes of a read; a part of the file by default.
        empty_ms: What a read of nothing takes at the end of each file; None for none.
        stats: Calls of stat for a file, each as long as opening.
        cached_from: Passes from this one on take a hundredth.
        keep_open: Files are opened once.
        ahead: The next batch is read while a step computes.
        other_ms: Of each batch, what is no call: a processor is busy.
        compute_ms: What a step computes.
        writes: Calls that the loop's thread makes after each step: operation, bytes, ms.
        folder: Where the files are.
        mixed: Every sixteenth file takes so many times as long.
        before: Reads of a configuration before the first step.
        meta: Entries of the metadata.
        kernel: What the kernel charged.
        dropped: Calls that have no segment.
        by_loop: The loop's own thread reads.
        marked: Steps are recorded.
    """

    files: int = 40
    size: int = 100 * KB
    batch: int = 4
    readers: int = 4
    epochs: int = 1
    open_ms: float = 2.0
    read_ms: float = 5.0
    parts: int = 1
    part_bytes: int = 0
    empty_ms: float | None = 0.003
    stats: int = 0
    cached_from: int = 99
    keep_open: bool = False
    ahead: bool = False
    other_ms: float = 0.1
    compute_ms: float = 10.0
    writes: Sequence[tuple[str, int, float]] = ()
    folder: str = "/data/train"
    mixed: float = 1.0
    before: int = 0
    meta: dict = field(default_factory=dict)
    kernel: dict | None = None
    dropped: int = 0
    by_loop: bool = False
    marked: bool = True


def fetched(read: int, from_storage: int) -> dict[str, int]:
    """Return what the kernel charged."""
    return {"rchar": read, "read_bytes": from_storage}


def sketched(logdir: Path, sketch: Sketch) -> Session:
    """Write the session."""
    noise, at = random.Random(7), 0.0
    calls: list[tuple[float | str, ...]] = []
    steps: list[tuple[float, float, float]] = []
    for number in range(sketch.before):
        calls.append((number, number + 0.05, LOOP, "read", sketch.files, 10, 10 * number))
        at = sketch.before + 5.0
    order = [file for _ in range(sketch.epochs) for file in range(sketch.files)]
    opened: set[tuple[int, int]] = set()
    batches = [order[first : first + sketch.batch] for first in range(0, len(order), sketch.batch)]
    batches = batches or [[]] * sketch.epochs
    ready = at
    for number, batch in enumerate(batches):
        begin = ready if sketch.ahead and number else at
        epoch = number * sketch.batch // max(sketch.files, 1)
        ends = [begin] * sketch.readers
        for place, file in enumerate(batch):
            thread = place % sketch.readers
            slow = sketch.mixed if file % 16 == 0 else 1.0
            slow *= 0.01 if epoch >= sketch.cached_from else 1.0
            for operation, length, offset, taken in _file(sketch, file, thread, opened):
                end = ends[thread] + taken * slow * noise.uniform(0.9, 1.1)
                tid = LOOP if sketch.by_loop else thread + 1
                calls.append((ends[thread], end, tid, operation, file, length, offset))
                ends[thread] = end
        ready = max(ends) + sketch.other_ms
        got = max(at, ready)
        wait, step_at = got - at, at
        at = got + sketch.compute_ms
        for operation, length, taken in sketch.writes:
            calls.append((at, at + taken, LOOP, operation, sketch.files + 1, length))
            at += taken
        steps.append((step_at, at, wait))
    paths = [f"{sketch.folder}/{number:04}" for number in range(sketch.files)]
    paths += ["/home/user/config.json", "/home/user/out/log"]
    sizes = [*[sketch.size] * sketch.files, 10 * max(sketch.before, 1), 10 * MB]
    steps = steps if sketch.marked else []
    machine = {"machine": MACHINE | {"cpu_s": 0.05 + len(batches) * sketch.other_ms / 1e3}}
    made = training(
        logdir, calls, steps, paths=paths, sizes=sizes, meta=machine | sketch.meta, kernel=sketch.kernel
    )
    return cut_short(made, sketch.dropped) if sketch.dropped else made


def cut_short(session: Session, dropped: int) -> Session:
    """Take the last segments away from a session; its counters have all calls."""
    (process,) = session.processes
    path = process.table_path("events")
    table = pq.read_table(path)
    pq.write_table(table.slice(0, len(table) - dropped), path)
    (meta,) = session.path.glob("*.meta.json")
    content = json.loads(meta.read_text())
    content["counts"] |= {"segments": len(table) - dropped, "events_dropped": dropped}
    meta.write_text(json.dumps(content))
    return open_session(session.path)


def _file(
    sketch: Sketch, file: int, thread: int, opened: set[tuple[int, int]]
) -> list[tuple[str, int, int, float]]:
    """List the calls on a file: operation, length, offset, ms."""
    found = [("stat", 0, -1, sketch.open_ms)] * sketch.stats
    opens = not sketch.keep_open or (file, thread) not in opened
    opened.add((file, thread))
    if opens:
        found.append(("open", 0, -1, sketch.open_ms))
    part = sketch.part_bytes or sketch.size // sketch.parts
    found += [("pread", part, place * part, sketch.read_ms) for place in range(sketch.parts)]
    if sketch.empty_ms is not None:
        found.append(("pread", 0, sketch.size, sketch.empty_ms))
    if not sketch.keep_open:
        found.append(("close", 0, -1, 0.002))
    return found


EMULATED = Sketch(meta=BUCKET)
HEALTHY = Sketch(readers=4, ahead=True, open_ms=0.01, read_ms=0.4, compute_ms=30.0)
SKETCHES: dict[str, Sketch] = {
    "one reader": replace(EMULATED, readers=1, before=50),
    "no prefetch": replace(EMULATED, compute_ms=20.0),
    "many small files": replace(EMULATED, files=200, size=4 * KB, batch=16, readers=8),
    "reads of nothing": replace(EMULATED, files=12, batch=3, parts=4, empty_ms=10.0, before=20),
    "opened again and again": replace(EMULATED, files=5, batch=5, epochs=40, part_bytes=2_500, empty_ms=None),
    "random records": replace(
        EMULATED, files=2, size=50 * MB, batch=2, keep_open=True, parts=40, part_bytes=20 * KB, epochs=4
    ),
    "asked again and again": replace(EMULATED, stats=5),
    "fits in memory": replace(EMULATED, epochs=5, size=900 * KB),
    "slow storage": replace(EMULATED, size=10 * MB, parts=20, batch=2, read_ms=10.0),
    "a disk at full speed": replace(
        EMULATED, files=3, readers=1, batch=1, size=40 * MB, parts=40, read_ms=6.0, epochs=2
    ),
    "one slow mount": replace(EMULATED, files=64, read_ms=0.1, open_ms=0.05, mixed=100.0),
    "too many threads": replace(EMULATED, readers=8, batch=16, read_ms=9.0),
    "decoding": replace(EMULATED, readers=1, read_ms=0.5, open_ms=0.1, other_ms=60.0),
    "small writes": Sketch(files=0, batch=1, epochs=8, writes=[("write", 100, 2.0)]),
    "synced one by one": Sketch(files=0, batch=1, epochs=8, writes=[("write", KB, 0.1), ("fsync", 0, 8.0)]),
    "checkpoints": replace(HEALTHY, writes=[("write", 4 * MB, 20.0)] * 2),
    "input from elsewhere": Sketch(files=0, batch=1, epochs=8, before=3),
    "a warm cache": Sketch(folder="/home/data", open_ms=0.01, read_ms=0.02, kernel=fetched(4 * MB, 0)),
    "unseen reads": Sketch(files=0, batch=1, epochs=8, kernel=fetched(40 * MB, 20 * MB)),
    "a trace cut short": Sketch(folder="/home/data", epochs=4, dropped=300, kernel=fetched(16 * MB, 8 * MB)),
    "healthy, an SSD": HEALTHY,
    "healthy, hidden latency": replace(HEALTHY, open_ms=3.0, read_ms=10.0, meta=BUCKET),
    "healthy, shards": replace(HEALTHY, files=2, batch=1, size=20 * MB, parts=20),
    "healthy, checkpoints": replace(HEALTHY, writes=[("write", MB, 1.0)]),
    # What no scenario has: passes that the page cache took over, and a kernel that counted half of the bytes.
    "cached from the second epoch on": Sketch(epochs=3, cached_from=1),
    "half of it fetched": Sketch(folder="/home/data", epochs=2, kernel=fetched(8 * MB, 4 * MB)),
    "read by the loop itself": replace(EMULATED, readers=1, before=5, by_loop=True),
    "no steps": replace(EMULATED, marked=False),
    "no steps, read by the loop itself": replace(EMULATED, readers=1, by_loop=True, marked=False),
}  # fmt: skip
