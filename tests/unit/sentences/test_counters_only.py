"""What is said where no single call is known: of counters alone, of logs, and of what stays unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.sentences.counters_only import as_log, with_counters, without_trace
from tests.unit.sentences.raw_figures import OPENS, Raw
from tests.unit.sentences.rows import Maker, Row, check_said
from tests.unit.sentences.sessions import KB, MB, SESSIONS
from tfdarshan.session import Session
from tfdarshan.units import human_bytes, human_seconds, percent, plural

C_PROGRAM = {"command": "/home/u/ior -o /data/a"}
HOW_LONG = "How long they took is not told apart from other calls."


def of(name: str) -> Maker:
    """Gives what makes a session of the table."""
    return SESSIONS[name]


def log(session: Session) -> Session:
    """Makes a log of a C program of it."""
    return as_log(session, command=C_PROGRAM["command"])


def traced_log(session: Session) -> Session:
    """Makes a log with a trace of reads and writes."""
    return as_log(session, traced=True)


def by(started_by: str) -> Callable[[Session], Session]:
    """Gives what takes the trace away of a session that was recorded in such a way."""
    return lambda session: without_trace(session, started_by=started_by)


def synced(folder: Path) -> Session:
    """Gives ten writes, each of which is synced, without steps."""
    calls = [(100 * n, 100 * n + 10, LOOP, "write", 0, KB) for n in range(10)]
    calls += [(100 * n + 10, 100 * n + 90, LOOP, "fsync", 0, 0) for n in range(10)]
    return training(folder, calls, paths=["/data/out"], sizes=[10 * KB])


def small_writes(folder: Path) -> Session:
    """Gives 1,200 writes of 1 kB without steps: more than a buffer of 1 MiB holds."""
    calls = [(n, n + 0.8, LOOP, "write", 0, KB) for n in range(1200)]
    return training(folder, calls, paths=["/data/out"], sizes=[1200 * KB])


def large_writes(folder: Path) -> Session:
    """Gives eight writes of 1 MB."""
    calls = [(100 * n, 100 * n + 80, LOOP, "write", 0, MB) for n in range(8)]
    return training(folder, calls, paths=["/data/out"], sizes=[8 * MB])


def written(folder: Path, slow: int) -> Session:
    """Gives 20 files of 8 MB, of which so many take ten times as long to write."""
    calls = []
    for file in range(20):
        each_ms = 50 if file < slow else 5
        calls += [(n * each_ms, (n + 1) * each_ms, file + 1, "write", file, MB, n * MB) for n in range(8)]
    paths = [f"/data/out/{file:02}" for file in range(20)]
    return training(folder, calls, paths=paths, sizes=[8 * MB] * 20)


def bursts(folder: Path, tid: int) -> Session:
    """Gives 40 MB written at once by a thread, without steps."""
    calls = [(100 + 10 * n, 109 + 10 * n, tid, "write", 0, 4 * MB, 4 * MB * n) for n in range(10)]
    calls.append((900, 901, LOOP, "read", 1, 10, 0))
    return training(folder, calls, paths=["/data/out", "/home/c"], sizes=[40 * MB, 10])


def backwards(folder: Path, order: Sequence[int], sequential: int) -> Session:
    """Gives reads of 20 kB of one file in an order, of which a log calls so many sequential."""
    calls = [(20 * n, 20 * n + 18, 1, "pread", 0, 20 * KB, at * 20 * KB) for n, at in enumerate(order)]
    session = training(folder, calls, paths=["/data/a"], sizes=[800 * KB])
    return with_counters(session, "/data/a", POSIX_SEQ_READS=sequential, POSIX_CONSEC_READS=sequential)


def out_of_order(folder: Path) -> Session:
    """Gives 40 reads, each before the last one."""
    return backwards(folder, range(39, -1, -1), 0)


def in_order(folder: Path) -> Session:
    """Gives 40 reads, each after the last one."""
    return backwards(folder, range(40), 39)


def _small_writes(found: Raw) -> list[str]:
    writes = found.calls("write")
    buffers = -(-int(writes["length"].sum()) // (1 << 20))
    return [
        f"{len(writes):,} writes are of {human_bytes(writes['length'].mean())} on average",
        f"{buffers} of 1.0 MB at most would do. {HOW_LONG}",
    ]


def _slow_writes(found: Raw) -> list[str]:
    taken_s = found.calls("write").groupby("file")["seconds"].sum()
    slow = taken_s[taken_s > 2 * taken_s.median()]
    times = slow.median() / taken_s.median()
    whole_s = (found.events["end_ns"].max() - found.events["start_ns"].min()) / 1e9
    return [
        f"{plural(len(slow), 'file')} of {len(taken_s)} took {times:.0f} times as long to write as others",
        (
            f"The slowest of them took {human_seconds(slow.max() - taken_s.median())} longer than others "
            f"of its size, of {human_seconds(whole_s)} in all: a job that waits for all its files loses that."
        ),
    ]


def _at_most(found: Raw) -> str:
    # One process: a log adds up the times of its files.
    whole_s = (found.events["end_ns"].max() - found.events["start_ns"].min()) / 1e9
    summed_s = (found.events["end_ns"] - found.events["start_ns"]).sum() / 1e9
    return f"its processes spent at most {percent(min(summed_s, whole_s), whole_s)} of their time in file"


COUNTED = {
    "syncs": Row("for the device", synced, lambda found: [
        f"{plural(len(found.calls('fsync')), 'sync')} wait for the device",
        f"fsync and fdatasync return when the data is on the device. {HOW_LONG}",
        "Sync once, after the last write, or once a second in a thread of its own.",
    ], of("only writes"), without_trace),
    "small writes": Row("at most would do", small_writes, _small_writes, large_writes, without_trace),
    "stats": Row(
        "An open needs no more than one: files are asked about again and again, or without being read.",
        of("asked again and again"),
        lambda found: f"{len(found.calls('stat')):,} stats are made for {len(found.calls(*OPENS)):,} opens",
        of("one reader"), without_trace,
    ),
    "opens": Row("files are opened", of("opened again and again"), lambda found: [
        f"files are opened {len(found.calls('open')) // found.calls('open')['file'].nunique()} times each",
        f"{len(found.calls('open'))} opens of {found.calls('open')['file'].nunique()} files. {HOW_LONG}",
    ], of("one reader"), without_trace),
    "order": Row("reads are not sequential.", out_of_order, lambda found: [
        # The first of a file is not counted.
        f"{len(found.data_reads) - 1:,} of {len(found.data_reads):,} reads are not sequential. {HOW_LONG}",
        f"reads go back in their files, {human_bytes(found.data_reads['length'].mean())} at a time",
    ], in_order, log),
    "slow files": Row("times as long to write as others", lambda folder: written(folder, 1), _slow_writes,
                      lambda folder: written(folder, 0), log),
    "the servers": Row(
        "Look at the servers or disks that these files are on (lfs getstripe FILE on Lustre).",
        lambda folder: written(folder, 2),
        lambda _: "the files were slow once: look at a second session first",
        lambda folder: written(folder, 20), log,
    ),
    "how long the slowest took": Row(
        "the slowest took longer by", lambda folder: written(folder, 1),
        lambda _: human_seconds(8 * 0.05 - 8 * 0.005), lambda folder: written(folder, 0), log,
    ),
    "a log's time": Row("its processes spent at most", synced, _at_most, synced, log,
                        lambda session: session),
}  # fmt: skip
UNKNOWN = {
    "checkpoints": Row("whether writes held up the main thread: there is no trace of single calls",
                       large_writes, lambda _: "record with trace=True", of("no steps"), without_trace),
    "syncs that cost little": Row(
        "what syncs cost: there is no trace of single calls",
        lambda folder: training(folder, [(0, 1, LOOP, "fsync", 0, 0), (1, 1000, 1, "pread", 0, KB)]),
        lambda found: "what syncs cost", synced, without_trace,
    ),
    "small writes that cost little": Row(
        "what small writes cost: there is no trace of single calls",
        lambda folder: training(folder, [(n, n + 0.01, LOOP, "write", 0, KB) for n in range(1000)]),
        lambda found: "what small writes cost", small_writes, without_trace,
    ),
    "opens that cost little": Row(
        "what opening files again costs: there is no trace of single calls",
        lambda folder: training(folder, [(n, n + 0.01, LOOP, "open", 0, 0) for n in range(1000)]),
        lambda found: "what opening files again costs", of("opened again and again"), without_trace,
    ),
    "stats that cost little": Row(
        "what stats cost: there is no trace of single calls",
        lambda folder: training(folder, [(n, n + 0.01, LOOP, "stat", 0, 0) for n in range(1000)]),
        lambda found: "what stats cost", of("asked again and again"), without_trace,
    ),
    "order that costs little": Row(
        "what reading out of order costs: the log has no single calls",
        lambda folder: with_counters(
            training(folder, [(n, n + 0.01, 1, "pread", 0, KB) for n in range(1000)]), "/data/a",
            POSIX_SEQ_READS=0,
        ),
        lambda found: "what reading out of order costs",
        out_of_order, log,
    ),
    "a log's kinds": Row(
        "does not tell kinds of calls apart", large_writes,
        lambda _: "whether writes held up the main thread: the log does not tell kinds of calls apart",
        large_writes, traced_log, log,
    ),
    "a log's single calls": Row(
        "has no single calls", large_writes,
        lambda _: "whether writes held up the main thread: the log has no single calls",
        large_writes, log, traced_log,
    ),
    "a log's trace": Row(
        "single calls of STDIO, opens and stats: the log has no trace of them", of("one reader"),
        lambda _: "record the job with `tfdarshan run`", of("one reader"), traced_log, log,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_counters_say_how_often_and_not_how_long(name, tmp_path):
    check_said(COUNTED[name], tmp_path)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_counters_do_not_say_is_called_unknown(name, tmp_path):
    check_said(UNKNOWN[name], tmp_path)
