"""What fixes say of the job's own input pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.findings.made_up_databases import database_job
from tests.unit.findings.made_up_jobs import (
    BATCH,
    CACHE,
    DECODE,
    GENERATOR,
    INTERLEAVE,
    LOAD,
    OPTIONS,
    PATHS,
    SHARDS,
    TAKE_9,
    pipeline_job,
)
from tests.unit.findings.made_up_training import LOOP
from tests.unit.findings.made_up_validation import validation_job
from tests.unit.golden.golden_file import Golden
from tfdarshan.findings import random_access, small_reads, unsharded_input
from tfdarshan.findings.finding import Fix
from tfdarshan.findings.fix_lines import (
    fewer_readers,
    keep_decoded,
    keep_in_memory,
    more_decoding,
    more_readers,
    read_ahead,
    validation_fix,
)
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.shard_fix_lines import SHARD_BYTES, in_shards
from tfdarshan.session import Session

UNNAMED = LOAD | {"function": "<lambda>"}
TORCH = {"versions": {"torch": "2.8.0"}}
TENSORFLOW = {"versions": {"tensorflow": "2.20.0"}}
TAKE = {"name": "take", "size": 10}
TWO_PROCESSORS = {"cpus": 2, "memory_bytes": 1 << 30, "cpu_s": 1.0}
NO_PLACE = {name: value for name, value in GENERATOR.items() if name not in ("file", "line")}
PYTHON = LOAD | {"does": ["python"], "function": "decode_image"}
DRAWS = {"random": True}
REPEAT = {"name": "repeat", "size": 4}
Asked = Callable[[Measures], Fix]
Job = Callable[[Path], Measures]


def of(*stages: dict, **more) -> Job:
    """Return what measures a job whose input pipeline has such stages."""
    return lambda folder: measure(pipeline_job(folder, *stages, **more))


def of_session(make: Callable[..., Session], **more) -> Job:
    """Return what measures a session."""
    return lambda folder: measure(make(folder, **more))


def with_workers(folder: Path) -> Measures:
    """Measure a job of PyTorch with four worker processes."""
    measures = of(readers=2)(folder)
    return replace(measures, versions=TORCH["versions"], summary=replace(measures.summary, processes=5))


def by_loop(versions: dict) -> Job:
    """Return what measures a job whose loop's own thread reads."""
    sketch = SKETCHES["read by the loop itself"]
    looked = {"pipelines": {"found": [], "left_out": 0}}
    return lambda folder: measure(sketched(folder, replace(sketch, meta=sketch.meta | versions | looked)))


def by_sqlite(folder: Path) -> Measures:
    """Measure a job whose loop's own thread reads a database."""
    return database_job(folder, LOOP)


def having(versions: dict) -> Job:
    """Return what measures a job with such libraries."""
    return lambda folder: replace(of()(folder), **versions)


def named(suffix: str) -> Job:
    """Return what measures a job with one file, whose name ends in such a way."""

    def made(folder: Path) -> Measures:
        measures = of()(folder)
        rows = measures.files.rows.assign(path=f"/data/train{suffix}")
        return replace(measures, files=replace(measures.files, rows=rows))

    return made


def threads(measures: Measures) -> Fix:
    """Ask for 16 readers."""
    return more_readers(measures, 16, 1)


def shards(measures: Measures) -> Fix:
    """Ask for two shards."""
    return in_shards(measures, 2 * SHARD_BYTES)


def larger(measures: Measures) -> Fix:
    """Ask for larger reads."""
    return small_reads._fix(measures, np.flatnonzero(measures.is_input))


def in_order(measures: Measures) -> Fix:
    """Ask for reads in order."""
    return random_access._fix(measures, np.flatnonzero(measures.is_input), 8e3)


BUSY = "all processors are busy"


def decoded(limit: str = "") -> Asked:
    """Return what asks to keep what was decoded, where `limit` says why no more can be decoded at a time."""
    return lambda measures: keep_decoded(measures, limit)


def too_large(measures: Measures) -> Fix:
    """Ask for less decoding of what does not fit into memory."""
    return keep_decoded(measures, BUSY, fits=False)


def decoded_once(measures: Measures) -> Fix:
    """Ask for less decoding of what is decoded in one epoch."""
    return keep_decoded(measures, BUSY, again=False)


def decode_more(measures: Measures) -> Fix:
    """Ask for as many calls that decode as there are processors."""
    return more_decoding(measures, 2)


def decode_three(measures: Measures) -> Fix:
    """Ask for three calls that decode."""
    return more_decoding(measures, 3)


def fewer(measures: Measures) -> Fix:
    """Ask for one reader in place of two."""
    return fewer_readers(measures, 1, 2)


def validation(*, keep: bool) -> Asked:
    """Return what asks for a validation set to be kept, or to be read by more."""
    return lambda measures: validation_fix(measures, 16, keep=keep)


