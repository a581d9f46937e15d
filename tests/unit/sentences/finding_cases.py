"""Each finding: a session of which it is true, and one of which it is false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.closed_readers import Delay, Queue, calls_of
from tests.joint_training import MadeUpRank, joint_training
from tests.scenario_sessions import BUCKET, KB, MB, SKETCHES, Sketch, sketched
from tests.unit.findings.made_up_buffers import SHUFFLE, buffer_job
from tests.unit.findings.made_up_jobs import BATCH, LOAD, PATHS, PREFETCH, readers_job
from tests.unit.findings.made_up_loaders import crowded_job, loader_job
from tests.unit.findings.made_up_mapped import loop_faults, mapped_training
from tests.unit.findings.made_up_ranks import everything, shards
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.sentences import sessions
from tests.unit.sentences.other_sessions import mapped_from_memory
from tfdarshan.session import Session

Maker = Callable[[Path], Session]
BOUND = Sketch(meta=BUCKET)
LARGE = {"batch_bytes": 80_000_000, "small_bytes": 20_000_000}
DECODING = Sketch(readers=1, read_ms=0.5, open_ms=0.1, other_ms=60.0)


def made(sketch: Sketch) -> Maker:
    """Return what writes a sketch's session."""
    return lambda logdir: sketched(logdir, sketch)


def of(name: str) -> Maker:
    """Return what writes a scenario's session."""
    return made(SKETCHES[name])


@dataclass(frozen=True)
class Case:
    """A finding, a session of which it is true, and one of which it is false."""

    name: str
    true: Maker
    false: Maker


def random_reads(logdir: Path, *, in_order: bool) -> Session:
    """Return reads of 20 kB all over two files of 50 MB, or one after the other."""
    offsets = [n * 20 * KB if in_order else (n * 7919 % 2500) * 20 * KB for n in range(200)]
    calls = [(10 * n, 10 * n + 8, 1, "pread", n % 2, 20 * KB, offsets[n]) for n in range(200)]
    paths = ["/data/a", "/data/b"]
    return training(logdir, calls, epochs_of_steps(20, 100, 80), paths=paths, sizes=[50 * MB] * 2)


def phases(logdir: Path, *, shallow_bytes: int) -> Session:
    """Return 16 reads at a time of 25 MB/s together, and for the last fifth of each half second two."""
    calls: list[tuple] = []
    for at in range(0, 2000, 4):
        readers, length = (16, 6_250) if at % 500 < 400 else (2, shallow_bytes)
        calls += [(at, at + 4, thread + 1, "pread", thread, length, at * MB) for thread in range(readers)]
    paths = [f"/data/{number}" for number in range(16)]
    return training(logdir, calls, epochs_of_steps(20, 100, 90), paths=paths, sizes=[100_000 * MB] * 16)


def filled(logdir: Path, stages: tuple) -> Session:
    """Return two epochs whose first step waits 800 ms."""
    return buffer_job(logdir, *stages)


def one_pipe(logdir: Path, storage: Any) -> Session:
    """Return two readers of storage that serves one call after the other, or all at once."""
    calls = calls_of(storage, readers=2, rest_ms=lambda noise: noise.expovariate(1 / 2))
    return readers_job(logdir, calls)


def _ranks(dealt=None, times=None, hosts=None) -> Maker:
    """Return what writes a job of several ranks: files each reads in a step, how slow each is, and where."""
    dealt = dealt or shards(len(times or hosts), 4)
    made_up = zip(dealt, hosts or ["n0"] * len(dealt), times or [1] * len(dealt), strict=True)
    ranks = [MadeUpRank(*one) for one in made_up]
    return lambda logdir: joint_training(logdir, ranks, noise=0.0)


def _mapped(jump: int, *, each_ms: float = 2.5, bytes_in: int = MB) -> Maker:
    """Return what writes a session with four page faults of the loop's a step, so many bytes apart."""
    faults = loop_faults(50, 20.0, each_ms, 4, jump=jump)
    return lambda logdir: mapped_training(logdir, faults, epochs_of_steps(50, 20.0, 10.0), bytes_in=bytes_in)


def shards_of(folder: Path, workers: int, **look: Any) -> Session:
    """Give a job of two workers that read an iterable data set, of so many that there are."""
    look = {"iterable": True, "shuffled": False, "working": 2, "persistent": True} | look
    return loader_job(folder, fetch_ms=(40, 40), workers=workers, **look)


