"""The demo's check of a session against the files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tfdarshan.workloads.images import ImageFile
from tfdarshan.workloads.read_check import check_reads

FILES = [ImageFile(Path("/data/a.jpg"), 0, 1000), ImageFile(Path("/data/b.jpg"), 1, 2000)]


def _rows(**changes: int) -> pd.DataFrame:
    rows = [
        {"POSIX_OPENS": 2, "POSIX_READS": 4, "TFD_ZERO_READS": 2, "POSIX_BYTES_READ": 2 * file.size_bytes}
        | {"path": str(file.path), "module": "POSIX"}
        for file in FILES
    ]
    rows[1] |= changes
    return pd.DataFrame(rows)


def test_exact_counts_are_no_problem() -> None:
    assert check_reads(_rows(), FILES, 2) == []


@pytest.mark.parametrize(
    "change", [{"POSIX_OPENS": 3}, {"POSIX_READS": 3}, {"TFD_ZERO_READS": 1}, {"POSIX_BYTES_READ": 3999}]
)
def test_any_count_that_is_off_is_a_problem(change: dict[str, int]) -> None:
    problems = check_reads(_rows(**change), FILES, 2)
    assert len(problems) == 1
    assert problems[0].startswith("/data/b.jpg: ")
    assert problems[0].endswith("not 2 opens, 4 reads, 2 zero-length, 4,000 bytes")


def test_a_file_without_a_row_is_a_problem() -> None:
    (problem,) = check_reads(_rows()[:1], FILES, 2)
    assert problem.startswith("/data/b.jpg: 0 opens, 0 reads, 0 zero-length, 0 bytes, not 2 opens")
