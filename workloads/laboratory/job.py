"""A drawn job: what is known of it before anything runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .busy_processors import OtherLoad
from .program import CHECKPOINTS, GRAIN, LOADERS, TF_DATA, Folders, Program
from .storage_kind import StorageKind

# Of a job's samples, however long it is to last.
MOST_BYTES = 800_000_000


@dataclass(frozen=True, kw_only=True)
class Job:
    """One.

    Attributes:
        seed: What it was drawn from.
        storage: Under its data and what it writes.
        drawn: What the program's parameters are besides its folders.
        spread: Files are of different sizes.
        warm: All data is in the caches that the storage has, before each run.
        validation_count: Files of the validation set, if there is one.
        causes: What is meant to make it slow; the runs tell whether it does.
        load: What other programs take of the processors, if there are any.
    """

    seed: int
    storage: StorageKind
    drawn: dict[str, Any]
    spread: bool
    warm: bool
    validation_count: int = 0
    causes: tuple[str, ...] = ()
    load: OtherLoad | None = None

    @property
    def size_bytes(self) -> int:
        return int(self.drawn["size_bytes"])

    def program(self, folder: Path, folders: Folders | None = None) -> Program:
        """Return the program as drawn, with its data below a folder or in the folders given."""
        there = folders or Folders(
            data=folder / "data", out=folder / "out", fast=folder / "fast", fast_out=folder / "fast-out"
        )
        return Program(
            folders=there, as_if=self.storage.as_if, slow_path=self.storage.slow_path, **self.drawn
        )

    def longer(self, times: float) -> Job:
        """Return the same job with so many times the samples, as far as there is room."""
        batch, count = self.drawn["batch"], self.drawn["count"]
        more = min(math.ceil(times), max(1, MOST_BYTES // (count * self.size_bytes)))
        drawn = self.drawn | {"count": count * more}
        assert drawn["count"] % batch == 0
        drawn |= {name: drawn[name] * more for name in ("every", "shuffle_size") if name in drawn}
        return replace(self, drawn=drawn, validation_count=self.validation_count * more)

    @property
    def words(self) -> str:
        """Describe what it is, in a line."""
        one = self.program(Path("/"))
        sizes = f"{'about ' if self.spread else ''}{_size(one.size_bytes)}"
        steps = f"{one.step_s * 1000:g} ms steps{'' if one.computes == 'sleep' else ' of NumPy'}"
        steps += "" if one.marked else ", no steps"
        parts = [
            f"{self.storage.words}{', warm' if self.warm else ''}",
            f"{_reader(one)} ({', '.join(_details(one))})",
            f"{one.count} x {sizes}, {one.epochs} epoch{'s' * (one.epochs > 1)}, {steps}",
            *([f"{one.extra}{_of_extra(one, self.validation_count)}"] if one.extra else []),
            *([self.load.words] if self.load else []),
            f"slow by {' and '.join(self.causes)}" if self.causes else "well made",
        ]
        return "; ".join(parts).replace("_", " ")


def _size(count: float) -> str:
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:g} B"


def _reader(one: Program) -> str:
    readers = {
        "loop": "a Python loop",
        "thread_pool": f"{one.threads} Python threads",
        "generator": "from_generator",
        "torch_map": "a DataLoader of Hugging Face's" if one.hugging_face else "a DataLoader",
        "torch_iterable": "a DataLoader of shards",
        "grain": "a dataset of Grain's",
    }
    return readers.get(one.shape, f"tf.data {one.shape}")


def _details(one: Program) -> list[str]:
    """Word the pipeline, a part each."""
    calls = "workers" if one.shape in LOADERS else "threads" if one.shape == GRAIN else "calls"
    small = f" of {one.chunk_bytes} B" if one.access == "small_reads" else ""
    found = {
        f"{one.access}{small}": one.shape not in TF_DATA and one.access != "file",
        {-1: "AUTOTUNE calls", 0: "serial"}.get(one.threads, f"{one.threads} {calls}"): one.shape
        != "thread_pool",
        f"started by {one.start_method}": bool(one.start_method),
        f"{one.processes} processes": one.processes > 0,
        "kept": one.persistent,
        "in any order": one.any_order,
        f"{one.prefetch_factor} batches ahead each": one.prefetch_factor > 0,
        f"{one.shards} shards": one.shape in ("interleave", "records", "torch_iterable"),
        f"cycle of {one.cycle}": one.shape == "interleave",
        f"batches of {one.batch}": True,
        "read ahead": one.ahead and one.shape not in (*LOADERS, GRAIN),
        "prefetch": one.prefetch,
        f"cache {one.cache}": bool(one.cache),
        f"shuffled {one.shuffle}{f' by {one.shuffle_size}' if one.shuffle == 'samples' else ''}": bool(
            one.shuffle
        ),
        "GZIP": one.gzip,
        "jpeg decoding": one.decode == "jpeg",
        f"decoding by {one.rounds} sine{'s' * (one.rounds > 1)}": one.decode == "arithmetic",
    }
    return [words for words, there in found.items() if there]


def _of_extra(one: Program, validation_count: int) -> str:
    return {
        **dict.fromkeys(CHECKPOINTS, f" of {_size(8 * one.weights)} each {one.every} steps"),
        "small_writes": f" of {one.lines} x {one.line_bytes} B a step",
        "validation": f" of {validation_count} files",
    }.get(one.extra, "")
