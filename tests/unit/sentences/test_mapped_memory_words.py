"""What is said of mapped files that memory has."""

from __future__ import annotations

from functools import partial

import pytest

from tests.unit.findings.made_up_jobs import BATCH, GENERATOR, PATHS
from tests.unit.findings.made_up_mapped import PATH, loop_faults
from tests.unit.sentences.finding_cases import found_cached
from tests.unit.sentences.other_sessions import mapped_from_memory
from tests.unit.sentences.raw_figures import Raw
from tests.unit.sentences.rows import Row, check_said


def _handed_over(found: Raw) -> list[str]:
    return [
        *found_cached(found),
        (
            "py-lmdb gives records one by one under the interpreter's lock. Read batches of records without "
            f"it. To know what that gives: `tfdarshan lmdb bench {PATH}`."
        ),
    ]


OF_LMDB = partial(mapped_from_memory, kind="lmdb")
ROWS = {
    "memory": Row(
        "faster storage, or reading ahead, would give nothing.", mapped_from_memory, found_cached,
        partial(mapped_from_memory, faults=loop_faults(50, 20.0, 2.5, 4, jump=1 << 20)),
    ),
    "a generator": Row(
        "py-lmdb gives records one by one under the interpreter's lock. Read batches of records without it.",
        partial(OF_LMDB, stages=(GENERATOR, BATCH)), _handed_over, partial(OF_LMDB, stages=(PATHS, BATCH)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_it_is_said_where_it_is_so(name, tmp_path):
    check_said(ROWS[name], tmp_path)
