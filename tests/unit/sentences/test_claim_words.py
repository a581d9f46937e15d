"""What findings and the verdict claim, assume and do not know: each where it is so and where it is not."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.unit.findings.made_up_buffers import SHUFFLE, buffer_job
from tests.unit.findings.made_up_jobs import BATCH, LOAD, PATHS, PREFETCH, SHARDS, crowded
from tests.unit.findings.made_up_maps import BOTH, DRAWS, SAME, SMALL, maps_job
from tests.unit.findings.made_up_reruns import fewer, one_after_the_other, reading
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tests.unit.sentences.counters_only import as_log, without_trace
from tests.unit.sentences.other_sessions import looked_at, ranks
from tests.unit.sentences.raw_figures import Raw
from tests.unit.sentences.rows import Maker, Row, check_said, diagnosed
from tests.unit.sentences.sessions import KB, MB, SESSIONS
from tests.unit.staging.synthetic import FAST
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.session import Session, open_session
from tfdarshan.units import human_bytes, human_seconds, percent

WAITING_STEPS = epochs_of_steps(20, 100, 95)
# A pipeline of which nothing is left to be written otherwise.
PREPARED = {"stages": [PATHS, LOAD | {"calls": -1}, BATCH, PREFETCH], "datasets": 1, "iterators": 1}


def of(name: str) -> Maker:
    """Gives what makes a session of the table."""
    return SESSIONS[name]


def decoding(folder: Path, *, cpu_s: float = 1.8, files: int = 1) -> Session:
    """Gives one reader of a job with four processors: it reads 1 of 10 ms, and decodes in the rest.

    Its files, of 2 MB each in one read, are read in turn.
    """
    calls = [(at, at + 1, 1, "read", at // 10 % files, 2 * MB, at * files) for at in range(0, 2000, 10)]
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": cpu_s}}
    sizes = [2 * MB if files > 1 else 10_000 * MB] * files
    paths = [f"/data/{n}" for n in range(files)]
    return training(folder, calls, WAITING_STEPS, paths=paths, sizes=sizes, meta=machine)


def unwaited(folder: Path) -> Session:
    """Gives steps that do not say what they waited."""
    calls = [(at, at + 8, 1, "pread", 0, 100 * KB, 100 * KB * at) for at in range(0, 1000, 10)]
    return training(folder, calls, epochs_of_steps(20, 50, -1), sizes=[100 * MB])


def of_sqlite(folder: Path, *, journal: bool) -> Session:
    """Gives a file of 10 MB that one reader reads in pages of 100 kB and 8 ms, and asks for its journal."""
    calls = [(10 * n, 10 * n + 8, 1, "pread", 0, 100 * KB, n % 100 * 100 * KB) for n in range(200)]
    calls += [(10 * n + 8, 10 * n + 9, 1, "stat", 1, 0, 0) for n in range(200)]
    paths = ["/data/a.db", "/data/a.db-journal" if journal else "/data/a.csv"]
    return training(folder, sorted(calls), epochs_of_steps(20, 100, 80), paths=paths, sizes=[10 * MB, -1])


def cut_short(folder: Path, *, memory: int, started_by: str = "") -> Session:
    """Gives a session of whose calls 300 found no room, on a machine with so much memory."""
    session = of("a trace cut short")(folder)
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["machine"] = meta["machine"] | {"memory_bytes": memory}
    meta["options"] = {"memory_cap_mb": 1024, "trace_memory_mb": 1}
    path.write_text(json.dumps(meta | {"started_by": started_by}))
    return open_session(session.path)


def _slowest_rank(found: Raw) -> int:
    """Gives the rank with most time in calls."""
    events = found.events.assign(seconds=found.events["end_ns"] - found.events["start_ns"])
    return int(events.groupby("rank")["seconds"].sum().idxmax())


def _explained(found: Raw) -> str:
    """Gives the share of the steps in which calls were running, all of them in waits."""
    whole_s = (found.steps["end"].max() - found.steps["start"].min()) / 1e9
    part = percent(found.union_s(found.events), whole_s)
    return (
        f", and {part} of step time is waiting for file calls. Look for locks, generators and services that "
        "the input pipeline waits for."
    )


ROWS = {
    "a map that draws": Row(
        "draws random numbers: what it gives is not the same in each epoch",
        lambda folder: maps_job(folder, PATHS, BOTH | DRAWS | SMALL, BATCH),
        lambda _: "map(load) draws random numbers: what it gives is not the same in each epoch.",
        lambda folder: maps_job(folder, PATHS, BOTH | SAME | SMALL, BATCH),
    ),
    "longest in file calls": Row(
        "which is longest in file calls of 3.", partial(ranks, marked=False),
        lambda found: f"This is of rank {_slowest_rank(found)}, which is longest",
        partial(ranks, marked=True),
    ),
    "waits longest": Row(
        "which waits longest for its input of 3.", partial(ranks, marked=True),
        lambda found: f"This is of rank {found.steps.groupby('rank')['wait'].sum().idxmax()}, which waits",
        partial(ranks, marked=False),
    ),
    "a sync in a thread": Row(
        "sync_behind(file)",
        lambda folder: training(folder, [(100 * n, 100 * n + 80, LOOP, "fsync", 0, 0) for n in range(10)]),
        lambda found: f"{len(found.calls('fsync'))} calls of fsync or fdatasync made by the main thread took "
        f"{human_seconds(found.calls('fsync')['seconds'].sum())}, in which it stood still.",
        lambda folder: training(
            folder,
            [(100 * n + at, 100 * n + at + 40, LOOP, call, 0, size, 0) for n in range(10)
             for at, call, size in ((0, "pwrite", 4096), (40, "fsync", 0))],
            paths=["/data/ckpt-1.index"], sizes=[4096],
        ),
    ),
    "a page cache unseen": Row(
        "what the page cache served: the log does not have the kernel's figures", of("a warm cache"),
        lambda _: "how much of the I/O was not seen: the kernel's figures are missing",
        of("a warm cache"), as_log, lambda session: session,
    ),
    "no prefetch": Row(
        "The rest is read while steps compute.",
        lambda folder: buffer_job(folder, SHARDS, SHUFFLE, BATCH),
        lambda _: "prefetch(tf.data.AUTOTUNE)",
        lambda folder: buffer_job(folder, SHARDS, SHUFFLE, BATCH, PREFETCH),
    ),
    "a copy of a database": Row(
        " of SQLite databases to a local disk", partial(of_sqlite, journal=True), lambda found: [
            f"Copy {human_bytes(found.files['size_bytes'].max())} of SQLite databases to a local disk",
            "cp -u /data/a.db DIR/",
            'database = sqlite3.connect("DIR/a.db", check_same_thread=False)',
        ], partial(of_sqlite, journal=False),
    ),
    "no room for a trace": Row(
        "Record fewer steps, or leave files out with exclude=[...].", partial(cut_short, memory=1 << 28),
        lambda found: f"300 of {len(found.events) + 300} calls found no room in the trace.",
        partial(cut_short, memory=1 << 36),
    ),
    "no room, by the command": Row(
        "leave files out with --exclude PATTERN.", partial(cut_short, memory=1 << 28, started_by="run"),
        lambda _: "Record fewer steps, or", partial(cut_short, memory=1 << 28),
    ),
    "a log": Row("The log does not say what the job waited for; ", of("one reader"),
                 lambda _: "record the job with `tfdarshan run`", of("no steps"), as_log, lambda one: one),
    "steps without waits": Row(
        "This session cannot tell whether training waited for input; file calls were running",
        unwaited, lambda found: [
            f"file calls were running {percent(found.union_s(found.events), 1.0)} of the time.",
            "the steps do not say what they waited",
        ], of("no steps"),
    ),
    "no call explains it": Row(
        " of step time is waiting for the pipeline otherwise, and ", lambda folder: training(
            folder, [(100 * n, 100 * n + 10, 1, "read", 0, 10 * MB, 0) for n in range(20)], WAITING_STEPS,
            sizes=[1000 * MB], meta={
                "machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 0.01},
                "pipelines": {"found": [PREPARED], "left_out": 0},
            },
        ),
        _explained,
        of("one reader"),
    ),
    "too short without steps": Row(
        "record a longer run, of some seconds", partial(training, calls=[(0, 40, 1, "read", 0, 10)]),
        lambda found: "Too short to tell: 40.0 ms were recorded.", of("no steps"),
    ),
    "too few steps": Row(
        "record some seconds, 20 steps or more", of("one step"),
        lambda found: f"Too short to tell: {len(found.steps)} step in ", of("one reader"),
    ),
    "without --no-trace": Row(
        "record without --no-trace", of("no steps"), lambda _: "there is no trace of single calls",
        of("no steps"), partial(without_trace, started_by="run"), without_trace,
    ),
    "in the script": Row(
        "in the script, mark steps with tfdarshan.step()",
        lambda folder: training(folder, [(100, 500, 7, "write", 0, 40 * MB)], meta={"started_by": "run"}),
        lambda _: "whether 1 burst of writes held anything up: no step was recorded",
        lambda folder: training(folder, [(100, 500, 7, "write", 0, 40 * MB)]),
    ),
    "looks at threads": Row(
        ", 500.0 ms over threads at least: ", partial(looked_at, looks=40),
        lambda _: "their time is a lower bound from 40 looks at which threads were blocked in one",
        partial(looked_at, looks=0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_a_claim_is_made_where_it_is_so(name, tmp_path):
    check_said(ROWS[name], tmp_path)


@pytest.mark.parametrize(("step_ms", "said"), [(50.0, "in vain"), (25.0, "helped")])
def test_a_cure_that_is_in_is_judged_by_what_steps_take_since(step_ms, said, tmp_path):
    # GIVEN a job that reads with more calls since it was told to, with such steps
    first = reading(tmp_path / "a")
    second = reading(tmp_path / "b", 4, step_ms=step_ms)

    # WHEN
    text = diagnosed(one_after_the_other(tmp_path / "logs", first, second))

    # THEN
    words = f"; the cure is in, and a step takes {human_seconds(step_ms / 1e3)} after {human_seconds(0.05)}."
    assert (words in text) == (said == "in vain")


@pytest.mark.parametrize(("step_ms", "undoes"), [(50.0, True), (100.0, False)])
def test_a_cure_that_would_undo_another_is_said_to(step_ms, undoes, tmp_path):
    # GIVEN a job that was told to read with fewer, and does
    first = crowded(tmp_path / "a")
    second = fewer(tmp_path / "b", step_ms)

    text = diagnosed(one_after_the_other(tmp_path / "logs", first, second))

    name = "Session 2026_01_01_00_00_00"
    words = f"{name} shows that this would undo what fewer reads at a time gave: a step takes "
    assert (words in text) == undoes


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
