"""What is said of mapped files that memory has."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.unit.findings.made_up_jobs import BATCH, GENERATOR, PATHS
from tests.unit.findings.made_up_mapped import PATH, loop_faults, mapped_training
from tests.unit.findings.made_up_training import epochs_of_steps
from tests.unit.sentences.raw_figures import Raw
from tests.unit.sentences.rows import Row, check_said
from tfdarshan.session import Session
from tfdarshan.units import human_seconds

QUICK = loop_faults(50, 20.0, 0.01, 40, jump=4096)


def cached(folder: Path, *, stages: tuple = (), kind: str = "npy", faults: list[tuple] = QUICK) -> Session:
    """Gives 40 faults a step that find their page in memory, and steps that wait for something else."""
    found = [{"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 1}] if stages else []
    meta = {"pipelines": {"found": found, "left_out": 0}}
    steps = epochs_of_steps(50, 20.0, 15.0)
    return mapped_training(folder, faults, steps, formats={PATH: kind}, meta=meta)


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
        *found_cached(found),
        (
            "py-lmdb gives records one by one under the interpreter's lock. Read batches of records without "
            f"it. To know what that gives: `tfdarshan lmdb bench {PATH}`."
        ),
    ]


OF_LMDB = partial(cached, kind="lmdb")
ROWS = {
    "memory": Row(
        "faster storage, or reading ahead, would give nothing.", cached, found_cached,
        partial(cached, faults=loop_faults(50, 20.0, 2.5, 4, jump=1 << 20)),
    ),
    "a generator": Row(
        "py-lmdb gives records one by one under the interpreter's lock. Read batches of records without it.",
        partial(OF_LMDB, stages=(GENERATOR, BATCH)), _handed_over, partial(OF_LMDB, stages=(PATHS, BATCH)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_it_is_said_where_it_is_so(name, tmp_path):
    check_said(ROWS[name], tmp_path)