FILES, RECORDS = (PATHS, LOAD), (SHARDS, DECODE)
DECODED = (*FILES, DECODE)
JOBS: dict[str, Job] = {
    "a thread": of(),
    "two threads": of(readers=2),
    "workers of a DataLoader": with_workers,
    "the loop": by_loop({}),
    "the loop, with PyTorch": by_loop(TORCH),
    "a database of SQLite": by_sqlite,
    "without a library": having({}),
    "with TensorFlow": having(TENSORFLOW),
    "with PyTorch": having(TORCH),
    "a generator": of(GENERATOR),
    "a generator in batches": of(GENERATOR, BATCH),
    "a generator of no place": of(NO_PLACE, BATCH),
    "files": of(*FILES),
    "files in batches": of(*FILES, BATCH),
    "files read without a name": of(PATHS, UNNAMED, BATCH),
    "files read by Python": of(PATHS, PYTHON, BATCH),
    "files read at random": of(PATHS, LOAD | DRAWS),
    "files decoded": of(*DECODED),
    "files decoded in batches": of(*DECODED, BATCH),
    "files decoded at random": of(*FILES, DECODE | DRAWS),
    "files repeated, decoded": of(PATHS, REPEAT, LOAD, DECODE),
    "files decoded, repeated": of(*DECODED, REPEAT),
    "files made anew": of(*FILES, datasets=3),
    "files cached": of(*FILES, CACHE),
    "files cached anew": of(*FILES, CACHE, datasets=3),
    "files cached, some taken": of(*FILES, CACHE, TAKE),
    "some files taken, cached": of(*FILES, TAKE, CACHE),
    "records": of(*RECORDS),
    "records in batches": of(*RECORDS, BATCH),
    "records interleaved": of(PATHS, INTERLEAVE, DECODE),
    "files in a pool of their own": of(PATHS, LOAD | {"calls": 2}, BATCH, pool_threads=32),
    "files with many calls": of(PATHS, LOAD | {"calls": 32}, BATCH),
    "files in batches, repeated": of(*FILES, BATCH, {"name": "repeat", "size": -1}, OPTIONS),
    "files shuffled": of(PATHS, {"name": "shuffle", "size": 320}, LOAD, BATCH),
    "files cached, batches taken": of(*FILES, CACHE, BATCH, TAKE_9),
    "files cached, samples taken": of(*FILES, CACHE, TAKE_9, BATCH),
    "files cached, taken twice": of(*FILES, TAKE_9 | {"size": 144}, CACHE, BATCH, TAKE_9),
    "files decoded by a pool of one": of(*DECODED, BATCH, pool_threads=1, machine=TWO_PROCESSORS),
    "files decoded on two processors": of(*DECODED, BATCH, machine=TWO_PROCESSORS),
    "nobody looked": of(found=False),
    "a validation set": of_session(validation_job),
    "a validation set of no pipeline": of_session(validation_job, pipelines=False),
} | {f"one file {suffix}": named(suffix) for suffix in (".db", ".sqlite", ".sqlite3", ".dbx", ".tfrecord")}
FIXES: dict[str, tuple[Asked, tuple[str, ...]]] = {
    "more readers": (threads, (
        "a thread", "two threads", "workers of a DataLoader", "the loop", "the loop, with PyTorch",
        "a database of SQLite", "with PyTorch", "a generator", "a generator in batches",
        "a generator of no place", "files in batches", "files read by Python", "records",
        "records in batches", "records interleaved", "files in a pool of their own", "nobody looked",
    )),
    "reading ahead": (read_ahead, (
        "a thread", "workers of a DataLoader", "the loop", "a database of SQLite", "with PyTorch",
        "files in batches, repeated",
    )),
    "more decoding": (decode_more, ("a generator in batches", "files decoded in batches")),
    "three calls that decode": (decode_three, (
        "files decoded in batches", "files decoded by a pool of one", "files decoded on two processors",
    )),
    "fewer readers": (fewer, ("a thread", "two threads", "files with many calls", "a database of SQLite")),
    "keeping what was decoded": (decoded(), (
        "a thread", "files decoded", "files decoded at random", "files repeated, decoded",
        "two threads", "a generator in batches", "files decoded in batches", "files decoded, repeated",
    )),
    "decoding less": (decoded(BUSY), ("files decoded",)),
    "decoding less of what does not fit": (too_large, ("files decoded",)),
    "decoding less of one epoch": (decoded_once, ("files decoded",)),
    "keeping in memory": (keep_in_memory, (
        "a thread", "files", "files read at random", "files made anew", "files cached", "files cached anew",
        "two threads", "a generator in batches", "files in batches", "files shuffled",
        "files cached, batches taken", "files cached, samples taken", "files cached, taken twice",
        "files cached, some taken", "some files taken, cached",
    )),
    "shards": (shards, (
        "files in batches", "files read without a name", "records in batches", "a generator in batches",
    )),
    "keeping a validation set": (validation(keep=True), (
        "a validation set", "a validation set of no pipeline",
    )),
    "larger reads": (larger, (
        "files", "records", "records interleaved", "one file .db", "one file .sqlite3", "one file .dbx",
        "one file .tfrecord",
    )),
    "reads in order": (in_order, ("a thread", "records", "one file .sqlite", "one file .tfrecord")),
    "a shard for each rank": (unsharded_input._fix, (
        "without a library", "with TensorFlow", "with PyTorch",
    )),
}  # fmt: skip


def test_fixes_are_worded_for_the_jobs_own_pipeline(golden: Golden, tmp_path: Path):
    # GIVEN jobs, each measured once
    measured = cache(lambda job: JOBS[job](tmp_path / job))

    # WHEN each is asked for the fixes that it may need
    fixes = {f"{fix}: {job}": asked(measured(job)) for fix, (asked, jobs) in FIXES.items() for job in jobs}

    # THEN
    golden("fixes.txt", {title: _typed(fix) for title, fix in fixes.items()})


def _typed(fix: Fix) -> str:
    """Return what a fix says, with the lines that go, and then those that come."""
    return "\n".join([fix.what, "-", fix.instead_of, "+", fix.line])
