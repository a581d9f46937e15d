"""Writes a population of small Darshan logs with culprits among them, and says what is in it.

The format is that of tfdarshan's own writer of logs; what each job did is drawn here, and told to the tests.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.job_region import Job, job_region
from tfdarshan.formats.export.log_file import LogFile
from tfdarshan.native import _bridge
from tfdarshan.sessions import schema

SECOND_NS = 1_000_000_000
DAY_S = 86_400
FIRST_DAY_S = int(datetime(2026, 7, 20, tzinfo=timezone.utc).timestamp())
SLOW_SINCE_S = int(datetime(2026, 10, 3, tzinfo=timezone.utc).timestamp())
DAYS = 98
MOUNTS = (("/scratch", "lustre"), ("/home", "nfs"), ("/projects", "gpfs"))
USERS = tuple(f"user{number:02}" for number in range(16))
PROGRAMS = ("train.py", "simulate", "postproc", "resnet.py", "ior")
STORM_USER = "stormer"
NAMES = {
    module: tuple(c.name for c in schema.counter_columns() if c.name.startswith(module))
    for module in schema.MODULES
}
F_NAMES = {
    module: tuple(c.name for c in schema.f_counter_columns() if c.name.startswith(module))
    for module in schema.MODULES
}
# Seconds of an open or a stat on each mount.
CALL_S = {"/scratch": 1e-3, "/home": 3e-3, "/projects": 2e-3}
SLOWER = 2.0


@dataclass
class MadeJob:
    """One job of the population: what its log says, added up."""

    path: Path
    user: str
    program: str
    mount: str
    start_s: int
    duration_s: float
    processes: int
    opens: int = 0
    stats: int = 0
    reads: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    read_s: float = 0.0
    meta_s: float = 0.0


@dataclass
class Population:
    """All jobs, and which of them are the culprits."""

    jobs: list[MadeJob] = field(default_factory=list)
    losers: set[Path] = field(default_factory=set)


def write_population(folder: Path, count: int, *, seed: int = 1, losers: int = 20) -> Population:
    """Write `count` logs, in a folder for each day.

    Planted are jobs that lose most, a slower /scratch since SLOW_SINCE_S, and a user who asks for the state
    of files all the time.
    """
    rng = np.random.default_rng(seed)
    made = Population()
    lost = set(rng.choice(count, min(losers, count), replace=False).tolist())
    for number in range(count):
        storms = number % 50 == 7
        job = _drawn(rng, folder, number, loses=number in lost, storms=storms)
        made.jobs.append(job)
        if number in lost:
            made.losers.add(job.path)
    return made


def _drawn(rng: Any, folder: Path, number: int, *, loses: bool, storms: bool) -> MadeJob:
    start_s = FIRST_DAY_S + int(rng.integers(0, DAYS * DAY_S))
    mount = MOUNTS[int(rng.choice(3, p=(0.6, 0.2, 0.2)))][0]
    program = PROGRAMS[int(rng.integers(0, len(PROGRAMS)))]
    user = STORM_USER if storms else USERS[int(rng.integers(0, len(USERS)))]
    processes = 64 if loses else int(rng.choice((1, 2, 4)))
    duration_s = float(rng.uniform(20_000, 40_000)) if loses else float(rng.uniform(60, 7_200))
    day = datetime.fromtimestamp(start_s, timezone.utc)
    name = f"{user}_{program}_id{number}-1_{day.month}-{day.day}-{start_s % DAY_S}-{number}.darshan"
    job = MadeJob(
        folder / day.strftime("%Y/%m/%d") / name, user, program, mount, start_s, duration_s, processes
    )
    slow = SLOWER if mount == "/scratch" and start_s >= SLOW_SINCE_S else 1.0
    call_s = CALL_S[mount] * slow * float(rng.lognormal(0, 0.3))
    rows = [
        _row(rng, job, place, call_s, loses=loses, storms=storms) for place in range(int(rng.integers(2, 6)))
    ]
    write_log(job, rows)
    return job


def _row(rng: Any, job: MadeJob, place: int, call_s: float, *, loses: bool, storms: bool) -> dict[str, Any]:
    """Draw what was done with a file."""
    opens, stats = int(rng.integers(1, 40)), int(rng.integers(0, 20))
    if storms:
        stats += int(rng.integers(40_000, 60_000))
    size, reads = int(rng.integers(1, 50)) << 20, int(rng.integers(1, 200))
    passes = int(rng.integers(1, 4))
    row: dict[str, Any] = {
        "path": f"{job.mount}/{job.user}/{job.program}/part-{place}",
        "POSIX_OPENS": opens,
        "POSIX_STATS": stats,
        "POSIX_READS": reads,
        "POSIX_SIZE_READ_100K_1M": reads,
        "POSIX_BYTES_READ": size * passes,
        "POSIX_MAX_BYTE_READ": size - 1,
        "POSIX_F_READ_TIME": size * passes / 500e6 * float(rng.lognormal(0, 0.2)),
        "POSIX_F_META_TIME": (opens + stats) * call_s,
    }
    if loses:
        row["POSIX_F_READ_TIME"] = job.processes * job.duration_s * float(rng.uniform(0.2, 0.3)) / 2
    job.opens, job.stats, job.reads = job.opens + opens, job.stats + stats, job.reads + reads
    job.bytes_read += row["POSIX_BYTES_READ"]
    job.read_s += row["POSIX_F_READ_TIME"]
    job.meta_s += row["POSIX_F_META_TIME"]
    return row


def write_log(
    job: MadeJob, rows: list[dict[str, Any]], *, partial: bool = False, hosts: Sequence[str] = ()
) -> None:
    """Write a log with a POSIX record for each row; counters that a row does not name are 0.

    With `hosts`, one for each rank, the log has a segment of each rank and file: a read of 1 byte.
    """
    job.path.parent.mkdir(parents=True, exist_ok=True)
    names = {_bridge.record_id(row["path"].encode()): row["path"].encode() for row in rows}
    layout = darshan_format.counter_record(len(NAMES["POSIX"]), len(F_NAMES["POSIX"]))
    records = np.zeros(len(rows), layout)
    records["id"] = list(names)
    records["rank"] = -1 if job.processes > 1 else 0
    for place, row in enumerate(rows):
        for counter, value in row.items():
            if counter in F_NAMES["POSIX"]:
                records["f_counters"][place, F_NAMES["POSIX"].index(counter)] = value
            elif counter != "path":
                records["counters"][place, NAMES["POSIX"].index(counter)] = value
    region = job_region(
        Job(
            user=1000,
            job=zlib.crc32(job.path.name.encode()),
            processes=job.processes,
            start_realtime_ns=job.start_s * SECOND_NS,
            end_realtime_ns=job.start_s * SECOND_NS + int(job.duration_s * 1e9),
            command=f"python {job.program}" if job.program.endswith(".py") else f"/apps/{job.program} -x",
            mounts=MOUNTS,
            metadata={"lib_ver": "3.5.0", "project": f"project-{int(job.user[-2:]) % 4}"}
            if job.user[-2:].isdigit()
            else {"lib_ver": "3.5.0"},
        )
    )
    with job.path.open("wb") as file:
        log = LogFile(file)
        log.add_job(region)
        log.add_names(np.uint64(record).tobytes() + name + b"\0" for record, name in names.items())
        log.add_module("POSIX", [records.tobytes()], partial=partial)
        traced = (_read(record, rank, host) for record in names for rank, host in enumerate(hosts))
        log.add_module("DXT_POSIX", traced, partial=False)
        log.finish()


def _read(record: int, rank: int, host: str) -> bytes:
    head = np.array((record, rank, -1, host.encode(), 0, 1), darshan_format.DXT_RECORD)
    segment = np.array((0, 1, rank, rank + 0.5), darshan_format.SEGMENTS[1])
    return head.tobytes() + segment.tobytes()
