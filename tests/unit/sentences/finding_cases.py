"""Each finding: a session of which it is true, and one of which it is false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tests.unit.sentences import sessions
from tests.unit.sentences.other_sessions import mapped_from_memory
from tests.unit.sentences.raw_figures import OPENS, Raw
from tfdarshan.session import Session
from tfdarshan.units import human_bytes, human_seconds, percent, plural


def found_cached(found: Raw) -> list[str]:
    faults = found.calls("fault")
    assert float(faults["seconds"].max()) < 20e-6
    return [
        "the page cache has what is read of 1 mapped file",
        (
            f"Of {len(faults):,} page faults on mapped files 0 waited, {human_seconds(0)} in all: "
            "faster storage, or reading ahead, would give nothing."
        ),
        "of them waited",
        "waited in all",
    ]


Maker = Callable[[Path], Session]
Words = Callable[[Raw], list[str]]
BOUND = Sketch(meta=BUCKET)


def made(sketch: Sketch) -> Maker:
    """Gives what writes a sketch's session."""
    return lambda logdir: sketched(logdir, sketch)


def of(name: str) -> Maker:
    """Gives what writes a scenario's session."""
    return made(SKETCHES[name])


@dataclass(frozen=True)
class Case:
    """Where a finding is true, what it then says by the raw tables, and where it is false."""

    name: str
    true: Maker
    says: Words
    false: Maker


def _mean_s(calls) -> str:
    return human_seconds(calls["seconds"].mean())


def _reopening(found: Raw) -> list[str]:
    opens = found.calls(*OPENS)
    files = opens["file"].nunique()
    return [f"opened {len(opens) / files:.0f} times each", f"{len(opens)} opens of {files} files;"]


def _small_writes(found: Raw) -> list[str]:
    writes = found.calls("write")
    assert (writes["tid"] == LOOP).all()
    return [
        f"the main thread makes {len(writes)} writes of {human_bytes(writes['length'].mean())}",
        f"take {_mean_s(writes)} each, {human_seconds(writes['seconds'].sum())} in all; 1 of 1.0 MB at most",
    ]


def _checkpoints(found: Raw) -> list[str]:
    # Two writes a step, and each step's is a burst of its own.
    writes = found.calls("write")
    bursts = len(writes) // 2
    each_s = writes["seconds"].sum() / bursts
    return [
        f"each checkpoint holds training up for {human_seconds(each_s)}",
        (
            f"{bursts} checkpoints of {human_bytes(writes['length'].sum() / bursts)} took "
            f"{human_seconds(writes['seconds'].sum())}"
        ),
    ]


def _small_files(found: Raw) -> list[str]:
    files, moved = found.data_reads["file"].nunique(), found.data_reads["length"].sum()
    opens = found.calls("open")
    each_s = (found.events["end_ns"] - found.events["start_ns"]).sum() / 1e9 / len(opens)
    return [
        f"the input is {files} small files of {human_bytes(moved / len(opens))}",
        f"Each is opened, read and closed in {human_seconds(each_s)}; ",
        " of that is opens, closes and stat() calls.",
    ]


def _staging(found: Raw) -> list[str]:
    opened = found.files[found.files["POSIX_READS"] > 0]
    return [f"{human_bytes(opened['size_bytes'].sum())} in {len(opened)} files comes from storage"]


def _input_bound(found: Raw) -> list[str]:
    step_s = (found.steps["end"].max() - found.steps["start"].min()) / len(found.steps) / 1e9
    return [
        f"{percent(found.wait_share, 1)} of step time is waiting for input",
        f"A step takes {human_seconds(step_s)} and waits {human_seconds(found.steps['wait'].mean() / 1e9)}",
    ]


def _eof_probes(found: Raw) -> list[str]:
    reads = len(found.data_reads) + len(found.empty_reads)
    return [
        f"{percent(len(found.empty_reads), reads)} of the reads return nothing",
        f"{len(found.empty_reads)} reads returned nothing",
        f"took {_mean_s(found.empty_reads)} each.",
    ]


def _stats(found: Raw) -> list[str]:
    stats = found.calls("stat")
    return [
        f"{len(stats) / len(found.steps):.0f} stats are made a step",
        f"{len(stats)} stats of {stats['file'].nunique()} files take {_mean_s(stats)} each: the job asks",
    ]


