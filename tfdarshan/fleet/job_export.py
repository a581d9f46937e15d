"""Writes the rows of jobs for other programs: Parquet as the catalogue has it, or CSV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from tfdarshan.durable.output_file import output_file
from tfdarshan.fleet.catalogue_folder import VERSION_KEY
from tfdarshan.fleet.job_columns import CATALOGUE_VERSION

# Columns that CSV has as JSON.
LISTS = ("mounts", "doubts")
START = "start"


def write_parquet(table: Any, path: Path, *, force: bool) -> None:
    """Write rows with all columns of the catalogue.

    Raises:
        StorageError: The file is there, or cannot be written.
    """
    metadata = {VERSION_KEY: str(CATALOGUE_VERSION).encode()}
    with output_file(path, force=force) as file:
        pq.write_table(table.replace_schema_metadata(metadata), file, compression="zstd")


def write_csv(table: Any, path: Path, *, force: bool) -> None:
    """Write rows as CSV with a header: empty is unknown, `mounts` and `doubts` are JSON.

    Raises:
        StorageError: The file is there, or cannot be written.
    """
    for name in LISTS:
        place = table.schema.get_field_index(name)
        texts = [None if value is None else json.dumps(value) for value in table[name].to_pylist()]
        table = table.set_column(place, name, pa.array(texts, pa.string()))
    place = table.schema.get_field_index(START)
    table = table.set_column(place, START, _worded(table[START]))
    with output_file(path, force=force) as file:
        pa.csv.write_csv(table, file)


def _worded(moments: Any) -> Any:
    """Return moments of UTC as text; Arrow looks the zone up in a database that a container may lack."""
    without_zone = moments.cast(pa.int64()).cast(pa.timestamp("ns")).cast(pa.string())
    return pc.binary_join_element_wise(without_zone, "Z", "")
