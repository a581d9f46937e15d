"""The layers table of a log: MPI-IO, HDF5, PnetCDF and Lustre records, as PyDarshan reads them.

Records are read and written in batches: a log of many takes no more memory than one of few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from tfdarshan.errors import SessionDataError
from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing.log_regions import LogRegions
from tfdarshan.formats.importing.pydarshan import opened_log
from tfdarshan.formats.importing.region_records import SHAPES
from tfdarshan.sessions import schema
from tfdarshan.sessions.writing.tables import parquet_file

# Which counters of a module's record make a column's number: their sum.
COUNTERS: dict[str, dict[str, tuple[str, ...]]] = {
    "MPI-IO": {
        "opens": ("MPIIO_INDEP_OPENS", "MPIIO_COLL_OPENS"),
        "reads": ("MPIIO_INDEP_READS", "MPIIO_COLL_READS", "MPIIO_SPLIT_READS", "MPIIO_NB_READS"),
        "writes": ("MPIIO_INDEP_WRITES", "MPIIO_COLL_WRITES", "MPIIO_SPLIT_WRITES", "MPIIO_NB_WRITES"),
        "collective": ("MPIIO_COLL_READS", "MPIIO_COLL_WRITES"),
        "bytes_read": ("MPIIO_BYTES_READ",),
        "bytes_written": ("MPIIO_BYTES_WRITTEN",),
        "read_s": ("MPIIO_F_READ_TIME",),
        "write_s": ("MPIIO_F_WRITE_TIME",),
        "meta_s": ("MPIIO_F_META_TIME",),
    },
    "H5F": {"opens": ("H5F_OPENS",), "meta_s": ("H5F_F_META_TIME",)},
    "H5D": {
        "opens": ("H5D_OPENS",),
        "reads": ("H5D_READS",),
        "writes": ("H5D_WRITES",),
        "bytes_read": ("H5D_BYTES_READ",),
        "bytes_written": ("H5D_BYTES_WRITTEN",),
        "read_s": ("H5D_F_READ_TIME",),
        "write_s": ("H5D_F_WRITE_TIME",),
        "meta_s": ("H5D_F_META_TIME",),
    },
    "PNETCDF_FILE": {
        "opens": ("PNETCDF_FILE_CREATES", "PNETCDF_FILE_OPENS"),
        "bytes_read": ("PNETCDF_FILE_BYTES_READ",),
        "bytes_written": ("PNETCDF_FILE_BYTES_WRITTEN",),
        "meta_s": ("PNETCDF_FILE_F_META_TIME",),
    },
    "PNETCDF_VAR": {
        "opens": ("PNETCDF_VAR_OPENS",),
        "reads": ("PNETCDF_VAR_INDEP_READS", "PNETCDF_VAR_COLL_READS", "PNETCDF_VAR_NB_READS"),
        "writes": ("PNETCDF_VAR_INDEP_WRITES", "PNETCDF_VAR_COLL_WRITES", "PNETCDF_VAR_NB_WRITES"),
        "collective": ("PNETCDF_VAR_COLL_READS", "PNETCDF_VAR_COLL_WRITES"),
        "bytes_read": ("PNETCDF_VAR_BYTES_READ",),
        "bytes_written": ("PNETCDF_VAR_BYTES_WRITTEN",),
        "read_s": ("PNETCDF_VAR_F_READ_TIME",),
        "write_s": ("PNETCDF_VAR_F_WRITE_TIME",),
        "meta_s": ("PNETCDF_VAR_F_META_TIME",),
    },
}
LUSTRE = "LUSTRE"
ROWS_AT_A_TIME = 8192
Row = dict[str, Any]


def shown_layers(log: LogRegions) -> list[str]:
    """Name the modules of a log whose records a session has as layers."""
    return [name for name in log.layers if log.module_versions[name] in SHAPES[name]]


def write_layers(path: Path, log: LogRegions, others: Iterable[Row]) -> int:
    """Write the layers table; no file if there are no rows. Return the number of rows.

    Args:
        path: The file to write.
        log: The log, checked.
        others: Rows besides those of the log's modules.

    Raises:
        SessionDataError: PyDarshan does not read the log, or ends within a module's records.
    """
    rows, count = _rows(log, others), 0
    first = list(islice(rows, ROWS_AT_A_TIME))
    if not first:
        return 0
    with parquet_file(path, schema.LAYER_COLUMNS, row_group=schema.FILES_ROW_GROUP, nullable=True) as write:
        while first:
            write([_array(column, first) for column in schema.LAYER_COLUMNS])
            count += len(first)
            first = list(islice(rows, ROWS_AT_A_TIME))
    return count


def _rows(log: LogRegions, others: Iterable[Row]) -> Iterator[Row]:
    yield from others
    names = shown_layers(log)
    if not names:
        return
    for module in names:
        log.count(module)  # PyDarshan gets no region that is damaged
    with opened_log(log.path) as (backend, handle):
        for module in names:
            read: Callable[[Any, Any, str], Iterator[Row]] = _lustre if module == LUSTRE else _counted
            found = 0
            for row in read(backend, handle, module):
                found += 1
                number = int(row.pop("id"))
                path = log.names.get(number) or darshan_format.nameless(number)
                yield {"module": module, "path": path, **row}
            if not found:
                raise SessionDataError(
                    f"the Darshan log {log.path} is damaged: its {module} data is cut off."
                )


def _counted(backend: Any, handle: Any, module: str) -> Iterator[Row]:
    names = (*backend.counter_names(module), *backend.fcounter_names(module))
    columns = {
        column: [names.index(counter) for counter in counters]
        for column, counters in COUNTERS[module].items()
    }
    while (record := backend.log_get_generic_record(handle, module, dtype="numpy")) is not None:
        values = [*record["counters"].tolist(), *record["fcounters"].tolist()]
        row = {column: _sum([values[place] for place in places]) for column, places in columns.items()}
        yield {"id": record["id"], "rank": int(record["rank"]), **row}


def _sum(values: Sequence[float]) -> float | None:
    """Add up what was counted; None where this version of Darshan counted none, or a clock was set back."""
    counted = [value for value in values if 0 <= value < math.inf]
    return sum(counted) if counted else None


def _lustre(backend: Any, handle: Any, _module: str) -> Iterator[Row]:
    """Yield a file's striping: of several parts that of the one with most stripes, and all OSTs."""
    while (record := backend._log_get_lustre_record(handle, dtype="dict")) is not None:
        parts = record["components"]
        widest = max((part["counters"] for part in parts), key=_stripes, default=None)
        yield {
            "id": record["id"],
            "rank": int(record["rank"]),
            "stripe_count": None if widest is None else _stripes(widest),
            "stripe_size_bytes": None if widest is None else int(widest["LUSTRE_COMP_STRIPE_SIZE"]),
            "osts": ",".join(str(ost) for part in parts for ost in part["ost_ids"]),
        }


def _stripes(counters: Mapping[str, Any]) -> int:
    return int(counters["LUSTRE_COMP_STRIPE_COUNT"])


def _array(column: schema.Column, rows: Sequence[Row]) -> Any:
    values = [row.get(column.name) for row in rows]
    if column.dtype == "category":
        return pa.array(values, pa.string()).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
    return pa.array(values, {"str": pa.string(), "int64": pa.int64(), "float64": pa.float64()}[column.dtype])
