"""The rules: agreement passes, and every single count that is off is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.integration.oracle.rules import differences
from tests.integration.oracle.tally import FileTally
from tfdarshan.sessions import schema

HOME = Path("/data")
THREES = ("opens", "reads", "zero_reads", "writes", "path_stats", "seeks", "fsyncs", "fdatasyncs")
TWOS = ("copy_reads", "copy_writes", "truncates", "unlinks", "renames", "maps")
BYTES = ("bytes_read", "bytes_written", "copy_bytes_read", "copy_bytes_written", "bytes_mapped")
TALLIED: dict[str, Any] = dict.fromkeys(THREES, 3) | dict.fromkeys(TWOS, 2) | dict.fromkeys(BYTES, 9000)
SEEN = FileTally(**TALLIED)
COUNTED: dict[str, Any] = {
    **dict.fromkeys(("POSIX_READS", "TFD_ZERO_READS", "POSIX_WRITES", "POSIX_STATS", "POSIX_SEEKS"), 3),
    **dict.fromkeys(("POSIX_FSYNCS", "POSIX_FDSYNCS"), 3),
    **dict.fromkeys(("TFD_COPY_READS", "TFD_COPY_WRITES", "TFD_TRUNCATES", "TFD_UNLINKS"), 2),
    **dict.fromkeys(("TFD_RENAMES", "POSIX_MMAPS"), 2),
    **dict.fromkeys(("POSIX_BYTES_READ", "POSIX_BYTES_WRITTEN", "TFD_MMAP_BYTES"), 9000),
    **dict.fromkeys(("TFD_COPY_READ_BYTES", "TFD_COPY_WRITE_BYTES"), 9000),
    "POSIX_OPENS": 6,
    "POSIX_DUPS": 2,
    "POSIX_FILENOS": 1,
}


def _frame(*rows: dict[str, object]) -> pd.DataFrame:
    modules = ("POSIX_", "STDIO_", "TFD_")
    names = [column.name for column in schema.files_columns() if column.name.startswith(modules)]
    return pd.DataFrame([dict.fromkeys(names, 0) | row for row in rows])


def _posix(**changes: int) -> dict[str, Any]:
    return {"path": "/data/file", "module": "POSIX"} | COUNTED | changes


def test_agreement_is_no_difference() -> None:
    assert differences("any", _frame(_posix()), {"/data/file": SEEN}, HOME) == []


@pytest.mark.parametrize("counter", sorted(COUNTED))
@pytest.mark.parametrize("change", [-1, 1])
def test_every_counter_that_is_off_is_found(counter: str, change: int) -> None:
    frame = _frame(_posix(**{counter: COUNTED[counter] + change}))
    assert len(differences("any", frame, {"/data/file": SEEN}, HOME)) == 1


def test_a_file_that_one_side_does_not_name_is_found() -> None:
    other = FileTally(opens=1)
    assert differences("any", _frame(_posix()), {"/data/file": SEEN, "/data/other": other}, HOME) == [
        "other: opens: session 0, strace 1"
    ]
    assert len(differences("any", _frame(_posix()), {}, HOME)) > 10


def test_a_file_elsewhere_is_not_compared() -> None:
    assert (
        differences("any", _frame({"path": "/etc/file", "module": "POSIX", "POSIX_OPENS": 1}), {}, HOME) == []
    )


@pytest.mark.parametrize(
    ("seeks", "counted", "found"), [(0, 8999, 1), (1, 8999, 0), (1, 4903, 1), (2, 9001, 1)]
)
def test_a_stream_is_read_again_only_where_it_seeks(seeks: int, counted: int, found: int) -> None:
    seen = FileTally(opens=1, reads=3, bytes_read=9000)
    row = {"path": "/data/file", "module": "STDIO", "STDIO_OPENS": 1, "STDIO_SEEKS": seeks}
    frame = _frame(row | {"STDIO_BYTES_READ": counted})
    assert len(differences("any", frame, {"/data/file": seen}, HOME)) == found


def test_a_directory_is_compared_by_stats_of_its_path() -> None:
    seen = FileTally(opens=5, descriptor_stats=5, path_stats=2, is_directory=True)
    frame = _frame({"path": "/data/file", "module": "POSIX", "TFD_STATS_OTHER": 2})
    assert differences("any", frame, {"/data/file": seen}, HOME) == []
    assert differences("any", frame, {"/data/file": replace(seen, path_stats=8)}, HOME) != []
