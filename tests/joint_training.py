"""Sessions of made-up training jobs of several ranks that keep step: all wait for the slowest one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.unit.findings.made_up_training import ORIGIN_NS, training
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.session import Session, open_session
from tfdarshan.sessions.rank_folder import rank_folder

SESSION = "torchrun-made-up-1"
KB = 1_000


@dataclass(frozen=True)
class MadeUpRank:
    """One rank.

    Attributes:
        steps: For each step the files that it reads: their numbers.
        host: Where it ran.
        times: How many times as long its calls take.
        clock_ns: What its host's clock is ahead of the first rank's.
        server_offset_ns: What its host says of the file server's clock, None if nothing.
        other_times: How many times as long its calls on files in the other folder take; None: `times`.
        exposed: In what part of its waits its GPU is idle, None if nobody tells.
    """

    steps: Sequence[Sequence[int]]
    host: str = "n0"
    times: float = 1.0
    clock_ns: int = 0
    server_offset_ns: int | None = None
    other_times: float | None = None
    exposed: float | None = None


def joint_training(
    logdir: Path,
    ranks: Sequence[MadeUpRank],
    *,
    seed: int = 0,
    call_ms: float = 4.0,
    compute_ms: float = 10.0,
    size: int = 100 * KB,
    noise: float = 0.1,
    marked: bool = True,
    folder: str = "/data",
    other_folder: str | None = None,
) -> Session:
    """Write a session: in each step a rank waits until its files are read, then for the other ranks.

    Every second file, those with odd numbers, is in the other folder if there is one.
    """
    rng = np.random.default_rng(seed)
    taken = [
        [_times(rank, files) * call_ms * np.exp(rng.normal(0, noise, len(files))) for files in rank.steps]
        for rank in ranks
    ]
    waits = np.array([[0.1 * len(calls) + calls.sum() for calls in steps] for steps in taken])
    ends = np.cumsum(waits.max(axis=0) + compute_ms)
    starts = np.concatenate([[0.0], ends[:-1]])
    files = 1 + max(file for rank in ranks for step in rank.steps for file in step)
    folders = folder, other_folder or folder
    paths = [f"{folders[number % 2]}/{number:05}.bin" for number in range(files)]
    for number, rank in enumerate(ranks):
        calls = []
        for step, read in enumerate(rank.steps):
            at = starts[step]
            for file, lasts in zip(read, taken[number][step], strict=True):
                calls.append((at, at + 0.05, 1, "open", file, 0))
                calls.append((at + 0.05, at + 0.05 + lasts, 1, "read", file, size))
                at += 0.1 + lasts
        told = [] if rank.exposed is None else [rank.exposed * waits[number]]
        steps = list(zip(starts, ends, waits[number], *told, strict=True)) if marked else ()
        part = training(
            logdir / f"part-{number}", calls, steps, paths=paths, sizes=[size] * files, duration_ms=ends[-1]
        )
        put_into_job(logdir, part.path, number, len(ranks), rank)
    return open_session(logdir / "plugins/tfdarshan" / SESSION)


def _times(rank: MadeUpRank, files: Sequence[int]) -> Array:
    other = rank.times if rank.other_times is None else rank.other_times
    return np.where(np.array(files, np.int64) % 2 == 1, other, rank.times)


def put_into_job(logdir: Path, part: Path, number: int, size: int, rank: MadeUpRank) -> None:
    """Move a session into its rank's folder, and tell which rank it is, by its host's clock."""
    folder = rank_folder(logdir / "plugins/tfdarshan" / SESSION, number)
    folder.parent.mkdir(parents=True, exist_ok=True)
    part.rename(folder)
    (path,) = folder.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["host"] = rank.host
    for name in ("origin_realtime_ns", "start_realtime_ns"):
        meta[name] += rank.clock_ns
    for row in meta.get("steps", {}).get("rows", []):
        row[1:3] = [at + rank.clock_ns for at in row[1:3]]
    meta["job"] = {
        "launcher": "torchrun", "job": "made-up", "rank": number, "world_size": size, "local_rank": 0,
        "round": "0", "unique": True, "number": 1,
        "clock": {"boot_id": rank.host, "realtime_ns": ORIGIN_NS + rank.clock_ns, "monotonic_ns": 10**9,
                  "error_ns": 100, "server_offset_ns": rank.server_offset_ns,
                  "server_error_ns": None if rank.server_offset_ns is None else 1_000_000},
    }  # fmt: skip
    path.write_text(json.dumps(meta))
