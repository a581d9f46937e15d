"""What findings and the verdict claim, assume and do not know: each where it is so and where it is not."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from tests.unit.findings.made_up_buffers import SHUFFLE, buffer_job
from tests.unit.findings.made_up_jobs import BATCH, LOAD, PATHS, PREFETCH, SHARDS, crowded
from tests.unit.findings.made_up_maps import BOTH, DRAWS, SAME, SMALL, maps_job
from tests.unit.findings.made_up_reruns import fewer, one_after_the_other, reading
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tests.unit.golden.golden_file import Golden
from tests.unit.sentences.counters_only import as_log, without_trace
from tests.unit.sentences.other_sessions import looked_at, ranks, saved
from tests.unit.sentences.rows import Maker, Row, as_made, contrasts
from tests.unit.sentences.sessions import KB, MB, SESSIONS
from tests.unit.staging.synthetic import FAST
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.session import Session, open_session
from tfdarshan.units import human_bytes, human_seconds

WAITING_STEPS = epochs_of_steps(20, 100, 95)
# A pipeline of which nothing is left to be written otherwise.
PREPARED = {"stages": [PATHS, LOAD | {"calls": -1}, BATCH, PREFETCH], "datasets": 1, "iterators": 1}


def of(name: str) -> Maker:
    """Return what makes a session of the table."""
    return SESSIONS[name]


def unwaited(folder: Path) -> Session:
    """Return steps that do not say what they waited."""
    calls = [(at, at + 8, 1, "pread", 0, 100 * KB, 100 * KB * at) for at in range(0, 1000, 10)]
    return training(folder, calls, epochs_of_steps(20, 50, -1), sizes=[100 * MB])


def of_sqlite(folder: Path, *, journal: bool) -> Session:
    """Return a file of 10 MB that one reader reads in pages of 100 kB and 8 ms, and asks for its journal."""
    calls = [(10 * n, 10 * n + 8, 1, "pread", 0, 100 * KB, n % 100 * 100 * KB) for n in range(200)]
    calls += [(10 * n + 8, 10 * n + 9, 1, "stat", 1, 0, 0) for n in range(200)]
    paths = ["/data/a.db", "/data/a.db-journal" if journal else "/data/a.csv"]
    return training(folder, sorted(calls), epochs_of_steps(20, 100, 80), paths=paths, sizes=[10 * MB, -1])


def cut_short(folder: Path, *, memory: int, started_by: str = "") -> Session:
    """Return a session of whose calls 300 found no room, on a machine with so much memory."""
    session = of("a trace cut short")(folder)
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["machine"] = meta["machine"] | {"memory_bytes": memory}
    meta["options"] = {"memory_cap_mb": 1024, "trace_memory_mb": 1}
    path.write_text(json.dumps(meta | {"started_by": started_by}))
    return open_session(session.path)


def syncing(folder: Path, *, writes: bool) -> Session:
    """Return ten syncs of 80 ms by the loop, or as many writes of an index and sync of 40 ms each."""
    if not writes:
        return training(folder, [(100 * n, 100 * n + 80, LOOP, "fsync", 0, 0) for n in range(10)])
    calls = [(100 * n, 100 * n + 40, LOOP, "pwrite", 0, 4096, 0) for n in range(10)]
    calls += [(100 * n + 40, 100 * n + 80, LOOP, "fsync", 0, 0, 0) for n in range(10)]
    return training(folder, sorted(calls), paths=["/data/ckpt-1.index"], sizes=[4096])


def unexplained(folder: Path) -> Session:
    """Return steps that wait for 95 of 100 ms, in 10 of which a read runs, of a pipeline that is prepared."""
    machine = {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 0.01}
    meta = {"machine": machine, "pipelines": {"found": [PREPARED], "left_out": 0}}
    calls = [(100 * n, 100 * n + 10, 1, "read", 0, 10 * MB, 0) for n in range(20)]
    return training(folder, calls, WAITING_STEPS, sizes=[1000 * MB], meta=meta)


def one_burst(folder: Path, **meta: str) -> Session:
    """Return one write of 40 MB, without steps."""
    return training(folder, [(100, 500, 7, "write", 0, 40 * MB)], meta=meta)


def mapping(folder: Path, stage: dict) -> Session:
    """Return a pipeline with such a map in it."""
    return maps_job(folder, PATHS, stage, BATCH)


def buffered(folder: Path, *stages: dict) -> Session:
    """Return a pipeline that shuffles shards, and end with such stages."""
    return buffer_job(folder, SHARDS, SHUFFLE, BATCH, *stages)


def told_before(folder: Path, *, step_ms: float) -> Session:
    """Return a job that reads with more calls since it was told to, with such steps."""
    runs = reading(folder / "a"), reading(folder / "b", 4, step_ms=step_ms)
    return one_after_the_other(folder / "logs", *runs)


def fewer_before(folder: Path, *, step_ms: float) -> Session:
    """Return a job that reads with fewer since it was told to, with such steps."""
    return one_after_the_other(folder / "logs", crowded(folder / "a"), fewer(folder / "b", step_ms))


ROWS = {
    "a map that draws": Row(
        partial(mapping, stage=BOTH | DRAWS | SMALL), partial(mapping, stage=BOTH | SAME | SMALL)
    ),
    "longest in file calls": Row(partial(ranks, marked=False), partial(ranks, marked=True)),
    "waits longest": Row(partial(ranks, marked=True), partial(ranks, marked=False)),
    "a sync in a thread": Row(partial(syncing, writes=False), partial(syncing, writes=True)),
    "a page cache unseen": Row(of("a warm cache"), of("a warm cache"), as_log, as_made),
    "no prefetch": Row(buffered, lambda folder: buffered(folder, PREFETCH)),
    "a copy of a database": Row(partial(of_sqlite, journal=True), partial(of_sqlite, journal=False)),
    "no room for a trace": Row(partial(cut_short, memory=1 << 28), partial(cut_short, memory=1 << 36)),
    "no room, by the command": Row(
        partial(cut_short, memory=1 << 28, started_by="run"), partial(cut_short, memory=1 << 28)
    ),
    "a log": Row(of("one reader"), of("no steps"), as_log, as_made),
    "steps without waits": Row(unwaited, of("no steps")),
    "no call explains it": Row(unexplained, of("one reader")),
    "too short without steps": Row(partial(training, calls=[(0, 40, 1, "read", 0, 10)]), of("no steps")),
    "too few steps": Row(of("one step"), of("one reader")),
    "without --no-trace": Row(
        of("no steps"), of("no steps"), partial(without_trace, started_by="run"), without_trace
    ),
    "in the script": Row(partial(one_burst, started_by="run"), one_burst),
    "looks at threads": Row(partial(looked_at, looks=40), partial(looked_at, looks=0)),
    "bursts of writes without steps": Row(partial(saved, marked=False, tid=7), saved),
    "a checkpoint of TensorFlow": Row(partial(saved, name="ckpt-1.index"), partial(saved, name="model.pt")),
    "a checkpoint of others": Row(partial(saved, name="model.pt"), partial(saved, name="ckpt-1.index")),
    "a fix in vain": Row(partial(told_before, step_ms=50.0), partial(told_before, step_ms=25.0)),
    "a fix that undoes another": Row(
        partial(fewer_before, step_ms=50.0), partial(fewer_before, step_ms=100.0)
    ),
}


def test_claims_are_made_where_they_are_so(golden: Golden, folder: Path):
    golden("claims.txt", contrasts(ROWS, folder))


def test_what_if_says_what_the_fast_device_takes(tmp_path):
    measures = measure(of("slow storage")(tmp_path))
    base_s, byte_s = FAST.model.base_s, FAST.model.s_per_byte

    with_it, without = (
        what_if(measures, change).notes for change in (StorageChange(fast=FAST), StorageChange(latency=0.5))
    )

    words = (
        f"A pass over a file on the fast device takes {human_seconds(base_s)} and "
        f"{human_seconds(byte_s * 1e6)} per MB ({human_bytes(1 / byte_s)}/s), {FAST.note}."
    )
    assert words in with_it
    assert not any("the fast device" in text for text in without)
