"""A session's tables as pandas DataFrames, all processes in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tfdarshan.sessions import schema
from tfdarshan.sessions.process_data import ProcessData

if TYPE_CHECKING:
    import pandas as pd


def files_frame(processes: Sequence[ProcessData]) -> pd.DataFrame:
    """Return the files tables: one row per process, file and module."""
    return _frame([process.table("files") for process in processes])


def events_frame(processes: Sequence[ProcessData]) -> pd.DataFrame:
    """Return the events tables, sorted by start, with each segment's path, and page faults among them."""
    with_faults = [process for process in processes if "faults" in process.meta["tables"]]
    parts = [_with_path(process, "events") for process in processes]
    table = _frame([*parts, *(_with_path(process, "faults") for process in with_faults)])
    if len(processes) > 1 or with_faults:
        table = table.sort_values("start_ns", kind="stable", ignore_index=True)
    return table


def layers_frame(processes: Sequence[ProcessData]) -> pd.DataFrame:
    """Return the layers table of an imported log; without rows for any other session."""
    tables = [process.table("layers") for process in processes if "layers" in process.meta["tables"]]
    return _frame(tables) if tables else empty_frame("layers")


def batches_frame(processes: Sequence[ProcessData]) -> pd.DataFrame:
    """Return the batches that processes' loops took from loaders; without rows if none is known."""
    tables = [_with_rank(process) for process in processes if "batches" in process.meta["tables"]]
    return _frame(tables) if tables else empty_frame("batches")


def empty_frame(name: str) -> pd.DataFrame:
    """Return table "files", "events" or "steps" without rows; of a brief one, without columns too."""
    import pandas as pd

    columns = {
        "files": schema.files_columns(),
        "events": (*schema.EVENT_COLUMNS, schema.EVENT_PATH),
        "steps": schema.STEP_COLUMNS,
        "layers": schema.LAYER_COLUMNS,
        "batches": (*schema.BATCH_COLUMNS, schema.BATCH_RANK),
    }
    return pd.DataFrame(columns=[column.name for column in columns.get(name, ())])


def paths_of_files(process: ProcessData, files: Any) -> Any:
    """Return file ids' paths as a pyarrow dictionary array; "" for an id that has no row."""
    table = process.table("files", ["file", "path"])
    known, first = np.unique(table["file"].to_numpy(), return_index=True)
    paths = pa.concat_arrays([pa.array([""]), table["path"].combine_chunks().take(pa.array(first))])
    place = np.searchsorted(known, files)
    found = place < len(known)
    found[found] = known[place[found]] == files[found]
    codes = np.where(found, place + 1, 0).astype(np.int32)
    unique = paths.dictionary_encode()
    return pa.DictionaryArray.from_arrays(unique.indices.to_numpy()[codes], unique.dictionary)


def _with_path(process: ProcessData, name: str) -> Any:
    table = process.table(name)
    return table.append_column(schema.EVENT_PATH.name, paths_of_files(process, table["file"].to_numpy()))


def _with_rank(process: ProcessData) -> Any:
    table = process.table("batches")
    rank = schema.UNKNOWN if process.rank is None else process.rank
    return table.append_column(schema.BATCH_RANK.name, pa.array(np.full(len(table), rank, np.int64)))


def _frame(tables: list[Any]) -> pd.DataFrame:
    return pa.concat_tables(tables, promote_options="default").unify_dictionaries().to_pandas()
