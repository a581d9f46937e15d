"""Folders and files: what each was asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.directory import directory_totals, directory_tree
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.latency import latency
from tfdarshan.analysis.segments import segments_of_files
from tfdarshan.errors import ConfigurationError, SessionDataError
from tfdarshan.reports.figures.distribution import latency_figure, treemap_figure
from tfdarshan.reports.figures.single_calls import offsets_figure
from tfdarshan.reports.views.panel import Cell, Chart, Panel, Table, Text, Tile, Tiles, duration, number, size
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import plural

SORTABLE = (
    "path",
    "time_s",
    "opens",
    "reads",
    "zero_reads",
    "bytes_read",
    "writes",
    "bytes_written",
    "size_bytes",
    "read_s",
    "write_s",
    "meta_s",
)
COLUMNS = (
    ("path", "text"),
    ("time", "number"),
    ("opens", "number"),
    ("reads", "number"),
    ("of\u00a00\u00a0B", "number"),
    ("read", "number"),
    ("writes", "number"),
    ("written", "number"),
    ("size", "number"),
)
MOST_CALLS_SHOWN = 20_000
MOST_ROWS = 1_000


@dataclass(frozen=True)
class FileQuery:
    """Which files are listed. `search` is a part of the path, or a shell pattern where it has * or ?."""

    search: str = ""
    sort: str = "time_s"
    descending: bool = True
    offset: int = 0
    limit: int = 50

    def __post_init__(self) -> None:
        if self.sort not in SORTABLE:
            raise ConfigurationError(f"sort must be one of {', '.join(SORTABLE)}, not {self.sort!r}.")
        if self.offset < 0 or not 1 <= self.limit <= MOST_ROWS:
            raise ConfigurationError(f"offset must not be below 0, and limit between 1 and {MOST_ROWS}.")


def files_view(source: Source) -> list[Panel]:
    """Gives the treemap, the folders and the first files."""
    totals = directory_totals(source.files, source.directories)
    panels: list[Panel] = [
        Chart(
            "treemap-time",
            "Time in calls by folder",
            treemap_figure(directory_tree(totals, "time_s"), "time_s"),
            half=True,
        ),
        Chart(
            "treemap-bytes",
            "Bytes read by folder",
            treemap_figure(directory_tree(totals, "bytes_read"), "bytes_read"),
            half=True,
        ),
        _folders(totals),
    ]
    return [*panels, files_table(source, FileQuery())[0]]


def files_table(source: Source, query: FileQuery) -> tuple[Table, int]:
    """Lists the files that a query asks for, and says how many match."""
    rows, matching = find_files(source, query)
    shown = source.files.rows.iloc[rows]
    last = query.offset + len(rows)
    note = f"{query.offset + 1:,} to {last:,} of {plural(matching, 'file')}" if len(rows) else "no such files"
    return Table("files", "Files", COLUMNS, [_cells(row) for row in shown.itertuples()], note), matching


def find_files(source: Source, query: FileQuery) -> tuple[Array, int]:
    """Gives the rows of the file table that are listed, and how many match."""
    rows = np.flatnonzero(_matches(source, query.search))
    if query.sort == "path":
        order = source.cached("_path_order", lambda: _ranks(source.files.paths))[rows]
    else:
        order = source.files.rows[query.sort].to_numpy()[rows]
    if query.descending:
        order = -order
    last = min(query.offset + query.limit, len(rows))
    if query.offset >= last:
        return rows[:0], len(rows)
    # Rows that are no better than the last one listed need no order.
    least = np.partition(order, last - 1)[last - 1]
    before = np.flatnonzero(order < least)
    level = np.flatnonzero(order == least)[: last - len(before)]
    near = np.concatenate([before, level])
    near = near[np.lexsort((near, order[near]))]
    return rows[near[query.offset : last]], len(rows)


def file_page(source: Source, path: str) -> list[Panel]:
    """Gives one file's own page.

    Raises:
        SessionDataError: The session has no such file.
    """
    place = pc.index(source.files.paths, path).as_py()
    if place < 0:
        raise SessionDataError(f"the session has no file {path}.")
    row = source.files.rows.iloc[place]
    calls = segments_of_files(source.segments, [place])
    tiles = [
        Tile("Time in calls", duration(row["time_s"])),
        Tile("Opens", number(row["opens"])),
        Tile("Reads", number(row["reads"]), f"{row['zero_reads']:,} of nothing"),
        Tile("Read", size(row["bytes_read"])),
        Tile("Writes", number(row["writes"])),
        Tile("Written", size(row["bytes_written"])),
        Tile("Size", size(row["size_bytes"] if row["size_bytes"] >= 0 else None), str(row["fs_type"])),
    ]
    panels: list[Panel] = [Text([path], "File"), Tiles(tiles)]
    if len(calls) == 0:
        return [*panels, Text(["No calls on this file were traced."])]
    first = calls.where(slice(0, MOST_CALLS_SHOWN))
    note = f"the first {MOST_CALLS_SHOWN:,} of {len(calls):,} calls" if len(calls) > len(first) else ""
    return [
        *panels,
        Chart("offsets", "Where in the file, when", offsets_figure(first, source.files), note),
        Chart("latency", "Latency of its calls", latency_figure(latency(calls))),
    ]


def _matches(source: Source, search: str) -> Array:
    rows = source.files.rows
    real = np.ones(len(rows), bool)
    real[0] = bool(rows[["opens", "reads", "writes", "stats"]].iloc[0].any())
    if not search:
        return real
    paths = source.files.paths
    if re.search(r"[*?]", search):
        found = pc.match_substring_regex(paths, _pattern(search))
    else:
        found = pc.match_substring(paths, search)
    matched: Array = real & found.to_numpy(zero_copy_only=False)
    return matched


def _pattern(search: str) -> str:
    """Gives a shell pattern as RE2 reads it: anchored, `*` also matches `/`."""
    parts = [{"*": ".*", "?": "."}.get(character, re.escape(character)) for character in search]
    return f"(?s)^{''.join(parts)}$"


def _ranks(paths: pa.Array) -> Array:
    order = pc.sort_indices(paths).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _cells(row) -> list[Cell]:  # type: ignore[no-untyped-def]
    return [
        Cell(row.path, row.path, ("file", row.path)),
        duration(row.time_s),
        number(row.opens),
        number(row.reads),
        number(row.zero_reads),
        size(row.bytes_read),
        number(row.writes),
        size(row.bytes_written),
        size(row.size_bytes if row.size_bytes >= 0 else None),
    ]


def _folders(totals: pd.DataFrame) -> Table:
    columns = [
        ("folder", "text"),
        ("files", "number"),
        ("time", "number"),
        ("opens", "number"),
        ("reads", "number"),
        ("read", "number"),
        ("written", "number"),
    ]
    rows = [
        [
            Cell(str(path) or "(no file)", str(path), ("search", f"{path}/")),
            number(row["files"]),
            duration(row["time_s"]),
            number(row["opens"]),
            number(row["reads"]),
            size(row["bytes_read"]),
            size(row["bytes_written"]),
        ]
        for path, row in totals.head(20).iterrows()
    ]
    note = f"the slowest 20 of {len(totals):,} folders" if len(totals) > 20 else ""
    return Table("folders", "Folders (files directly in them)", columns, rows, note)
