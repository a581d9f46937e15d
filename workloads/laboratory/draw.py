"""Draws a job from a seed: storage, the program's shape, step time, one or two causes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from .job import Job
from .program import ACCESSES, EXTRAS, SHAPES
from .storage_kind import EMULATED_S, MEDIA, Medium, StorageKind

DEVELOPMENT_SEEDS = 10_000  # seeds below are for development, those from here on for fresh draws
SIZES = (8_000, 30_000, 100_000, 300_000, 1_000_000)
RUN_S = 3.0  # what reading takes in a run, about
MOST_BYTES = 150_000_000
FILE_BY_FILE = ("file", "stats", "until_empty", "small_reads")
WHOLE_FILES = ("map", "generator", "loop", "thread_pool")
BATCH = 16
FEWEST_BATCHES = 6  # of an epoch
WELL_MADE = 0.3  # of the draws
HIDDEN_TIMES = (1.8, 4.0)  # a step lasts so many times longer than reading its batch
LONG_STEP_S = 0.25
DECODE_S_PER_BYTE = 5e-9
STEPS_S = (0.002, 0.01, 0.03, 0.08)
FUSE_KINDS = (
    "latency",
    "bandwidth",
    "bucket",
    "operations",
    "seek",
    "periodic",
    "slow mount",
    "slow file",
    "server cache",
    "mixture",
    "fast",
)


def draw(seed: int, media: Sequence[Medium] = MEDIA) -> Job:
    """Gives the job of a seed: the same one each time, for the same media."""
    dice = random.Random(seed)
    medium = dice.choice(media)
    drawn = _pipeline(dice)
    access = drawn.get("access", "file")
    storage = _storage(dice, medium, one_by_one=access in FILE_BY_FILE and drawn["shape"] in WHOLE_FILES)
    of_one_size = access in ("random", "reopened")
    size = dice.choice(SIZES[:3] if of_one_size else SIZES)
    epochs = dice.choice((1, 2, 3, 4))
    drawn |= {
        "size_bytes": _size_for(drawn, storage, size, epochs),
        "epochs": epochs,
        "marked": dice.random() < 2 / 3,
        "step_s": dice.choice(STEPS_S),
        "computes": dice.choice(("sleep", "sleep", "numpy")),
        "mixed": dice.random() < 0.5,
    }
    spread = dice.random() < 0.5 and not of_one_size
    warm = dice.random() < 0.2 and medium != "emulated"
    if dice.random() < WELL_MADE:
        drawn |= _well_made(drawn, storage, dice)
    drawn |= _amount(drawn, storage)
    count = max(8, drawn["count"] // 2) if drawn["extra"] == "validation" else 0
    return Job(seed=seed, storage=storage, drawn=drawn, spread=spread, warm=warm, validation_count=count)


def _size_for(drawn: dict[str, Any], storage: StorageKind, size: int, epochs: int) -> int:
    """Gives the size, or the largest one below with which the fewest samples are read in time."""
    passes = 1 if storage.keeps_pages else epochs
    fewest = FEWEST_BATCHES * BATCH * passes
    fitting = [one for one in SIZES if fewest * storage.sample_s(one, *_calls(drawn, one)) < 2 * RUN_S]
    return min(size, max(fitting, default=SIZES[0]))


def _amount(drawn: dict[str, Any], storage: StorageKind) -> dict[str, Any]:
    """Chooses how many samples there are, so that a run lasts some seconds."""
    size, epochs, batch = drawn["size_bytes"], drawn["epochs"], drawn.get("batch", BATCH)
    passes = 1 if storage.keeps_pages else epochs
    samples = RUN_S / passes / storage.sample_s(size, *_calls(drawn, size))
    computed = RUN_S / epochs / drawn["step_s"] * batch
    batches = int(min(samples, computed, MOST_BYTES / size, 1600) // batch)
    fewest = -(-FEWEST_BATCHES * batch // BATCH) * BATCH
    chosen: dict[str, Any] = {"count": max(fewest, batches * batch // BATCH * BATCH), "batch": batch}
    if drawn["extra"] in ("numpy_checkpoint", "tf_checkpoint"):
        chosen["every"] = max(2, batches * epochs // 12)
    return chosen


def _well_made(drawn: dict[str, Any], storage: StorageKind, dice: random.Random) -> dict[str, Any]:
    """Hides the reading behind the steps: what is left may be nothing to cure, which the runs will tell."""
    sample_s = storage.sample_s(drawn["size_bytes"], *_calls(drawn, drawn["size_bytes"]))
    sample_s += DECODE_S_PER_BYTE * drawn["size_bytes"]
    times = dice.uniform(*HIDDEN_TIMES)
    batch = next((size for size in (16, 8, 4, 2) if size * sample_s < LONG_STEP_S / times), 1)
    ahead = {} if drawn["shape"] in ("map", "interleave", "records", "generator") else {"ahead": True}
    step_s = round(max(dice.uniform(0.01, 0.03), times * batch * sample_s), 4)
    return {
        "batch": batch,
        "step_s": step_s,
        "epochs": 1 if step_s > LONG_STEP_S / 3 else drawn["epochs"],
        "prefetch": not ahead,
        "computes": "sleep",
        "decode": "",
        "shuffle": "",
        "cache": "",
        "cut": False,
        "extra": "",
        **ahead,
    }


def _calls(drawn: dict[str, Any], size: int) -> tuple[float, float]:
    """Estimates opens and reads of a sample."""
    in_parts = size / 131_072
    if drawn["shape"] in ("interleave", "records"):
        return 0.0, in_parts
    access = drawn.get("access", "file")
    if access == "sqlite":
        return 0.0, 3 + size / 4096
    opens = {"random": 0.0, "stats": 3.0}.get(access, 1.0)
    return opens, {"small_reads": size / 8192, "until_empty": 2.0}.get(access, max(1.0, in_parts))


def _storage(dice: random.Random, medium: Medium, *, one_by_one: bool) -> StorageKind:
    if medium == "emulated":
        name = dice.choice(sorted(EMULATED_S))
        return StorageKind(medium, name, f"emulated {name}", as_if=name)
    if medium == "ext4":
        if dice.random() < 0.6:
            rate = dice.choice((20e6, 40e6, 80e6, 150e6))
            return StorageKind(medium, "bandwidth", f"ext4 of {rate / 1e6:g} MB/s", {"bandwidth": rate})
        calls = dice.choice((120, 300, 600))
        return StorageKind(medium, "operations", f"ext4 of {calls} calls/s", {"operations_per_s": calls})
    return _fuse(dice, one_by_one=one_by_one)


def _fuse(dice: random.Random, *, one_by_one: bool) -> StorageKind:
    name = dice.choice(FUSE_KINDS)
    if name == "slow file" and not one_by_one:
        name = "slow mount"
    words, model = _limits(dice, name)
    if dice.random() < 0.3 and name != "server cache":
        model["page_cache"] = 0
        words += ", no page cache"
    return StorageKind("fuse", name, f"FUSE, {words}", model)


def _limits(dice: random.Random, name: str) -> tuple[str, dict[str, float | str]]:
    """Gives one kind's words and its model."""
    latency_s = dice.choice((0.002, 0.005, 0.012))
    rate = dice.choice((25e6, 50e6, 100e6))
    at_a_time = dice.choice((4, 16, 64))
    waits: dict[str, float | str] = {"open_s": latency_s / 2, "read_s": latency_s, "empty_read_s": latency_s,
             "stat_s": dice.choice((0.0, latency_s / 2)), "write_s": latency_s, "sync_s": 2 * latency_s,
             "concurrency": at_a_time}  # fmt: skip
    said = f"{latency_s * 1000:g} ms a read, {at_a_time} at a time"
    if name == "latency":
        return said, waits
    if name == "bandwidth":
        return f"{rate / 1e6:g} MB/s", {"bandwidth": rate}
    if name == "bucket":
        burst = dice.choice((10e6, 40e6))
        return f"a bucket of {rate / 1e6:g} MB/s, bursts of {burst / 1e6:g} MB", {
            "bucket_rate": rate,
            "bucket_burst": burst,
        }
    if name == "operations":
        calls = dice.choice((200, 400, 800))
        return f"{calls} calls/s", {"operations_per_s": calls}
    if name == "seek":
        return "seeks of 8 ms, 150 MB/s", {"seek_s": 0.008, "bandwidth": 150e6}
    if name == "periodic":
        times = dice.choice((8, 20))
        model: dict[str, float | str] = {
            "open_s": 0.0005,
            "read_s": 0.001,
            "slow_for_s": 0.3,
            "slow_every_s": 1.0,
            "slow_times": times,
        }
        return f"1 ms a read, {times} times slower for 300 ms of each second", model
    if name == "slow mount":
        times = dice.choice((10, 40))
        slow: dict[str, float | str] = {
            "open_s": 0.0005,
            "read_s": 0.001,
            "path_times": times,
            "slow_path": "/part-3/",
        }
        return f"1 ms a read, one folder of 8 {times} times slower", slow
    if name == "slow file":
        slow = {"open_s": 0.0005, "read_s": 0.001, "path_times": 200.0, "slow_path": "/part-3/00003."}
        return "1 ms a read, one file 200 times slower", slow
    if name == "server cache":
        held = dice.choice((8e6, 32e6, 128e6))
        return f"{said}, {held / 1e6:g} MB of cache in the server", {
            **waits,
            "page_cache": 0,
            "server_cache": held,
        }
    if name == "mixture":
        return f"{said}, {rate / 1e6:g} MB/s", {**waits, "bandwidth": rate}
    return "20 us a read", {"read_s": 0.00002}