def _again(found: Raw) -> list[str]:
    moved, unique = (
        found.data_reads["length"].sum(),
        found.files["size_bytes"][found.files["POSIX_READS"] > 0],
    )
    return [
        f"read from storage {moved / unique.sum():.1f} times",
        f"The job reads {human_bytes(unique.sum())} {moved / unique.sum():.1f} times over",
    ]


def _small_reads(found: Raw) -> list[str]:
    reads = found.data_reads
    return [
        f"files are read {human_bytes(reads['length'].mean())} at a time",
        f"{len(reads):,} reads that go on where the one before ended wait {_mean_s(reads)} each",
    ]


def _readers(found: Raw) -> list[str]:
    calls = found.events.assign(seconds=(found.events["end_ns"] - found.events["start_ns"]) / 1e9)
    assert calls["tid"].nunique() == 1
    return [
        "reads are serial (queue depth 1)",
        "One reader at a time reads the input",
        f"of {_mean_s(calls)} on",
    ]


def _prefetch(found: Raw) -> list[str]:
    wait_s = found.steps["wait"].mean() / 1e9
    compute_s = (found.steps["end"] - found.steps["start"] - found.steps["wait"]).mean() / 1e9
    return [
        f"it waits {human_seconds(wait_s)} for its batch and then computes {human_seconds(compute_s)}",
        "the input pipeline works 0.0 % as much as while it waits",
    ]


def _decoding(found: Raw) -> list[str]:
    share = found.union_s(found.events) / (found.steps["wait"].sum() / 1e9)
    return ["decodes longer than it reads", f"{percent(share, 1)} of it in file calls"]


def _straggler(found: Raw) -> list[str]:
    taken = (
        found.events.assign(s=found.events["end_ns"] - found.events["start_ns"]).groupby("file")["s"].sum()
    )
    slow = taken[taken > 10 * taken.median()]
    return [
        f"{len(slow)} files are ",
        f"{len(slow)} files of {len(taken)} take {percent(slow.sum(), taken.sum())} of the time",
    ]


def _page_cache(found: Raw) -> list[str]:
    read = human_bytes(found.data_reads["length"].sum())
    return [f"Of {read} read of the input, 100.0 % came from memory, by the kernel's count"]


def _coverage(_found: Raw) -> list[str]:
    return [
        "100.0 % of the bytes read were not seen",
        "The kernel counted 40.0 MB read by the job; 40.0 MB of them are of no recorded call",
    ]


def _truncated(found: Raw) -> list[str]:
    kept = len(found.events)
    return [f"the trace lacks {percent(300, kept + 300)} of the calls", f"300 of {kept + 300} calls found no"]


def _validation(_found: Raw) -> list[str]:
    return [
        "stands still 450.0 ms an epoch",
        "In 1 pause between steps 1 file is read that no step reads, 1.0 MB in all, 1.0 calls at a time",
    ]


def _sync(found: Raw) -> list[str]:
    syncs = found.calls("fsync")
    return [
        f"the training loop syncs files, {_mean_s(syncs)} each time",
        (
            f"{plural(len(syncs), 'call')} of fsync or fdatasync made by the training loop took "
            f"{human_seconds(syncs['seconds'].sum())}"
        ),
    ]


def random_reads(logdir: Path, *, in_order: bool) -> Session:
    """Gives reads of 20 kB all over two files of 50 MB, or one after the other."""
    offsets = [n * 20 * KB if in_order else (n * 7919 % 2500) * 20 * KB for n in range(200)]
    calls = [(10 * n, 10 * n + 8, 1, "pread", n % 2, 20 * KB, offsets[n]) for n in range(200)]
    paths = ["/data/a", "/data/b"]
    return training(logdir, calls, epochs_of_steps(20, 100, 80), paths=paths, sizes=[50 * MB] * 2)


def _random(found: Raw) -> list[str]:
    jump = found.data_reads
    return [
        "large files are read out of order, 20.0 kB at a time",
        f"jump about in {jump['file'].nunique()} files",
    ]


def phases(logdir: Path, *, shallow_bytes: int) -> Session:
    """Gives 16 reads at a time of 25 MB/s together, and for the last fifth of each half second two."""
    calls: list[tuple] = []
    for at in range(0, 2000, 4):
        readers, length = (16, 6_250) if at % 500 < 400 else (2, shallow_bytes)
        calls += [(at, at + 4, thread + 1, "pread", thread, length, at * MB) for thread in range(readers)]
    paths = [f"/data/{number}" for number in range(16)]
    return training(logdir, calls, epochs_of_steps(20, 100, 90), paths=paths, sizes=[100_000 * MB] * 16)


