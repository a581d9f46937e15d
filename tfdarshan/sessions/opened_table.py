"""Opens one Parquet file of a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def opened_table(path: Path, metadata: Any = None) -> Iterator[Any]:
    """Opens a table.

    Python opens the file, not Arrow: Arrow takes a path that is text for UTF-8, and leaves the file to be
    inherited by the programs that a job starts meanwhile.

    Args:
        path: The file.
        metadata: Its footer, where that was read before.
    """
    import pyarrow.parquet as pq

    with path.open("rb") as source, pq.ParquetFile(source, metadata=metadata) as file:
        yield file


def arrow_errors() -> tuple[type[Exception], ...]:
    """Gives what reading a table raises if it is damaged or missing."""
    import pyarrow as pa

    return (OSError, pa.ArrowException, ValueError)
