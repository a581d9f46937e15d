"""A made-up session's raw tables, and what they say of its steps and of its input."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from tests.unit.sentences.raw_figures import OPENS, READS, Raw, raw
from tfdarshan.session import Session

SYNCS, WRITES, STATS = ("fsync", "fdatasync"), ("write", "pwrite"), ("stat", "fstat")
CLOSES = ("close", "fclose")


@dataclass(frozen=True)
class Made:
    """A session's raw tables.

    Attributes:
        found: They; steps are those of the leading rank.
        meta: The owner's metadata.
        hosts: Where each rank runs.
        leading: The rank that waits most, 0 without steps.
    """

    found: Raw
    meta: dict[str, Any]
    hosts: dict[int, str]
    leading: int

    @property
    def step_s(self) -> float:
        """What a step took, with what lies between steps, such as validation."""
        steps = self.found.steps
        return float(steps["end"].max() - steps["start"].min()) / len(steps) / 1e9

    @property
    def computes_s(self) -> pd.Series[float]:
        """What each step took but for its wait."""
        return (self.found.steps["end"] - self.found.steps["start"]) / 1e9 - self.waits_s

    @property
    def waits_s(self) -> pd.Series[float]:
        """What each step waited."""
        return self.found.steps["wait"] / 1e9

    @property
    def faults(self) -> pd.DataFrame:
        """Page faults, with their `seconds`."""
        return self.found.calls("fault")

    @property
    def input_calls(self) -> pd.DataFrame:
        """Those of `calls_of_ranks` of the rank that waits most."""
        calls = self.calls_of_ranks
        return calls[calls["rank"] == self.leading]

    @cached_property
    def calls_of_ranks(self) -> pd.DataFrame:
        """Calls of all ranks on files that nothing writes, of the time of all steps, with their `seconds`."""
        files, steps = self.found.files, self.found.steps
        read = files[files["POSIX_WRITES"] + files["STDIO_WRITES"] == 0][["rank", "file"]]
        found = self.found.calls(*OPENS, *READS, *STATS, *CLOSES, "lseek")
        origin = self.meta["origin_realtime_ns"]
        if len(steps):
            begins = found["start_ns"] + origin
            found = found[(begins >= steps["start"].min()) & (begins < steps["end"].max())]
        return found.merge(read.drop_duplicates(), on=["rank", "file"])

    @cached_property
    def input_files(self) -> pd.DataFrame:
        """Opens, reads, bytes read, `size_bytes`, and seconds in reads and in other calls, by file.

        `distinct` are the bytes that were read, however often.
        """
        calls = self.input_calls
        reads, opens = (calls["operation"].isin(names) for names in (READS, OPENS))
        reads &= calls["length"] > 0
        parts = pd.DataFrame({
            "opens": opens, "reads": reads, "moved": calls["length"].where(reads, 0),
            "read_s": calls["seconds"].where(reads, 0.0), "other_s": calls["seconds"].where(~reads, 0.0),
        })  # fmt: skip
        files = self.found.files
        sizes = files[files["rank"] == self.leading].groupby("file")["size_bytes"].max()
        distinct = (
            calls[reads].groupby("file")[["offset", "length"]].apply(_distinct_bytes).rename("distinct")
        )
        return parts.groupby(calls["file"]).sum().join([sizes, distinct])

    @cached_property
    def in_compute_s(self) -> float:
        """The time of calls on input that run while a step does not wait for its batch, over all threads."""
        steps, origin = self.found.steps.sort_values("start"), self.meta["origin_realtime_ns"]
        waited, ended = (
            (steps["start"] + steps["wait"] - origin).to_numpy(),
            (steps["end"] - origin).to_numpy(),
        )
        inside = 0
        for begun, done in self.input_calls[["start_ns", "end_ns"]].to_numpy():
            inside += int(np.clip(np.minimum(ended, done) - np.maximum(waited, begun), 0, None).sum())
        return inside / 1e9

    @property
    def is_whole(self) -> bool:
        """Whether the trace has every call."""
        return not self.meta["counts"]["events_dropped"]


def _distinct_bytes(reads: pd.DataFrame) -> int:
    """Return how many bytes reads cover, each counted once."""
    covered, reached = 0, -1
    for offset, length in sorted(reads.itertuples(index=False, name=None)):
        covered += max(0, offset + length - max(offset, reached))
        reached = max(reached, offset + length)
    return covered


def made(session: Session) -> Made:
    """Return what a session's files say."""
    metas = [json.loads(path.read_text()) for path in sorted(session.path.rglob("*.meta.json"))]
    found = raw(session)
    leading = 0
    if len(found.steps):  # what is said of steps is of the rank that waits most
        leading = found.steps.groupby("rank")["wait"].sum().idxmax()
        found = replace(found, steps=found.steps[found.steps["rank"] == leading])
    hosts = {meta.get("job", {}).get("rank", 0): meta["host"] for meta in metas}
    return Made(found, next((meta for meta in metas if meta["owner"]), metas[0]), hosts, leading)


Figure = Callable[[Made], float | None]