def _crowd(found: Raw) -> list[str]:
    reads = found.data_reads
    moved = reads.groupby("start_ns")["length"].agg(["sum", "count"])
    deep, shallow = (moved[moved["count"] == count]["sum"].mean() / 0.004 for count in (16, 2))
    return [
        f"With 16.0 reads at a time it gives {human_bytes(deep)}/s",
        f"4 phases with 2.0 it gave {human_bytes(shallow)}/s",
    ]


def filled(logdir: Path, stages: tuple) -> Session:
    """Gives two epochs whose first step waits 800 ms."""
    return buffer_job(logdir, *stages)


def _longer(found: Raw) -> str:
    waits = found.steps["wait"].sort_values() / 1e9
    return human_seconds(waits.max() - waits[waits < 100 * waits.min()].mean())


def _fills(found: Raw) -> list[str]:
    return [
        "each epoch begins with filling a buffer of 320 samples",
        f"waits for all that fit into it: {_longer(found)} longer than others at most",
    ]


def one_pipe(logdir: Path, storage: Any) -> Session:
    """Gives two readers of storage that serves one call after the other, or all at once."""
    calls = calls_of(storage, readers=2, rest_ms=lambda noise: noise.expovariate(1 / 2))
    return readers_job(logdir, calls)


def _full(found: Raw) -> list[str]:
    reads = found.data_reads
    busy_s = found.union_s(reads)
    rate = f"{human_bytes(reads['length'].sum() / busy_s)}/s"
    return [
        f"storage gives {rate} however many",
        f"gives {rate} in {len(reads) / busy_s:,.0f} calls a second",
    ]


def _ranks(dealt=None, times=None, hosts=None) -> Maker:
    """Gives what writes a job of several ranks: files each reads in a step, how slow each is, and where."""
    dealt = dealt or shards(len(times or hosts), 4)
    made_up = zip(dealt, hosts or ["n0"] * len(dealt), times or [1] * len(dealt), strict=True)
    ranks = [MadeUpRank(*one) for one in made_up]
    return lambda logdir: joint_training(logdir, ranks, noise=0.0)


def _by_rank(found: Raw, name: str) -> Any:
    return found.files.groupby("rank")[name].sum()


def _rank_waits(found: Raw) -> str:
    waits = found.steps.groupby("rank")["wait"].mean() / 1e9
    others = waits.drop(waits.idxmax()).median()
    return f"Its steps wait {human_seconds(waits.max())}, those of the others {human_seconds(others)}."


def _unsharded(found: Raw) -> list[str]:
    once = found.files.groupby("path")["size_bytes"].max().sum()
    together = human_bytes(found.files["POSIX_BYTES_READ"].sum())
    times = round(_by_rank(found, "POSIX_BYTES_READ").max() / once)
    return [
        "all 3 ranks read",
        f"all {human_bytes(once)} of the input, {times} times each: {together} together",
    ]


def _imbalance(found: Raw) -> list[str]:
    read = _by_rank(found, "POSIX_BYTES_READ")
    most, others = read.max(), read.drop(read.idxmax())
    return [
        f"rank {read.idxmax()} has {most / others.median():.1f} times as much to read",
        f"reads {human_bytes(most)} in ",
        f"the others {human_bytes(others.mean())} each. {_rank_waits(found)}",
    ]


def _slow_node(found: Raw) -> list[str]:
    calls = found.calls("open", "read").groupby("rank")["seconds"]
    taken, each = calls.sum(), calls.mean()
    return [
        f"node n1 reads {taken[2] / taken[[0, 1]].median():.1f} times slower",
        "2 ranks on n1 (2, 3) take",
        f"Slow there is /data ({human_seconds(each[2])} a call, ",
        f" a call, {human_seconds(each[[0, 1]].min())} elsewhere).",
    ]


def _slow_rank(found: Raw) -> list[str]:
    taken = found.calls("open", "read").groupby("rank")["seconds"].sum()
    times = f"{taken[3] / taken.drop(3).median():.1f} times"
    return [f"rank 3 reads {times} slower", f"Rank 3 on n1 takes {times} as long", _rank_waits(found)]


