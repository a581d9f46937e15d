"""What is found on the input's calls, on jobs whose seconds can be worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.made_up_session import job_of, write_session
from tests.unit.findings.made_up_training import LOOP, MS, epochs_of_steps, training
from tests.unit.golden.golden_file import Golden
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.verdict import Verdict
from tfdarshan.session import Session

KB, MB = 1_000, 1 << 20
READERS = 16
STEPS = 20
WAITING = epochs_of_steps(STEPS, 100, 90)
Turn = Callable[[int], Sequence[tuple]]


def paths(count: int, folder: str = "/data/train") -> list[str]:
    return [f"{folder}/{number:05}.jpg" for number in range(count)]


def busy_readers(turns: Turn, *, steps: int = STEPS) -> list[tuple]:
    """Return calls of readers that never rest; of turn n operation, file, length, offset and ms."""
    calls, turn = [], 0
    for reader in range(READERS):
        at = 0.0
        while at < steps * 100:
            for operation, file, length, offset, taken_ms in turns(turn):
                calls.append((at, at + taken_ms, reader + 1, operation, file, length, offset))
                at += taken_ms
            turn += 1
    return calls


def busy(logdir: Path, turns: Turn, count: int, size: int, **more: Any) -> Session:
    """Return a session of busy readers of so many files."""
    more.setdefault("paths", paths(count))
    return training(logdir, busy_readers(turns), WAITING, sizes=[size] * count, **more)


def memory(memory_bytes: int, **machine: Any) -> dict[str, Any]:
    """Return the metadata of a machine with so much memory."""
    return {"machine": {"cpus": 8, "memory_bytes": memory_bytes, "cpu_s": 1.0} | machine}


def imports(logdir: Path) -> Session:
    """Return stats of each folder above a file, and one file that is read."""
    calls = []
    for at in range(0, 100 * STEPS, 100):
        calls += [(at, at + 1, LOOP, "open", 2, 0), (at + 1, at + 2, LOOP, "read", 2, 100)]
        calls += [(at + k, at + k + 1, LOOP, "stat", k % 2, 0) for k in range(10, 40)]
    names = ["/home/user", "/home/user/lib", "/data/a"]
    return training(logdir, calls, epochs_of_steps(STEPS, 100, 1), paths=names, sizes=[-1, -1, 5000])


def loop_stats(logdir: Path) -> Session:
    """Return a loop that asks 30 times for a file, 1 ms each, after a wait of 1 ms."""
    calls = [
        (at + k, at + k + 1, LOOP, "stat", 0, 0) for at in range(10, 100 * STEPS, 100) for k in range(30)
    ]
    return training(logdir, calls, epochs_of_steps(STEPS, 100, 1))


def asked_once(logdir: Path, by: int) -> Session:
    """Return eight files a step that a thread reads in its wait; each is asked for once, 5 ms long."""
    calls = []
    for file in range(8 * STEPS):
        at = 100 * (file // 8) + 11.0 * (file % 8)
        calls += [(at, at + 5, by, "stat", file, 0), (at + 5, at + 6, by, "open", file, 0)]
        calls += [(at + 6, at + 11, by, "read", file, 100 * KB)]
    return training(logdir, calls, WAITING, paths=paths(8 * STEPS), sizes=[100 * KB] * 8 * STEPS)


def shared(logdir: Path, processes: int) -> Session:
    """Return four opens of each of ten files and a read, by one process or by one each."""
    jobs = []
    for process in range(processes):
        calls: list[tuple] = []
        for turn in range(process, 4, processes):
            for file in range(10):
                at = 100 * turn + 10 * file
                calls += [(at, at + 7, 1, "open", file, 0), (at + 7, at + 9, 1, "pread", file, 100 * KB)]
        calls = [(start * MS, end * MS, *more) for start, end, *more in calls]
        jobs.append(job_of(calls, paths(10), [100 * KB] * 10, pid=100 + process, duration_ns=500 * MS))
    return write_session(logdir, *jobs)


def anywhere(logdir: Path) -> Session:
    """Return reads of 8 kB anywhere in two files, 5 ms each."""
    chance = random.Random(1)
    return busy(logdir, lambda n: [("pread", n % 2, 8 * KB, chance.randrange(40_000) * KB, 5)], 2, 40 * MB)


def anywhere_in_memory(logdir: Path) -> Session:
    """Return reads of 60 to 140 kB anywhere in a file, which hardly take longer the larger they are."""
    chance = random.Random(1)

    def read(_: int) -> list[tuple]:
        size = chance.randrange(60, 141)
        return [("pread", 0, size * KB, chance.randrange(3_000) * 100 * KB, 0.2 * (0.9 + size / 1_400))]

    return busy(logdir, read, 1, 300 * MB)


def in_parts(logdir: Path) -> Session:
    """Return reads of 8 kB in order, by 16 readers of as many parts of a file."""
    calls = [
        (at, at + 5, reader + 1, "pread", 0, 8 * KB, reader * 100 * MB + at // 5 * 8 * KB)
        for at in range(0, STEPS * 100, 5)
        for reader in range(READERS)
    ]
    return training(logdir, calls, WAITING, paths=paths(1), sizes=[1600 * MB])


def phases(logdir: Path) -> Session:
    """Return 2 readers at 400 MB/s together for a fifth of each half second, else 16 at 25 MB/s."""
    calls = []
    for at in range(0, STEPS * 100, 4):
        readers, length = (16, 6_250) if at % 500 < 400 else (2, 800_000)
        calls += [(at, at + 4, reader + 1, "pread", reader, length, at * MB) for reader in range(readers)]
    return training(logdir, calls, WAITING, paths=paths(16), sizes=[100_000 * MB] * 16)


def slow_folder(logdir: Path, root: str, *, size: int = 100 * KB, stored: float = 0.0) -> Session:
    """Return files that are read once, every fifth in a folder that is 20 times as slow.

    Of what is read the kernel fetched `stored` of the bytes of the slow files.
    """
    calls = busy_readers(lambda n: [("read", n, size, 0, 40 if n % 5 == 0 else 2)])
    names = [f"{root}/{'slow' if n % 5 == 0 else 'fast'}/{n:04}" for n in range(len(calls))]
    slow_bytes = sum(call[5] for call in calls if call[4] % 5 == 0)
    kernel = {"rchar": len(calls) * size, "read_bytes": int(slow_bytes * stored)}
    return training(logdir, calls, WAITING, paths=names, sizes=[size] * len(calls), kernel=kernel)


def standstill(logdir: Path) -> Session:
    """Return 3 s of reads of 2 ms, and then one moment at which all 16 readers' reads take 100 ms."""
    count = 30_000
    calls = busy_readers(lambda n: [("read", n, 100 * KB, 0, 2)], steps=30)
    calls += [(3_000, 3_100, n + 1, "read", count - 1 - n, 100 * KB, 0) for n in range(READERS)]
    return training(logdir, calls, epochs_of_steps(31, 100, 90), paths=paths(count), sizes=[100 * KB] * count)


