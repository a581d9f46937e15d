"""A drawn job: what is known of it before anything runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .program import Folders, Program
from .storage_kind import StorageKind

# Of a job's samples, however long it is to last.
MOST_BYTES = 400_000_000


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
    """

    seed: int
    storage: StorageKind
    drawn: dict[str, Any]
    spread: bool
    warm: bool
    validation_count: int = 0

    @property
    def size_bytes(self) -> int:
        return int(self.drawn["size_bytes"])

    def program(self, folder: Path, folders: Folders | None = None) -> Program:
        """Gives the program as drawn, with its data below a folder or in the folders given."""
        there = folders or Folders(
            data=folder / "data", out=folder / "out", fast=folder / "fast", fast_out=folder / "fast-out"
        )
        return Program(
            folders=there, as_if=self.storage.as_if, slow_path=self.storage.slow_path, **self.drawn
        )

    def longer(self, times: float) -> Job:
        """Gives the same job with so many times the samples, as far as there is room."""
        batch, count = self.drawn["batch"], self.drawn["count"]
        more = min(math.ceil(times), max(1, MOST_BYTES // (count * self.size_bytes)))
        drawn = self.drawn | {"count": count * more}
        assert drawn["count"] % batch == 0
        if "every" in drawn:
            drawn["every"] *= more
        return replace(self, drawn=drawn, validation_count=self.validation_count * more)

    @property
    def words(self) -> str:
        """Says what it is, in a line."""
        one = self.program(Path("/"))
        reader = {
            "loop": "a Python loop",
            "thread_pool": f"{one.threads} Python threads",
            "generator": "from_generator",
        }
        what = reader.get(one.shape, f"tf.data {one.shape}")
        details: list[str] = [one.access] if one.shape in reader and one.access != "file" else []
        details += [{-1: "AUTOTUNE calls", 0: "serial"}.get(one.threads, f"{one.threads} calls")]
        details += [f"batches of {one.batch}"] if one.batch != 16 else []
        details += ["read ahead"] if one.ahead else []
        details += ["prefetch"] if one.prefetch else []
        details += [f"cache {one.cache}"] if one.cache else []
        details += [f"shuffled {one.shuffle}"] if one.shuffle else []
        details += ["GZIP"] if one.gzip else []
        details += [f"{one.decode} decoding"] if one.decode else []
        sizes = f"{'about ' if self.spread else ''}{one.size_bytes / 1000:g} kB"
        steps = f"{one.step_s * 1000:g} ms steps{'' if one.computes == 'sleep' else ' of NumPy'}"
        return (
            f"{self.storage.words}{', warm' if self.warm else ''}; {what} ({', '.join(details)}); "
            f"{one.count} x {sizes}, {one.epochs} epoch{'s' * (one.epochs > 1)}, {steps}"
            f"{'' if one.marked else ', no steps'}{f'; {one.extra}' if one.extra else ''}"
        ).replace("_", " ")