def _mapped(jump: int, *, each_ms: float = 2.5, bytes_in: int = MB) -> Maker:
    """Gives what writes a session with four page faults of the loop's a step, so many bytes apart."""
    faults = loop_faults(50, 20.0, each_ms, 4, jump=jump)
    return lambda logdir: mapped_training(logdir, faults, epochs_of_steps(50, 20.0, 10.0), bytes_in=bytes_in)


def _page_faults(found: Raw) -> list[str]:
    faults = found.calls("fault")
    return [
        "threads wait in page faults on a mapped file",
        f"{len(faults)} times a thread touched a page that was not in memory",
        f"waited {_mean_s(faults)} for it",
        f"{human_seconds(faults['seconds'].sum())} in all",
    ]


def _worker_starts(_found: Raw) -> list[str]:
    return [
        "each epoch begins with starting 2 workers, which takes 300.0 ms",
        "started 2 workers 3 times, and the training loop waited 900.0 ms for that",
    ]


def _held_up(found: Raw) -> list[str]:
    # Each slow batch of 50 ms has one behind it that is ready after 10 ms.
    ready_s, waited_s = 18 * 0.040, 18 * (0.051 + 0.001)
    return [
        f"ready batches wait for their turn {percent(ready_s, waited_s)} of the input wait",
        f"For 18 of {len(found.steps)} batches the training loop waited although a later batch was ready",
        f"{human_seconds(ready_s)} of the {human_seconds(waited_s)} that it waited in all",
        "Worker 0 takes 5.0 times as long as the others.",
    ]


def _way_back(_found: Raw) -> list[str]:
    back_s, waited_s = 36 * 0.040, 18 * (0.045 + 0.040)
    return [
        f"{percent(back_s, waited_s)} of the input wait is the way of batches from workers to the loop",
        "A batch needs 40.0 ms from its worker to the training loop while the loop waits, and 5.0 ms",
    ]


def shards_of(folder: Path, workers: int, **look: Any) -> Session:
    """Give a job of two workers that read an iterable data set, of so many that there are."""
    look = {"iterable": True, "shuffled": False, "working": 2, "persistent": True} | look
    return loader_job(folder, fetch_ms=(40, 40), workers=workers, **look)


def _shards(found: Raw) -> list[str]:
    working = found.data_reads["tid"].nunique()
    return [
        f"the input has shards for only {working} of 8 workers",
        f"All batches come from {working} workers.",
    ]


def _slow_part(found: Raw) -> list[str]:
    reads = found.data_reads.groupby("tid")["seconds"]
    slow_s, usual_s = reads.median().max(), reads.median().min()
    return [
        f"worker 0 takes {slow_s / usual_s:.1f} times as long for a batch as the other workers",
        f"It puts {reads.size().iloc[0]} of {len(found.steps)} batches together",
        f"each in {human_seconds(slow_s)}.",
        f"The others take {human_seconds(usual_s)}.",
    ]


def _crowded(_found: Raw) -> list[str]:
    # In 7 of 8 rounds of 168 ms 8 workers are at work for 40 ms, in 38 of which the loop computes.
    crowded, busy = 7 * 38 / (64 * 20), 1 - 7 * 8 * 4 / (64 * 40)
    beside, had = 8 * crowded, 1 - crowded * (1 - 4 / (8 * busy + 1))
    return [
        "8 workers share 4 processors with the training loop",
        f"workers put {beside:.1f} batches together.",
        f"The training loop then has {percent(had, 1)} of a processor",
        "and could compute 100.0 % of that time",
    ]


