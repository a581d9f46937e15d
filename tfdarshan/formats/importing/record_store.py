"""Records of a log outside of memory: gathered in batches in a file in TMPDIR, and mapped from there.

A log of many files has hundreds of MB of them, of which most counters are looked at once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import StorageError, reason
from tfdarshan.native.spool_reader import Array

BATCH = 4096


def stored(records: Iterator[dict[str, Any]], layout: np.dtype[Any]) -> Array:
    """Return PyDarshan's records as rows of a structured array, which is mapped from a file without a name.

    Args:
        records: PyDarshan's dictionaries.
        layout: `darshan_format.counter_record`, with as many counters as they have.

    Raises:
        StorageError: There is no room for them.
    """
    try:
        with tempfile.TemporaryFile(prefix="tfdarshan-records-", dir=temporary_folder()) as file:
            count = 0
            while batch := list(islice(records, BATCH)):
                rows = np.zeros(len(batch), layout)
                rows["id"] = [record["id"] for record in batch]
                rows["rank"] = [record["rank"] for record in batch]
                rows["counters"] = [record["counters"] for record in batch]
                rows["f_counters"] = [record["fcounters"] for record in batch]
                file.write(rows.tobytes())
                count += len(batch)
            file.flush()
            return np.memmap(file, layout, "r", shape=(count,)) if count else np.zeros(0, layout)
    except OSError as error:
        raise StorageError(
            f"the records of a Darshan log cannot be kept in {temporary_folder()}: {reason(error)}; "
            "set TMPDIR to a folder with more room."
        ) from error
