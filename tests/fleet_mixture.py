"""Puts other inputs beside a population of made logs: sessions, and the logs that PyDarshan brings along."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.synthetic_session import SyntheticRun, write_session

FILES, CALLS, CALL_BYTES = 6, 40, 100_000
SECOND_NS = 1_000_000_000


def copy_logs(folder: Path, sources: Sequence[Path], count: int) -> list[Path]:
    """Write `count` logs, copies of some in turn; each copy is an input of its own."""
    folder.mkdir(parents=True)
    contents = [path.read_bytes() for path in sources]
    paths = [folder / f"{number:06}-{sources[number % len(sources)].name}" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(contents[number % len(contents)])
    return paths


def write_sessions(folder: Path, count: int, first_ns: int) -> dict[Path, int]:
    """Write `count` sessions, an hour apart, and return the bytes that each read, by its folder.

    All share the tables of one; their metadata says when they were, and that they lasted for different times.
    """
    rng = np.random.default_rng(5)
    made: dict[Path, int] = {}
    root = folder / "plugins" / "tfdarshan"
    template = _session(root / "0000000")
    for number in range(count):
        path = root / f"{number:07}"
        if number:
            path.mkdir()
            for table in template.glob("*.parquet"):
                os.link(table, path / table.name)
        (about,) = template.glob("*.meta.json")
        meta = json.loads(about.read_text())
        meta |= {"session": path.name, "origin_realtime_ns": first_ns + number * 3_600 * SECOND_NS}
        meta["duration_ns"] = int(rng.uniform(100, 1_000) * SECOND_NS)
        written = path / f".{about.name}"
        written.write_text(json.dumps(meta))
        written.replace(path / about.name)
        made[path] = FILES * CALLS * CALL_BYTES
    return made


def _session(directory: Path) -> Path:
    each_s = 0.02
    events = [
        (7, "pread", 2 + file, CALL_BYTES, 1 + place * each_s, 1 + (place + 0.5) * each_s)
        for place, file in enumerate(np.repeat(np.arange(FILES), CALLS).tolist())
    ]
    busy_s = len(events) * each_s / 2
    run = SyntheticRun(
        duration_s=60, io_s=busy_s, thread_s=busy_s, events=events, extra={"command": "python read.py"}
    )
    whole = np.full(FILES, CALLS * CALL_BYTES)
    return write_session(
        directory,
        run,
        FILES,
        lambda first, last: [f"/data/train/{file:03}" for file in range(first, last)],
        lambda first, last: {
            "size_bytes": whole[first:last],
            "POSIX_OPENS": np.ones(last - first),
            "POSIX_READS": np.full(last - first, CALLS),
            "POSIX_BYTES_READ": whole[first:last],
            "POSIX_MAX_BYTE_READ": whole[first:last] - 1,
            "POSIX_SIZE_READ_10K_100K": np.full(last - first, CALLS),
            "POSIX_F_READ_TIME": np.full(last - first, busy_s / FILES),
        },
    )