def read_again(logdir: Path, *, slow_ms: float, quick_ms: float, share: float, step_ms: int = 100) -> Session:
    """Return 40 files read over and over, two of them slowly; the kernel says how much storage served."""

    def read(n: int) -> list[tuple]:
        return [("read", n % 40, 100 * KB, 0, slow_ms if n % 40 < 2 else quick_ms)]

    calls = busy_readers(read, steps=STEPS * step_ms // 100)
    waits = epochs_of_steps(STEPS, step_ms, 0.9 * step_ms)
    moved = len(calls) * 100 * KB
    kernel = {"rchar": moved, "read_bytes": int(moved * share)}
    meta = memory(16_000_000_000)
    return training(logdir, calls, waits, sizes=[100 * KB] * 40, paths=paths(40), meta=meta, kernel=kernel)


def one_file(logdir: Path, read_ms: float, cpu_s: float, *stages: dict, **machine: Any) -> Session:
    """Return a thread that reads for a part of each 10 ms, with so much time of the processors."""
    pool_threads = machine.pop("pool_threads", None)
    calls = [(at, at + read_ms, 1, "read", 0, 100 * KB, at * MB) for at in range(0, STEPS * 100, 10)]
    one = {"stages": list(stages), "pool_threads": pool_threads, "datasets": 1, "iterators": 1}
    pipelines = {"pipelines": {"found": [one] if stages else [], "left_out": 0}} if stages else {}
    meta = memory(1 << 30, cpu_s=cpu_s, **{"cpus": 4} | machine) | pipelines
    return training(logdir, calls, WAITING, sizes=[10_000 * MB], meta=meta)


def decoder(logdir: Path, cpu_s: float, calls: int | None = None, pool: int | None = None) -> Session:
    """Return two processors and a map that reads 2 of 10 ms, decodes in the others, and is waited for."""
    load = {"name": "map", "calls": calls, "function": "load", "does": ["reads", "decodes"]}
    return one_file(logdir, 2, cpu_s, load, cpus=2, pool_threads=pool)


def decoded_again(logdir: Path, cpu_s: float, *, cut: bool = False) -> Session:
    """Return five files of 8 MB that one reader reads ten times, 1 of 10 ms, and decodes the rest."""
    times = range(0, STEPS * 100, 10)
    calls = [(at, at + 1, 1, "read", at // 10 % 5, 2 * MB, at // 50 % 4 * 2 * MB) for at in times]
    decode = {"name": "map", "does": ["reads", "decodes"], "function": "decode"}
    batch = {"name": "batch", "size": 16}
    ends = [{"name": "cache"}, batch, {"name": "take", "size": 9}] if cut else [batch]
    stages = [{"name": "from_tensor_slices", "size": 20}, decode, *ends]
    found = [{"stages": stages, "pool_threads": None, "datasets": 1, "iterators": 10}]
    meta = memory(1 << 34, cpus=4, cpu_s=cpu_s) | {"pipelines": {"found": found, "left_out": 0}}
    return training(logdir, calls, WAITING, paths=paths(5), sizes=[8 * MB] * 5, meta=meta)


def from_memory(logdir: Path) -> Session:
    """Return files of 100 kB that one reader opens and reads from memory, 3 ms of 100; steps wait 3.5."""
    calls = []
    for file in range(1000):
        at = 100 * (file // 10) + 0.3 * (file % 10)
        calls += [(at, at + 0.15, 1, "open", file, 0), (at + 0.15, at + 0.3, 1, "read", file, 100 * KB)]
    steps = epochs_of_steps(100, 100, 3.5)
    return training(logdir, calls, steps, paths=paths(1000), sizes=[100 * KB] * 1000)


def small(n: int) -> list[tuple]:
    return [
        ("open", n % 6_000, 0, -1, 3),
        ("pread", n % 6_000, 100 * KB, 0, 2),
        ("pread", n % 6_000, 0, 0, 0.01),
    ]


def to_the_end(n: int) -> list[tuple]:
    return [("read", n % 4, MB, n * MB, 1), ("read", n % 4, 0, -1, 4)]


def asked(n: int) -> list[tuple]:
    return [("stat", n % 50, 0, -1, 1)] * 9 + [("open", n % 50, 0, -1, 0.5), ("read", n % 50, 100, 0, 0.5)]


def opened_again(n: int) -> list[tuple]:
    read = ("pread", n % 10, 100 * KB, n * 100 * KB, 0.5)
    return [("open", n % 10, 0, -1, 4), read, ("close", n % 10, 0, -1, 0.5)]


def again(n: int) -> list[tuple]:
    return [("read", n % 40, 100 * KB, 0, 5)]


def slowly(n: int) -> list[tuple]:
    return [("read", n % READERS, MB, n // READERS * MB, 100)]


JOBS: dict[str, Callable[[Path], Session]] = {
    "small files": partial(busy, turns=small, count=6_000, size=100 * KB),
    "reads of nothing": partial(busy, turns=to_the_end, count=4, size=10_000 * MB),
    "stats of folders": imports,
    "stats beyond the opens": partial(busy, turns=asked, count=50, size=10_000),
    "stats of the loop": loop_stats,
    "a loop that asks before each open": partial(asked_once, by=LOOP),
    "a reader that asks before each open": partial(asked_once, by=1),
    "files opened for every sample": partial(busy, turns=opened_again, count=10, size=10_000 * MB),
    "one process that opens again": partial(shared, processes=1),
    "processes that share files": partial(shared, processes=4),
    "small reads anywhere": anywhere,
    "reads anywhere in memory": anywhere_in_memory,
    "several readers in order": in_parts,
    "bandwidth that falls with depth": phases,
    "a slow folder": partial(slow_folder, root="/data"),
    "a slow folder of large files": partial(slow_folder, root="/data", size=20_000 * KB),
    "a slow folder in memory": partial(slow_folder, root="/local"),
    "a slow folder on a disk": partial(slow_folder, root="/local", stored=0.9),
    "a standstill of the machine": standstill,
    "input that fits in memory": partial(busy, turns=again, count=40, size=100 * KB, meta=memory(16 * 10**9)),
    "input that does not": partial(busy, turns=again, count=40, size=100 * KB, meta=memory(5_000_000)),
    "all of it from memory": partial(read_again, slow_ms=0.04, quick_ms=0.04, share=0.0, step_ms=20),
    "most of it from memory": partial(read_again, slow_ms=5, quick_ms=0.04, share=0.05),
    "all of it from storage": partial(read_again, slow_ms=5, quick_ms=5, share=1.0),
    "large files on slow storage": partial(busy, turns=slowly, count=READERS, size=1_000 * MB),
    "decoding": partial(one_file, read_ms=1, cpu_s=1.8),
    "waiting for something else": partial(one_file, read_ms=0.2, cpu_s=0.1),
    "calls that memory serves": from_memory,
    "decoding by all processors": partial(decoder, cpu_s=3.6),
    "decoding by as many calls": partial(decoder, cpu_s=1.8, calls=2),
    "decoding by as many calls as help": partial(decoder, cpu_s=1.8, calls=-1),
    "decoding by one thread of a pool": partial(decoder, cpu_s=1.8, calls=-1, pool=1),
    "decoding by one call": partial(decoder, cpu_s=1.8),
    "decoding again": partial(decoded_again, cpu_s=1.8),
    "decoding again by all processors": partial(decoded_again, cpu_s=7.9),
    "decoding again, cut short": partial(decoded_again, cpu_s=1.8, cut=True),
}


def test_jobs_have_the_findings_that_they_should(golden: Golden, tmp_path: Path):
    # GIVEN a session of each
    sessions = {name: make(tmp_path / name) for name, make in JOBS.items()}

    # WHEN
    found = {name: diagnose(session) for name, session in sessions.items()}

    # THEN
    texts = {
        name: "\n".join([_judged(diagnosis.verdict), *(_worded(one) for one in diagnosis.findings)])
        for name, diagnosis in found.items()
    }
    golden("input_jobs.txt", {name: text.replace(str(tmp_path), "FOLDER") for name, text in texts.items()})


def _judged(verdict: Verdict) -> str:
    """Return a verdict's state, and the finding that it names."""
    return f"{verdict.state}: {verdict.finding or 'no finding'}"


def _worded(finding: Finding) -> str:
    """Return a finding's kind, title, speedup and fix."""
    low, high = finding.gain.speedup_range if finding.gain else (0.0, 0.0)
    gain = f"; {finding.gain.speedup:.2f}x ({low:.2f}x to {high:.2f}x)" if finding.gain else ""
    fix = [f"    {line}" for line in (finding.fix.line.splitlines() if finding.fix else ())]
    return "\n".join([f"{finding.kind} {finding.name}: {finding.title}{gain}", *fix])
