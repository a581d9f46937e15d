"""What findings and the verdict claim, assume and do not know: each where it is so and where it is not."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.closed_readers import Budget, Delay, Queue, calls_of
from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings import (
    test_shuffle_buffer,
    test_tried_cures,
    test_validation,
)
from tests.unit.findings.made_up_mapped import PATH, loop_faults, mapped_training
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tests.unit.findings.test_assumptions import crowded
from tests.unit.findings.test_cures_of_pipelines import BATCH, CACHE, LOAD, PATHS, PREFETCH, SHARDS
from tests.unit.findings.test_handed_over import short_steps
from tests.unit.findings.test_kept_decoded import AUGMENT, BOTH, DRAWS, SAME, SMALL
from tests.unit.findings.test_kept_decoded import job as of_maps
from tests.unit.findings.test_more_readers import job as of_readers
from tests.unit.findings.test_more_readers import rests
from tests.unit.findings.test_others_load import asks
from tests.unit.findings.test_others_load import job as beside_others
from tests.unit.findings.test_probed_storage import FULL, WAITING, with_probe
from tests.unit.findings.test_python_lock import job as python_reads
from tests.unit.findings.test_rank_findings import shards
from tests.unit.findings.test_read_on_demand import job as on_demand
from tests.unit.findings.test_reads_beside_decoding import PARSE, SIDE_BY_SIDE
from tests.unit.findings.test_reads_beside_decoding import job as reads_beside
from tests.unit.findings.test_shuffle_buffer import SHUFFLE
from tests.unit.findings.test_taking_turns import saving
from tests.unit.sentences.counters_only import as_log, with_counters, without_trace
from tests.unit.sentences.raw_figures import Raw
from tests.unit.sentences.rows import Maker, Row, check_said, diagnosed
from tests.unit.sentences.sessions import KB, MB, SESSIONS
from tests.unit.staging.synthetic import FAST
from tfdarshan.findings.finding import Assumption, Gain
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.promise_words import promise_words
from tfdarshan.findings.staging import find as staging
from tfdarshan.findings.step_split import step_split
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.session import Session, open_session
from tfdarshan.units import human_bytes, human_seconds, percent

WAITING_STEPS = epochs_of_steps(20, 100, 95)


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


def beside_decoding(folder: Path, *, cpu_s: float = 1.6) -> Session:
    """Gives four readers that rest beside a map, which uses so many of 2 s of a processor."""
    return reads_beside(folder, SIDE_BY_SIDE, PARSE, BATCH, cpu_s=cpu_s)


def in_turn(folder: Path) -> Session:
    """Gives one reader whose reads of 100 kB take 5 ms: a wait, or a transfer."""
    return of_readers(folder, calls_of(Queue(0, 5), readers=1, rest_ms=rests(0.5)))


def probed(folder: Path, storage) -> Session:
    """Gives it with a probe of storage."""
    return with_probe(in_turn(folder), storage)


def unwaited(folder: Path) -> Session:
    """Gives steps that do not say what they waited."""
    calls = [(at, at + 8, 1, "pread", 0, 100 * KB, 100 * KB * at) for at in range(0, 1000, 10)]
    return training(folder, calls, epochs_of_steps(20, 50, -1), sizes=[100 * MB])


def small_files(folder: Path, *, sizes: int) -> Session:
    """Gives 64 files, a call each for open and read, of so many sizes; a byte takes 20 ns beside 5 ms."""
    calls, at = [], 0.0
    length = [100 * KB * (1 + file % sizes * 3) for file in range(64)]
    for file in range(64):
        calls.append((at, at + 5, 1, "open", file, 0, 0))
        taken = 5 + length[file] * 20e-6
        calls.append((at + 5, at + 5 + taken, 1, "pread", file, length[file], 0))
        at += 5.5 + taken
    steps = epochs_of_steps(16, at / 16, at / 16 * 0.95)
    return training(folder, calls, steps, paths=[f"/data/{n}" for n in range(64)], sizes=length)


def of_sqlite(folder: Path, *, journal: bool) -> Session:
    """Gives a file of 10 MB that one reader reads in pages of 100 kB and 8 ms, and asks for its journal."""
    calls = [(10 * n, 10 * n + 8, 1, "pread", 0, 100 * KB, n % 100 * 100 * KB) for n in range(200)]
    calls += [(10 * n + 8, 10 * n + 9, 1, "stat", 1, 0, 0) for n in range(200)]
    paths = ["/data/a.db", "/data/a.db-journal" if journal else "/data/a.csv"]
    return training(folder, sorted(calls), epochs_of_steps(20, 100, 80), paths=paths, sizes=[10 * MB, -1])


def ranks(folder: Path, *, marked: bool) -> Session:
    """Gives a job of three ranks, the last of which reads five times as slowly."""
    dealt = shards(3, 4)
    made = [MadeUpRank(steps, "n0", times) for steps, times in zip(dealt, (1, 1, 5), strict=True)]
    return joint_training(folder, made, noise=0.0, marked=marked)


def cut_short(folder: Path, *, memory: int, started_by: str = "") -> Session:
    """Gives a session of whose calls 300 found no room, on a machine with so much memory."""
    session = of("a trace cut short")(folder)
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["machine"] = meta["machine"] | {"memory_bytes": memory}
    meta["options"] = {"memory_cap_mb": 1024, "trace_memory_mb": 1}
    path.write_text(json.dumps(meta | {"started_by": started_by}))
    return open_session(session.path)


def looked_at(folder: Path, *, looks: int) -> Session:
    """Gives a mapped file whose faults the kernel did not show; looks at threads, if any, show 0.5 s."""
    block = {"watch": "no events", "error": 13, "faults_kept": 0} | ({"looks": looks} if looks else {})
    faults = loop_faults(50, 20.0, 2.5, 4, jump=MB)
    session = mapped_training(folder, faults, epochs_of_steps(50, 20.0, 10.0), kept=False, block=block)
    seconds = 0.5 if looks else -1.0
    return with_counters(session, PATH, "MMAP", MMAP_F_FAULT_TIME=seconds, MMAP_F_WAIT_TIME=seconds)


def partly_beside(folder: Path, *, reads: int) -> Session:
    """Gives steps that wait half their time for a reader; each fifth then syncs for 400 ms, beside reads."""
    at, steps, calls = 0.0, [], []
    for number in range(40):
        stall = 400.0 if number % 5 == 4 else 0.0
        made = 10 + (reads if stall else 0)
        calls += [(at + 10 * n, at + 10 * n + 10, 1, "pread", 0, MB, n * MB) for n in range(made)]
        calls += [
            (at + 100 + 20 * n, at + 120 + 20 * n, LOOP, "fsync", 1, 0, 0) for n in range(int(stall / 20))
        ]
        steps.append((at, at + 100 + stall, 50.0))
        at += 100 + stall
    paths = ["/data/train", "/out/model"]
    return training(folder, sorted(calls), steps, paths=paths, sizes=[10**12, 10**10])


def one_reader(folder: Path, *, storage: type) -> Session:
    """Gives one reader of storage that lets 20 calls pass in each 100 ms, or has all of them wait 20 ms."""
    return of_readers(folder, calls_of(storage(20), readers=1, rest_ms=rests(1), count=600))


def _computed_s(found: Raw) -> float:
    """Gives what steps did besides waiting."""
    steps = found.steps
    return float((steps["end"].max() - steps["start"].min() - steps["wait"].sum()) / 1e9)


def _held(found: Raw) -> str:
    return f"measured by {(found.data_reads['seconds'] >= 0.03).sum()} calls that take "


def _in_turn_with_reads(found: Raw) -> str:
    """Gives the pace of three saves beside reads, by that of the five after these."""
    seconds = found.calls("write").sort_values("start_ns")["seconds"].to_numpy()
    pace = percent(float(np.median(seconds[3:]) / np.median(seconds[:3])), 1)
    return f"measured by writes, which go at {pace} of their pace beside calls on input, and "


def _slowest_rank(found: Raw) -> int:
    """Gives the rank with most time in calls."""
    events = found.events.assign(seconds=found.events["end_ns"] - found.events["start_ns"])
    return int(events.groupby("rank")["seconds"].sum().idxmax())


def _rate(found: Raw) -> str:
    """Gives what all reads together moved in a second of them."""
    reads = found.data_reads
    return f"{human_bytes(reads['length'].sum() / found.union_s(reads))}/s"


def _explained(found: Raw) -> str:
    """Gives the share of the wait in which calls were running."""
    part = percent(found.union_s(found.events), found.steps["wait"].sum() / 1e9)
    return (
        f"{part} for file calls: look for locks, generators and services that the input pipeline waits for."
    )


def _opens_and_reads(found: Raw) -> tuple[float, float]:
    """Gives the seconds of a byte and of a read without any, as two sizes show them exactly."""
    mean = found.data_reads.groupby("length")["seconds"].mean()
    per_byte = float(np.diff(mean.to_numpy())[0] / np.diff(mean.index.to_numpy())[0])
    return per_byte, float(mean.iloc[0] - per_byte * mean.index[0])


ROWS = {
    "fewer decode": Row(
        "fewer calls decode at a time than there are processors", decoding,
        lambda _: ["all processors decode already", percent(1.8, 8.0)], partial(decoding, cpu_s=7.9),
    ),
    "reads beside decoding": Row(
        "batches wait for these reads, not for what decodes beside them",
        beside_decoding,
        lambda _: "decoding them keeps a processor busy throughout",
        partial(beside_decoding, cpu_s=0.2),
    ),
    "Python's lock": Row(
        "steps leave Python's lock to the thread that reads", partial(python_reads, reads=160),
        lambda _: "they run Python code of their own", partial(python_reads, reads=16),
    ),
    "Python's lock, left": Row(
        "steps leave Python's lock to the thread that reads", partial(python_reads, reads=160, busy=0.25),
        lambda _: "processors are busy for 25.0 % of what they compute", partial(python_reads, reads=16),
    ),
    "steps leave theirs": Row(
        "steps keep ", partial(beside_others, busy=0.05, others=2.0),
        lambda found: f"steps keep {percent(0.02 / _computed_s(found) + 0.05, 1)} of one busy",
        partial(beside_others, busy=0.9, others=2.0),
    ),
    "as slow without others": Row(
        "the input is as slow without the other programs, which fill the processors",
        partial(asks, others=1.3), lambda _: "calls take less on an idle machine", partial(asks, others=0.0),
    ),
    "each epoch decodes": Row(
        "each epoch decodes the same", partial(decoding, files=20),
        lambda _: "samples are changed at random as they are decoded", decoding,
    ),
    "each epoch is known to decode the same": Row(
        "no function in front of it draws random numbers, by TensorFlow's graph",
        lambda folder: of_maps(folder, PATHS, BOTH | SAME | SMALL, BATCH),
        lambda _: ["each epoch decodes the same", "samples are changed at random as they are decoded"],
        lambda folder: of_maps(folder, PATHS, BOTH | SMALL, BATCH),
    ),
    "decoded samples fit": Row(
        "what is decoded stays in memory",
        lambda folder: of_maps(folder, PATHS, BOTH | SAME | SMALL, BATCH),
        lambda found: f"{human_bytes(10 * KB * 16 * 25)} are {percent(10 * KB * 16 * 25, 1 << 34)} of it",
        lambda folder: of_maps(folder, PATHS, BOTH | SMALL, BATCH),
    ),
    "each epoch's cache holds them": Row(
        "each epoch's own cache() holds it already",
        lambda folder: of_maps(folder, PATHS, BOTH | SAME, CACHE, BATCH, datasets=4),
        lambda _: "what is decoded stays in memory",
        lambda folder: of_maps(folder, PATHS, BOTH | SAME, CACHE, BATCH),
    ),
    "works behind the cache": Row(
        "what decodes takes this time, not what works behind it",
        lambda folder: of_maps(folder, PATHS, BOTH | SAME | SMALL, AUGMENT, BATCH),
        lambda _: "later maps take as long",
        lambda folder: of_maps(folder, PATHS, BOTH | SAME | SMALL, BATCH),
    ),
    "a map that draws": Row(
        "draws random numbers: what it gives is not the same in each epoch",
        lambda folder: of_maps(folder, PATHS, BOTH | DRAWS | SMALL, BATCH),
        lambda _: "map(load) draws random numbers: what it gives is not the same in each epoch.",
        lambda folder: of_maps(folder, PATHS, BOTH | SAME | SMALL, BATCH),
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
    "a limit of an interval": Row(
        ", as a cgroup, a cloud disk or a quota makes it", partial(one_reader, storage=Budget),
        _held, partial(one_reader, storage=Delay),
    ),
    "in turn": Row(
        "what the job reads and what it writes to the same place hold each other up",
        lambda folder: saving(folder, Queue(0, 8)), _in_turn_with_reads,
        lambda folder: saving(folder, Delay(8)),
    ),
    "a full probe": Row(
        ", and a probe got no more with 16 reads at a time than with one", partial(probed, storage=FULL),
        lambda found: f"storage gives {_rate(found)}",
        partial(probed, storage=WAITING),
    ),
    "a probe of waits": Row(
        " of a call is served one at a time", partial(probed, storage=WAITING),
        lambda _: "storage serves more reads at a time", in_turn,
    ),
    "latency and bandwidth": Row(
        "latency and bandwidth", lambda folder: with_probe(small_files(folder, sizes=1), WAITING),
        lambda _: "a read and ", partial(small_files, sizes=1),
    ),
    "a page cache unseen": Row(
        "what the page cache served: the log does not have the kernel's figures", of("a warm cache"),
        lambda _: "how much of the I/O was not seen: the kernel's figures are missing",
        of("a warm cache"), as_log, lambda session: session,
    ),
    "work beside a stall": Row(
        "what the pipeline does meanwhile, it has to do later", partial(partly_beside, reads=10), lambda _: [
            # Of 400 ms, 100 are spent reading, by a reader that reads in all of each wait.
            f"it works there at {percent(100, 400)} of its pace", "the input is ready anyway",
        ], partial(partly_beside, reads=0),
    ),
    "shuffled records": Row(
        "Keep 64 samples in the buffer: then an epoch's first step waits for these alone.",
        lambda folder: test_shuffle_buffer.job(folder, SHARDS, SHUFFLE, BATCH, PREFETCH),
        lambda found: f"for all that fit into it: {human_seconds(found.steps['wait'].max() / 1e9)} at most",
        lambda folder: test_shuffle_buffer.job(folder, PATHS, LOAD, SHUFFLE, BATCH, PREFETCH),
    ),
    "no prefetch": Row(
        "The rest is read while steps compute.",
        lambda folder: test_shuffle_buffer.job(folder, SHARDS, SHUFFLE, BATCH),
        lambda _: "prefetch(tf.data.AUTOTUNE)",
        lambda folder: test_shuffle_buffer.job(folder, SHARDS, SHUFFLE, BATCH, PREFETCH),
    ),
    "read on demand": Row(
        " between them. No burst brings more, as the first of a pipeline that fills a buffer does, "
        "so no batch is prepared ahead.",
        on_demand,
        lambda found: [
            "each batch is read only when it is asked for",
            f"in {len(found.calls('open')) // 8} bursts of 8 files, 10.0 ms each, and not in the pauses of ",
            f"none of {len(found.calls('open')) // 8} bursts brings more than 8 files, the usual one ",
            f"processors are busy for at most {percent(0.05 * 40 * 40, 30 * 39)} of them",
            "batches are decoded, or fetched, there",
        ], partial(on_demand, ahead=2),
    ),
    "bytes by sizes": Row(
        " ns, by reads of other sizes", partial(small_files, sizes=2),
        lambda found: f"a byte of a read takes {_opens_and_reads(found)[0] * 1e9:.2f} ns, by reads of other",
        partial(small_files, sizes=1),
    ),
    "bytes by a probe": Row(
        " ns, by a probe", lambda folder: with_probe(small_files(folder, sizes=1), WAITING),
        lambda _: "does not depend on its size", partial(small_files, sizes=1),
    ),
    "a copy of SQLite's": Row(
        " of SQLite's to a local disk", partial(of_sqlite, journal=True), lambda found: [
            f"Copy {human_bytes(found.files['size_bytes'].max())} of SQLite's to a local disk",
            "cp -u /data/a.db DIR/", 'database = sqlite3.connect("DIR/a.db")',
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
    "a validation set in memory": Row(
        "these files stay in memory", test_validation.job, lambda found: [
            # Sixty files that no step reads, in four passes.
            f"{human_bytes(60 * 100 * KB)}, read 4.0 times",
            "Keep the validation set in memory from its first pass on.",
        ], partial(test_validation.job, memory=10_000 * KB),
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
        " of that for the pipeline otherwise, ", lambda folder: training(
            folder, [(100 * n, 100 * n + 10, 1, "read", 0, 10 * MB, 0) for n in range(20)], WAITING_STEPS,
            sizes=[1000 * MB], meta={"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 0.01}},
        ),
        _explained,
        of("one reader"),
    ),
    "calls explain it": Row(
        " of that for file calls: no cure known here gives much of that back.",
        # The first batch alone is waited for, and read in one call.
        lambda folder: training(
            folder, [(0, 190, 1, "pread", 0, 100 * KB, 0)],
            [(0, 300, 200), *((100 * n, 100 * n + 100, 0.5) for n in range(3, 22))], sizes=[100 * KB],
        ),
        lambda found: f"{percent(found.union_s(found.events), found.steps['wait'].sum() / 1e9)} of that for",
        of("one reader"),
    ),
    "handed over": Row(
        " of that to be handed a batch that is ready: no storage makes that shorter, and fewer, larger "
        "batches do.",
        partial(short_steps, wait_ms=0.25),
        lambda found: f"{percent(2e-4 * len(found.steps), found.steps['wait'].sum() / 1e9)} of that to be",
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


def mapped_and_read(folder: Path, *, mapped: bool) -> Session:
    """Gives steps that wait 5 of 10 ms for a read; a mapped file beside it, if any, was not seen."""
    calls = [(10 * n, 10 * n + 4.5, 1, "pread", 0, 100 * KB, n * 100 * KB) for n in range(100)]
    steps = epochs_of_steps(100, 10, 5)
    if not mapped:
        return training(folder, calls, steps, sizes=[10 * MB])
    block = {"watch": "no events", "error": 13, "faults_kept": 0}
    session = mapped_training(folder, [], steps, calls=calls, kept=False, block=block)
    return with_counters(session, PATH, "MMAP", MMAP_F_FAULT_TIME=-1.0, MMAP_F_WAIT_TIME=-1.0, MMAP_FAULTS=-1)


UNSEEN = "What page faults on mapped files take of that time was not seen."


@pytest.mark.parametrize("unseen", [True, False])
def test_time_outside_of_calls_is_only_decoding_if_faults_were_seen(unseen, tmp_path):
    # GIVEN steps that wait for what hardly is in file calls, with and without a mapped file that nobody saw
    session = looked_at(tmp_path, looks=0) if unseen else decoding(tmp_path)

    # WHEN
    text = diagnosed(session)
    parts = {part.name: part for part in step_split(measure(session))}

    # THEN what is no call is decoding, or not known to be
    assert ("the input pipeline is busy longer outside of file calls than in them" in text) == unseen
    assert (UNSEEN in text) == unseen
    assert ("input wait if file calls took no time" in text) == unseen
    assert ("the pipeline decodes between its file calls" in text) == unseen
    assert ("threads wait in page faults on mapped files, which were not seen" in text) == unseen
    assert ("the input pipeline decodes longer than it reads" in text) != unseen
    assert ("Faster storage or staging will not help." in text) != unseen
    assert (parts["decoding"].seconds == 0) == unseen
    words = "waiting for the pipeline, or page faults that were not seen"
    assert (parts["other_wait"].label == words) == unseen


def test_whether_input_is_prepared_is_not_known_where_calls_are_next_to_nothing(tmp_path):
    text = diagnosed(looked_at(tmp_path, looks=0))

    assert "whether input is prepared while steps compute: page faults on mapped files were not seen" in text
    assert "works 0.0 %" not in text
    assert "input is not prepared while steps compute" not in text


@pytest.mark.parametrize("mapped", [True, False])
def test_a_pipeline_that_rests_does_so_by_its_calls_if_faults_were_not_seen(mapped, tmp_path):
    text = diagnosed(mapped_and_read(tmp_path, mapped=mapped))

    assert (
        "the input pipeline works in file calls 0.0 % as much as while it waits. " + UNSEEN in text
    ) == mapped
    assert ("its file calls run 0.0 % as much as in waits" in text) == mapped
    assert ("pipeline at work in file calls beside compute" in text) == mapped
    assert ("the pipeline rests between its file calls" in text) == mapped
    assert ("it works 0.0 % as much as in waits" in text) != mapped


@pytest.mark.parametrize("name", ROWS)
def test_a_claim_is_made_where_it_is_so(name, tmp_path):
    check_said(ROWS[name], tmp_path)


@pytest.mark.parametrize(("step_ms", "said"), [(50.0, "in vain"), (25.0, "helped")])
def test_a_cure_that_is_in_is_judged_by_what_steps_take_since(step_ms, said, tmp_path):
    # GIVEN a job that reads with more calls since it was told to, with such steps
    first = test_tried_cures.reading(tmp_path / "a")
    second = test_tried_cures.reading(tmp_path / "b", 4, step_ms=step_ms)

    # WHEN
    text = diagnosed(test_tried_cures.one_after_the_other(tmp_path / "logs", first, second))

    # THEN
    words = f"; the cure is in, and a step takes {human_seconds(step_ms / 1e3)} after {human_seconds(0.05)}."
    assert (words in text) == (said == "in vain")


@pytest.mark.parametrize(("step_ms", "undoes"), [(50.0, True), (100.0, False)])
def test_a_cure_that_would_undo_another_is_said_to(step_ms, undoes, tmp_path):
    # GIVEN a job that was told to read with fewer, and does
    first = crowded(tmp_path / "a")
    second = test_tried_cures.fewer(tmp_path / "b", step_ms)

    text = diagnosed(test_tried_cures.one_after_the_other(tmp_path / "logs", first, second))

    name = "Session 2026_01_01_00_00_00"
    words = f"{name} shows that this would undo what fewer reads at a time gave: a step takes "
    assert (words in text) == undoes


@pytest.mark.parametrize("assumed", [(), (Assumption("storage is idle", "", "it is not"),)])
def test_a_promise_names_what_it_rests_on(assumed):
    gain = Gain("step", 1.0, 0.0, 0.2, 0.5, assumed)

    words = promise_words(gain)

    assert words == f"up to 2.00x if {'storage is idle' if assumed else 'it is as is assumed'}"


def test_a_measured_device_is_not_called_assumed(tmp_path):
    # GIVEN slow files, and a tier that was measured, or is assumed
    measures = measure(of("slow storage")(tmp_path))

    measured, assumed = (
        [entry for entry in found.gain.assumptions if entry.claim.endswith("/s")]
        for found in (staging(measures, FAST), staging(measures))
    )

    # THEN
    assert [entry.refuted_by for entry in measured] == ["the fast tier is busy otherwise"]
    assert measured[0].claim.startswith("the fast tier takes ")
    assert [entry.refuted_by for entry in assumed] == ["`tfdarshan advise` measures less"]
    assert assumed[0].claim.startswith("a local disk, which was not measured, takes ")


def test_what_if_says_what_the_fast_device_takes(tmp_path):
    measures = measure(of("slow storage")(tmp_path))
    base_s, byte_s = FAST.model.base_s, FAST.model.s_per_byte

    with_it, without = (
        what_if(measures, change).assumptions
        for change in (StorageChange(fast=FAST), StorageChange(latency=0.5))
    )

    words = (
        f"a pass over a file on the fast device takes {human_seconds(base_s)} and "
        f"{human_seconds(byte_s * 1e6)} per MB ({human_bytes(1 / byte_s)}/s), {FAST.note}; all input is there"
    )
    assert words in with_it
    assert not any("the fast device" in text for text in without)


@pytest.mark.parametrize(
    ("name", "said"),
    [("healthy, an SSD", "the steps hold the pipeline back"), ("no call", "the pipeline rests most"),
     ("one reader", "P = ")],
)  # fmt: skip
def test_what_if_says_what_holds_the_pipeline_back(name, said, tmp_path):
    maker = of(name) if name != "no call" else rarely
    measures = measure(maker(tmp_path))

    texts = what_if(measures, StorageChange(latency=0.5)).assumptions

    words = ("the steps hold the pipeline back", "the pipeline rests most of the time", "P = ")
    assert [word for word in words if any(text.startswith(word) for text in texts)] == [
        word for word in words if word.startswith(said)
    ]


def rarely(folder: Path) -> Session:
    """Gives a read now and then, and no steps: little time in calls."""
    calls = [(100 * n, 100 * n + 2, 1, "pread", 0, 100 * KB, n * 100 * KB) for n in range(20)]
    return training(folder, calls, sizes=[100 * MB], duration_ms=2000)