def _of_a_full_pipe(folder: Path) -> Session:
    """Return a job whose storage serves one byte after the other; it remembers what it served."""
    return one_pipe(folder, storage=Queue(0, 0, 1 / 30_000))


CASES = (
    Case("low_coverage", of("unseen reads"), of("a warm cache")),
    Case("truncated_trace", of("a trace cut short"), of("half of it fetched")),
    Case("page_cache", of("a warm cache"), of("half of it fetched")),
    Case("small_files", of("no prefetch"), made(replace(BOUND, files=16))),
    Case(
        "eof_probes",
        made(replace(SKETCHES["reads of nothing"], files=48, before=0)),
        made(replace(SKETCHES["reads of nothing"], files=48, empty_ms=None)),
    ),
    Case(
        "small_reads",
        made(
            replace(
                SKETCHES["opened again and again"], part_bytes=0, parts=40, epochs=2, keep_open=True, files=40
            )
        ),
        sessions.read_whole_again,
    ),
    Case("random_access", partial(random_reads, in_order=False), partial(random_reads, in_order=True)),
    Case("mapped_wait", _mapped(MB), _mapped(MB, each_ms=0.01)),
    Case("mapped_cached", mapped_from_memory, _mapped(MB)),
    Case("reopening", of("fits in memory"), of("one reader")),
    Case("stat_storm", of("asked again and again"), of("one reader")),
    Case("fits_in_memory", of("fits in memory"), of("one reader")),
    Case("staging", of("slow storage"), of("a warm cache")),
    Case("straggler", of("one slow mount"), of("no prefetch")),
    Case("read_parallelism", made(replace(SKETCHES["one reader"], before=0)), sessions.EDGES["one call"]),
    Case("prefetch", of("no prefetch"), of("healthy, an SSD")),
    Case(
        "decode_bound",
        made(replace(DECODING, meta={"machine": {"cpus": 2, "cpu_s": 60.0}})),
        made(replace(DECODING, meta={"machine": {"cpus": 2, "cpu_s": 0.05}})),
    ),
    Case("checkpoint_stall", of("checkpoints"), of("healthy, an SSD")),
    Case("small_writes", sessions.many_writes, sessions.one_write),
    Case("fsync", sessions.one_sync, sessions.one_write),
    Case("validation", sessions.with_validation, of("one reader")),
    Case("too_many_threads", partial(phases, shallow_bytes=800 * KB), partial(phases, shallow_bytes=50 * KB)),
    Case(
        "full_storage",
        _of_a_full_pipe,
        partial(one_pipe, storage=Delay(5)),
    ),
    Case(
        "shuffle_buffer",
        partial(filled, stages=(PATHS, LOAD, SHUFFLE, BATCH, PREFETCH)),
        partial(filled, stages=(PATHS, SHUFFLE, LOAD, BATCH, PREFETCH)),
    ),
    Case(
        "unsharded_input",
        _ranks(dealt=everything(3, 4, 2, np.random.default_rng(1))),
        _ranks(dealt=shards(3, 4)),
    ),
    Case("shard_imbalance", _ranks(dealt=shards(3, 4, more=(1, 3))), _ranks(dealt=shards(3, 4))),
    Case(
        "slow_node",
        _ranks(times=(1, 1, 5, 5), hosts=("n0", "n0", "n1", "n1")),
        _ranks(times=(1, 1, 1, 5), hosts=("n0", "n0", "n1", "n1")),
    ),
    Case(
        "slow_rank",
        _ranks(times=(1, 1, 1, 5), hosts=("n0", "n0", "n1", "n1")),
        _ranks(times=(1, 1, 5, 5), hosts=("n0", "n0", "n1", "n1")),
    ),
    Case(
        "worker_starts", partial(loader_job, start_ms=300), partial(loader_job, start_ms=300, persistent=True)
    ),
    Case("few_shards", partial(shards_of, workers=8), partial(shards_of, workers=2)),
    Case("too_many_workers", crowded_job, partial(crowded_job, cpus=16)),
    Case(
        "slow_worker",
        partial(loader_job, fetch_ms=(50, 10), iterable=True),
        partial(loader_job, fetch_ms=(50, 10)),
    ),
    Case(
        "head_of_line",
        partial(loader_job, fetch_ms=(50, 10)),
        partial(loader_job, fetch_ms=(50, 10), in_order=False),
    ),
    Case("batch_transport", partial(loader_job, fetch_ms=(5, 5), back_ms=40, **LARGE), loader_job),
    Case("input_bound", of("one reader"), of("healthy, an SSD")),
)
