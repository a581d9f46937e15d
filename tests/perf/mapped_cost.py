"""What it costs to watch page faults on mapped files."""

from __future__ import annotations

import dataclasses
import statistics
from pathlib import Path
from typing import Any

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, added_row, quartiles
from tests.perf.timing import Timing

GROUP = "Watching page faults"
SHARE = 0.01
# What is looked for is less than what epochs differ by: it takes many of them.
EPOCH_PAIRS = 3
EPOCHS = {"loop": "an epoch of a loop over py-lmdb", "tf.data": "an epoch of py-lmdb in tf.data"}


def mapped_cost(folder: Path, *, pairs: int) -> tuple[list[Row], list[str]]:
    """Return the rows of the first mapping, an epoch over LMDB from the page cache, and a storm of faults."""
    epochs = [_epoch(folder, kind, of, EPOCH_PAIRS * pairs) for kind, of in EPOCHS.items()]
    return [_begin(folder, pairs), *epochs, _storm(folder, pairs)], []


def _begin(folder: Path, pairs: int) -> Row:
    """What a session pays once; no share of it is wanted."""
    progress.show(f"a first mapping, {pairs} pairs")
    told = run_child("mapped_begin_probe", folder / "begin", pairs)
    timings = [(Timing(*plain), Timing(*watched)) for plain, watched in told["pairs"]]
    cpu_ms = statistics.median(watched.cpu_ns - plain.cpu_ns for plain, watched in timings) / 1e6
    row = added_row(GROUP, "the first mapping of a session", timings, subject="mapped=True")
    return dataclasses.replace(row, note=f"{told['threads']} threads; {cpu_ms:.1f} ms of processor time")


def _epoch(folder: Path, kind: str, name: str, pairs: int) -> Row:
    """Nothing but page faults waits in it."""
    progress.show(f"{name}, {pairs} pairs")
    told = run_child("mapped_probe", folder / f"mapped-{kind}", kind, pairs)
    seen = "" if told["share"] is None else f"{told['share']:.0%} of {told['faults']:,.0f} faults seen, "
    cost_ms = statistics.median(told["reckoned_ns"]) / 1e6
    return _row(name, told["pairs"], f"{seen}{cost_ms:.1f} ms reckoned")


def _storm(folder: Path, pairs: int) -> Row:
    progress.show(f"a storm of page faults, {pairs} pairs")
    told = run_child("fault_storm_probe", folder / "storm", pairs)
    seen = "" if told["share"] is None else f", {told['share']:.1%} seen"
    rate = f"{told['faults_per_s']:,.0f} faults a second"
    return _row("a million page faults on other memory, by two threads", told["pairs"], rate + seen)


def _row(name: str, pairs: list[Any], note: str) -> Row:
    """What is wanted is a share of what it takes without; processor time is the steadier figure."""
    timings = [(Timing(*plain), Timing(*watched)) for plain, watched in pairs]
    plain_ns = statistics.median(plain.wall_ns for plain, _ in timings)
    ratios = [watched.cpu_ns / plain.cpu_ns for plain, watched in timings]
    low, high = quartiles(ratios)
    cpu = f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})"
    row = added_row(GROUP, name, timings, subject="mapped=True", wanted=SHARE * plain_ns)
    return dataclasses.replace(row, note=f"{note}; processor time x {cpu}")
