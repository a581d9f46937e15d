"""What is said of the kernel's read-ahead under mapped files, and of those that memory has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.unit.findings.made_up_mapped import PATH, loop_faults, mapped_training
from tests.unit.findings.made_up_training import epochs_of_steps
from tests.unit.findings.test_cures_of_pipelines import BATCH, GENERATOR, PATHS
from tests.unit.findings.test_mapped_window import CAME_IN, FAULTS, WINDOW, probe
from tests.unit.sentences.raw_figures import Raw
from tests.unit.sentences.rows import Row, check_said
from tfdarshan.session import Session
from tfdarshan.units import human_bytes, human_seconds

BEST = 10 * WINDOW / 0.0025
QUICK = loop_faults(50, 20.0, 0.01, 40, jump=4096)


def in_order(folder: Path, *, probes: Sequence[dict] = (probe(10.0),)) -> Session:
    """Gives 4 faults of the loop's a step, each for the next 128 KiB of a file, and a probe of its mount."""
    steps = epochs_of_steps(50, 20.0, 10.0)
    return mapped_training(folder, FAULTS, steps, bytes_in=CAME_IN, probes=probes)


def cached(folder: Path, *, stages: tuple = (), kind: str = "npy", faults: list[tuple] = QUICK) -> Session:
    """Gives 40 faults a step that find their page in memory, and steps that wait for something else."""
    found = [{"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 1}] if stages else []
    meta = {"pipelines": {"found": found, "left_out": 0}}
    steps = epochs_of_steps(50, 20.0, 15.0)
    return mapped_training(folder, faults, steps, formats={PATH: kind}, meta=meta)


def waits_in_order(found: Raw) -> list[str]:
    faults = found.calls("fault")
    seconds = float(faults["seconds"].sum())
    rate = len(faults) * WINDOW / seconds
    return [
        f"page faults in order wait for {human_bytes(WINDOW)} each",
        # The first one is not in order.
        f"{len(faults) - 1} times a thread waited {human_seconds(seconds / len(faults))} for the next",
        (
            f"{human_bytes(WINDOW)} of 1 mapped file read in order: {human_bytes(rate)}/s. "
            "The kernel reads no further ahead."
        ),
        "waits in order",
        "bytes that come in for each",
        (
            "where files on the same mount are read out of order: each of their faults reads a larger "
            "window, too"
        ),
        "  # for all readers of the mount",
        f"storage gives {human_bytes(BEST)}/s for 16 reads at a time",
        "storage gives, for 16 reads at a time",
        "the file system reads no further ahead than now, whatever it is told",
    ]


def found_cached(found: Raw) -> list[str]:
    faults = found.calls("fault")
    assert float(faults["seconds"].max()) < 20e-6
    return [
        "the page cache has what is read of 1 mapped file",
        (
            f"Of {len(faults):,} page faults on mapped files 0 waited, {human_seconds(0)} in all: "
            "faster storage, or reading ahead, would give nothing."
        ),
        "of them waited",
        "waited in all",
    ]


def _handed_over(found: Raw) -> list[str]:
    return [
        *found_cached(found)[1:],
        "a generator hands over records of an LMDB database one by one",
        (
            f"A batch takes {human_seconds(0.015)}, {human_seconds(0.015)} of it outside of calls: "
            "py-lmdb gives record after record under the interpreter's lock. What that costs here: "
            f"`tfdarshan lmdb bench {PATH}`."
        ),
        "of a batch, outside of calls",
        "it decodes them, too: that goes on in map()",
        "where the generator decodes: have map() decode first",
        "Read batches of records without the interpreter, in place of a generator.",
        "the generator hands records over, and does little else",
    ]


OF_LMDB = partial(cached, kind="lmdb")
ROWS = {
    "windows": Row(
        "The kernel reads no further ahead.", in_order, waits_in_order, partial(in_order, probes=[]),
    ),
    "a full device": Row(
        "as root. Without root: madvise(MADV_WILLNEED) on what comes next, 128 KiB at a time.", in_order,
        lambda _: f"Have the kernel read {4} MB ahead on this mount, as root. Without root: "
        "madvise(MADV_WILLNEED) on what comes next, 128 KiB at a time.",
        partial(in_order, probes=[probe(1.1, low=0.85)]),
    ),
    "memory": Row(
        "faster storage, or reading ahead, would give nothing.", cached, found_cached,
        partial(cached, faults=loop_faults(50, 20.0, 2.5, 4, jump=1 << 20)),
    ),
    "a generator": Row(
        "py-lmdb gives record after record under the interpreter's lock. What that costs here: ",
        partial(OF_LMDB, stages=(GENERATOR, BATCH)), _handed_over, partial(OF_LMDB, stages=(PATHS, BATCH)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_it_is_said_where_it_is_so(name, tmp_path):
    check_said(ROWS[name], tmp_path)
