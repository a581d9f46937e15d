"""Folders and files: what each was asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.segments import segments_of_files
from tfdarshan.analysis.files.directory import Directories, directory_totals
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.time.latency import latency
from tfdarshan.errors import ConfigurationError, SessionDataError
from tfdarshan.reports.figures.distribution import latency_figure
from tfdarshan.reports.figures.single_calls import offsets_figure
from tfdarshan.reports.figures.treemap import treemap_figure
from tfdarshan.reports.views.folder_tree import LEAST_SHARE, NamedFile, folder_boxes
from tfdarshan.reports.views.mapped_table import mapped_panels
from tfdarshan.reports.views.panel import (
    Cell,
    Chart,
    Paging,
    Panel,
    Table,
    Text,
    Tile,
    Tiles,
    duration,
    number,
    size,
)
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import human_bytes, plural

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
TREEMAP_NOTE = (
    "Size: bytes read and written. Colour: these over the time in calls; the slowest stand out. Click a "
    "folder to see inside it. A file has a box if it has at least 0.5 % of the bytes."
)
MOST_CALLS_SHOWN = 20_000
MOST_ROWS = 1_000


@dataclass(frozen=True)
class FileQuery:
    """Which files are listed. `search` is a part of the path; with * or ? it is a shell pattern, too."""

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


def files_view(source: Source, query: FileQuery | None = None) -> list[Panel]:
    """Return a treemap and folders of the files that a query asks for, and a page of them.

    Files that were mapped come before the folders: what page faults read is in none of their calls.
    """
    query = query or FileQuery()
    table, matching = files_table(source, query)
    if matching == 0:
        return [table]
    totals = _totals(source, query.search)
    return [
        _treemap(source, totals, query.search),
        *([] if query.search else mapped_panels(source.summary.mapped)),
        _folders(totals),
        table,
    ]


def _treemap(source: Source, totals: pd.DataFrame, search: str) -> Panel:
    moved = totals.assign(moved=totals["bytes_read"] + totals["bytes_written"])
    boxes = folder_boxes(moved, "moved", _largest(source, search))
    title = "Bytes by folder and file, coloured by bandwidth"
    if not boxes:
        return Text(["No bytes were read or written."], title)
    outside = float(moved["moved"].sum()) - sum(box.value for box in boxes if not box.parent)
    left_out = f" {human_bytes(outside)} of files elsewhere are not drawn." if outside > 0 else ""
    return Chart("treemap", title, treemap_figure(boxes), f"{TREEMAP_NOTE}{left_out}")


def _totals(source: Source, search: str) -> pd.DataFrame:
    """Return `directory_totals` of the files that match."""
    if not search:
        return source.cached("_totals", lambda: directory_totals(source.files, source.directories))
    matching = _matches(source, search)
    # The first row is of no file, and is counted as one where it has calls.
    rows = np.flatnonzero(np.concatenate([[True], matching[1:]]))
    chosen = FileTable(source.files.rows.iloc[rows], ())
    totals = directory_totals(chosen, Directories(source.directories.paths, source.directories.of_file[rows]))
    return totals if matching[0] else totals.drop(index="", errors="ignore")


def _largest(source: Source, search: str) -> list[NamedFile]:
    """Return the files that may have a box of their own."""
    rows, table = np.flatnonzero(_matches(source, search)), source.files.rows
    values = (table["bytes_read"] + table["bytes_written"]).to_numpy()[rows]
    most = round(1 / LEAST_SHARE)
    if len(rows) > most:
        kept = np.argpartition(-values, most)[:most]
        rows, values = rows[kept], values[kept]
    paths = source.files.paths.take(pa.array(rows)).to_pylist()
    seconds = table["time_s"].to_numpy()[rows]
    order = [place for place in np.argsort(-values, kind="stable").tolist() if paths[place].startswith("/")]
    return [NamedFile(paths[place], float(values[place]), float(seconds[place])) for place in order]


def files_table(source: Source, query: FileQuery) -> tuple[Table, int]:
    """List the files that a query asks for, and say how many match."""
    rows, matching = find_files(source, query)
    shown = source.files.rows.iloc[rows]
    last = query.offset + len(rows)
    note = f"{query.offset + 1:,} to {last:,} of {plural(matching, 'file')}" if len(rows) else "no such files"
    paging = Paging(
        query.offset, query.limit, matching, SORTABLE[: len(COLUMNS)], query.sort, descending=query.descending
    )
    counted = _counts_nothing(source)
    cells = [_cells(row, counted=counted) for row in shown.itertuples()]
    return Table("files", "Files", COLUMNS, cells, note, paging=paging), matching


def find_files(source: Source, query: FileQuery) -> tuple[Array, int]:
    """Return the rows of the file table that are listed, and how many match."""
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
    """Return one file's own page.

    Raises:
        SessionDataError: The session has no such file.
    """
    place = pc.index(source.files.paths, path).as_py()
    if place < 0:
        raise SessionDataError(f"the session has no file {path}.")
    row = source.files.rows.iloc[place]
    calls = segments_of_files(source.blocks(), [place])
    counted = _counts_nothing(source)
    tiles = [
        Tile("Time in calls", duration(row["time_s"])),
        Tile("Opens", number(row["opens"])),
        Tile("Reads", number(row["reads"]), f"{row['zero_reads']:,} of nothing" if counted else ""),
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
    """Return which rows of the file table match; what was asked for last is kept."""
    kept: tuple[str, Array] | None = source.__dict__.get("_matching")
    if kept is None or kept[0] != search:
        kept = source.__dict__["_matching"] = (search, _matching(source, search))
    return kept[1]


def _matching(source: Source, search: str) -> Array:
    rows = source.files.rows
    real = np.ones(len(rows), bool)
    real[0] = bool(rows[["opens", "reads", "writes", "stats"]].iloc[0].any())
    if not search:
        return real
    paths = source.files.paths
    found = pc.match_substring(paths, search)
    if re.search(r"[*?]", search):
        found = pc.or_(found, pc.match_substring_regex(paths, _pattern(search)))
    matched: Array = real & found.to_numpy(zero_copy_only=False)
    return matched


def _pattern(search: str) -> str:
    """Return a shell pattern as RE2 reads it: anchored, `*` also matches `/`."""
    parts = [{"*": ".*", "?": "."}.get(character, re.escape(character)) for character in search]
    return f"(?s)^{''.join(parts)}$"


def _ranks(paths: pa.Array) -> Array:
    order = pc.sort_indices(paths).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _counts_nothing(source: Source) -> bool:
    """Whether it is known how many reads were of no bytes: logs without a trace do not say it."""
    return source.summary.posix.zero_length_reads is not None


def _cells(row, *, counted: bool) -> list[Cell]:  # type: ignore[no-untyped-def]
    return [
        Cell(row.path, row.path, ("file", row.path)),
        duration(row.time_s),
        number(row.opens),
        number(row.reads),
        number(row.zero_reads if counted else None),
        size(row.bytes_read),
        number(row.writes),
        size(row.bytes_written),
        size(row.size_bytes if row.size_bytes >= 0 else None),
    ]


def folder_cell(path: str) -> Cell:
    """Return a folder that leads to its files, and to those below it."""
    return Cell(path, path, ("search", f"{path.rstrip('/')}/"))


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
            folder_cell(str(path)) if path else Cell("(no file)"),
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