CASES = (
    Case("low_coverage", of("unseen reads"), _coverage, of("a warm cache")),
    Case("truncated_trace", of("a trace cut short"), _truncated, of("half of it fetched")),
    Case("page_cache", of("a warm cache"), _page_cache, of("half of it fetched")),
    Case("small_files", of("no prefetch"), _small_files, made(replace(BOUND, files=16))),
    Case("eof_probes", made(replace(SKETCHES["reads of nothing"], files=48, before=0)), _eof_probes,
         made(replace(SKETCHES["reads of nothing"], files=48, empty_ms=None))),
    Case("small_reads", made(replace(SKETCHES["opened again and again"], part_bytes=0, parts=40, epochs=2,
                                     keep_open=True, files=40)), _small_reads, sessions.read_whole_again),
    Case("random_access", lambda logdir: random_reads(logdir, in_order=False), _random,
         lambda logdir: random_reads(logdir, in_order=True)),
    Case("mapped_wait", _mapped(MB), _page_faults, _mapped(MB, each_ms=0.01)),
    Case("mapped_cached", mapped_from_memory, lambda found: found_cached(found)[:2], _mapped(MB)),
    Case("reopening", of("fits in memory"), _reopening, of("one reader")),
    Case("stat_storm", of("asked again and again"), _stats, of("one reader")),
    Case("fits_in_memory", of("fits in memory"), _again, of("one reader")),
    Case("staging", of("slow storage"), _staging, of("a warm cache")),
    Case("straggler", of("one slow mount"), _straggler, of("no prefetch")),
    Case("read_parallelism", made(replace(SKETCHES["one reader"], before=0)), _readers,
         sessions.EDGES["one call"]),
    Case("prefetch", of("no prefetch"), _prefetch, of("healthy, an SSD")),
    Case("decode_bound", made(replace(BOUND, readers=1, read_ms=0.5, open_ms=0.1, other_ms=60.0,
                                      meta={"machine": {"cpus": 2, "cpu_s": 60.0}})), _decoding,
         of("decoding")),
    Case("checkpoint_stall", of("checkpoints"), _checkpoints, of("healthy, an SSD")),
    Case("small_writes", sessions.many_writes, _small_writes, sessions.one_write),
    Case("fsync", sessions.one_sync, _sync, sessions.one_write),
    Case("validation", sessions.with_validation, _validation, of("one reader")),
    Case("too_many_threads", lambda logdir: phases(logdir, shallow_bytes=800 * KB), _crowd,
         lambda logdir: phases(logdir, shallow_bytes=50 * KB)),
    Case("full_storage", lambda logdir: one_pipe(logdir, Queue(0, 0, 1 / 30_000)), _full,
         lambda logdir: one_pipe(logdir, Delay(5))),
    Case("shuffle_buffer", lambda logdir: filled(logdir, (PATHS, LOAD, SHUFFLE, BATCH, PREFETCH)), _fills,
         lambda logdir: filled(logdir, (PATHS, SHUFFLE, LOAD, BATCH, PREFETCH))),
    Case("unsharded_input", _ranks(dealt=everything(3, 4, 2, np.random.default_rng(1))), _unsharded,
         _ranks(dealt=shards(3, 4))),
    Case("shard_imbalance", _ranks(dealt=shards(3, 4, more=(1, 3))), _imbalance, _ranks(dealt=shards(3, 4))),
    Case("slow_node", _ranks(times=(1, 1, 5, 5), hosts=("n0", "n0", "n1", "n1")), _slow_node,
         _ranks(times=(1, 1, 1, 5), hosts=("n0", "n0", "n1", "n1"))),
    Case("slow_rank", _ranks(times=(1, 1, 1, 5), hosts=("n0", "n0", "n1", "n1")), _slow_rank,
         _ranks(times=(1, 1, 5, 5), hosts=("n0", "n0", "n1", "n1"))),
    Case("worker_starts", lambda logdir: loader_job(logdir, start_ms=300), _worker_starts,
         lambda logdir: loader_job(logdir, start_ms=300, persistent=True)),
    Case("few_shards", lambda logdir: shards_of(logdir, 8), _shards, lambda logdir: shards_of(logdir, 2)),
    Case("too_many_workers", crowded_job, _crowded, lambda logdir: crowded_job(logdir, cpus=16)),
    Case("slow_worker", lambda logdir: loader_job(logdir, fetch_ms=(50, 10), iterable=True), _slow_part,
         lambda logdir: loader_job(logdir, fetch_ms=(50, 10))),
    Case("head_of_line", lambda logdir: loader_job(logdir, fetch_ms=(50, 10)), _held_up,
         lambda logdir: loader_job(logdir, fetch_ms=(50, 10), in_order=False)),
    Case("batch_transport", lambda logdir: loader_job(logdir, fetch_ms=(5, 5), back_ms=40), _way_back,
         lambda logdir: loader_job(logdir)),
    Case("input_bound", of("one reader"), _input_bound, of("healthy, an SSD")),
)  # fmt: skip
