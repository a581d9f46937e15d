"""What is said where no single call is known: of counters alone, of logs, and of what stays unknown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.golden.golden_file import Golden
from tests.unit.sentences.counters_only import as_log, with_counters, without_trace
from tests.unit.sentences.rows import Maker, Row, as_made, contrasts
from tests.unit.sentences.sessions import KB, MB, SESSIONS
from tfdarshan.session import Session

C_PROGRAM = {"command": "/home/u/ior -o /data/a"}


def of(name: str) -> Maker:
    """Return what makes a session of the table."""
    return SESSIONS[name]


def log(session: Session) -> Session:
    """Make a log of a C program of it."""
    return as_log(session, command=C_PROGRAM["command"])


def traced_log(session: Session) -> Session:
    """Make a log with a trace of reads and writes."""
    return as_log(session, traced=True)


def synced(folder: Path) -> Session:
    """Return ten writes, each of which is synced, without steps."""
    calls = [(100 * n, 100 * n + 10, LOOP, "write", 0, KB) for n in range(10)]
    calls += [(100 * n + 10, 100 * n + 90, LOOP, "fsync", 0, 0) for n in range(10)]
    return training(folder, calls, paths=["/data/out"], sizes=[10 * KB])


def small_writes(folder: Path) -> Session:
    """Return 1,200 writes of 1 kB without steps: more than a buffer of 1 MiB holds."""
    calls = [(n, n + 0.8, LOOP, "write", 0, KB) for n in range(1200)]
    return training(folder, calls, paths=["/data/out"], sizes=[1200 * KB])


def large_writes(folder: Path) -> Session:
    """Return eight writes of 1 MB."""
    calls = [(100 * n, 100 * n + 80, LOOP, "write", 0, MB) for n in range(8)]
    return training(folder, calls, paths=["/data/out"], sizes=[8 * MB])


def written(folder: Path, slow: int) -> Session:
    """Return 20 files of 8 MB, of which so many take ten times as long to write."""
    calls = []
    for file in range(20):
        each_ms = 50 if file < slow else 5
        calls += [(n * each_ms, (n + 1) * each_ms, file + 1, "write", file, MB, n * MB) for n in range(8)]
    paths = [f"/data/out/{file:02}" for file in range(20)]
    return training(folder, calls, paths=paths, sizes=[8 * MB] * 20)


def backwards(folder: Path, order: Sequence[int], sequential: int) -> Session:
    """Return reads of 20 kB of one file in an order, of which a log calls so many sequential."""
    calls = [(20 * n, 20 * n + 18, 1, "pread", 0, 20 * KB, at * 20 * KB) for n, at in enumerate(order)]
    session = training(folder, calls, paths=["/data/a"], sizes=[800 * KB])
    return with_counters(session, "/data/a", POSIX_SEQ_READS=sequential, POSIX_CONSEC_READS=sequential)


def out_of_order(folder: Path) -> Session:
    """Return 40 reads, each before the last one."""
    return backwards(folder, range(39, -1, -1), 0)


def in_order(folder: Path) -> Session:
    """Return 40 reads, each after the last one."""
    return backwards(folder, range(40), 39)


def cheap(folder: Path, operation: str) -> Session:
    """Return 1,000 calls of 10 us."""
    length = KB if operation in ("write", "pread") else 0
    return training(folder, [(n, n + 0.01, LOOP, operation, 0, length) for n in range(1000)])


def cheaply_out_of_order(folder: Path) -> Session:
    """Return 1,000 reads of 10 us, none of which a log calls sequential."""
    return with_counters(cheap(folder, "pread"), "/data/a", POSIX_SEQ_READS=0)


def cheaply_synced(folder: Path) -> Session:
    """Return one sync of 1 ms in a second of reading."""
    return training(folder, [(0, 1, LOOP, "fsync", 0, 0), (1, 1000, 1, "pread", 0, KB)])


ROWS = {
    "syncs": Row(synced, of("only writes"), without_trace),
    "small writes": Row(small_writes, large_writes, without_trace),
    "stats": Row(of("asked again and again"), of("one reader"), without_trace),
    "opens": Row(of("opened again and again"), of("one reader"), without_trace),
    "order": Row(out_of_order, in_order, log),
    "slow files": Row(partial(written, slow=1), partial(written, slow=0), log),
    "the servers": Row(partial(written, slow=2), partial(written, slow=20), log),
    "a log's time": Row(synced, synced, log, as_made),
    "checkpoints": Row(large_writes, of("no steps"), without_trace),
    "syncs that cost little": Row(cheaply_synced, synced, without_trace),
    "small writes that cost little": Row(partial(cheap, operation="write"), small_writes, without_trace),
    "opens that cost little": Row(
        partial(cheap, operation="open"), of("opened again and again"), without_trace
    ),
    "stats that cost little": Row(
        partial(cheap, operation="stat"), of("asked again and again"), without_trace
    ),
    "order that costs little": Row(cheaply_out_of_order, out_of_order, log),
    "a log's kinds": Row(large_writes, large_writes, traced_log, log),
    "a log's single calls": Row(large_writes, large_writes, log, traced_log),
    "a log's trace": Row(of("one reader"), of("one reader"), traced_log, log),
}


def test_counters_say_how_often_and_what_stays_unknown(golden: Golden, folder: Path):
    golden("counters_only.txt", contrasts(ROWS, folder))