def _pipeline(dice: random.Random) -> dict[str, Any]:
    shape = dice.choice(SHAPES)
    drawn: dict[str, Any] = {"shape": shape, "prefetch": False}
    if shape in ("map", "interleave", "records"):
        drawn |= {"chained": dice.random() < 0.5, "prefetch": dice.random() < 0.5}
        drawn["threads"] = dice.choice((0, 0, -1, 4)) if shape != "records" else dice.choice((0, 0, 4))
        drawn["gzip"] = shape != "map" and dice.random() < 0.3
        drawn["decode"] = (
            dice.choice(("", "", "arithmetic", "jpeg"))
            if shape == "map"
            else dice.choice(("", "", "arithmetic"))
        )
        drawn["shuffle"] = dice.choice(("", "", "samples", "paths" if shape == "map" else ""))
        drawn["cache"] = dice.choice(("", "", "", "misplaced", "right"))
        drawn["cut"] = drawn["cache"] == "misplaced" and dice.random() < 0.5
    else:
        drawn["access"] = dice.choice(("file", *ACCESSES))
        if shape == "thread_pool" and drawn["access"] == "sqlite":
            drawn["access"] = "random"
        drawn["threads"] = dice.choice((2, 4, 8, 32)) if shape == "thread_pool" else 0
        drawn["prefetch"] = shape == "generator" and dice.random() < 0.5
        drawn["decode"] = dice.choice(("", "", "", "arithmetic", "jpeg")) if drawn["access"] == "file" else ""
    drawn["extra"] = dice.choice(EXTRAS) if dice.random() < 0.4 else ""
    return drawn
