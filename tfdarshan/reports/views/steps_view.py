"""What training steps waited for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.trace_span import trace_span
from tfdarshan.analysis.steps.step_time import StepSummary, step_length, step_summary
from tfdarshan.analysis.summary_data import slowed_calls
from tfdarshan.errors import ConfigurationError
from tfdarshan.reports.figures.over_time import (
    means_of_steps,
    overlap_figure,
    step_storage_figure,
    step_times_figure,
    steps_figure,
)
from tfdarshan.reports.figures.time_marks import with_step_bands
from tfdarshan.reports.text.step_text import length_words
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
from tfdarshan.reports.views.view_source import NO_TRACE, Source
from tfdarshan.reports.views.wait_tile import wait_tile
from tfdarshan.units import percent, plural

PAGE_ROWS, MOST_ROWS = 20, 1_000
# What a table of steps can be sorted by, in the order of its columns.
SORTS = {
    "step": "", "time": "step_ns", "wait": "input_wait_ns", "gpu": "exposed_wait_ns", "compute": "compute_ns",
    "io": "io_ns", "bytes": "bytes", "storage": "fetched", "calls": "operations",
}  # fmt: skip
COLUMNS = (
    ("step", "text"),
    ("time", "number"),
    ("input wait", "number"),
    ("GPU wait", "number"),
    ("compute", "number"),
    ("I/O", "number"),
    ("bytes", "number"),
    ("from storage", "number"),
    ("calls", "number"),
)
NO_STEPS = (
    "This session has no steps: a job without a training loop that reports them, or one recorded without a "
    "step source."
)


@dataclass(frozen=True)
class StepQuery:
    """Which steps are listed."""

    sort: str = "time"
    descending: bool = True
    offset: int = 0
    limit: int = PAGE_ROWS

    def __post_init__(self) -> None:
        if self.sort not in SORTS:
            raise ConfigurationError(f"sort must be one of {', '.join(SORTS)}, not {self.sort!r}.")
        if self.offset < 0 or not 1 <= self.limit <= MOST_ROWS:
            raise ConfigurationError(f"offset must not be below 0, and limit between 1 and {MOST_ROWS}.")


def steps_view(source: Source, query: StepQuery | None = None) -> list[Panel]:
    """Return its panels, or say why there are none."""
    table = source.steps
    if len(table) == 0:
        return [Text([NO_STEPS], "Steps")]
    whole = step_summary(table)
    # The rest of a step is not known either if the wait is not.
    computed_s = None if whole.input_wait_s is None else whole.compute_s
    tiles = [
        Tile("Steps", number(whole.steps), _each(whole, table)),
        wait_tile(whole, _share(whole.input_wait_s, whole)),
        Tile("Compute and the rest", duration(computed_s), _share(computed_s, whole)),
        *(_io_tiles(whole) if _io_known(table) else []),
        *_fault_tiles(source),
    ]
    storage = source.step_storage
    if len(storage) and not slowed_calls(source.emulation):
        asked, cached = int(storage["asked_bytes"].sum()), int(storage["cached_bytes"].sum())
        note = f"{percent(asked - cached, asked)} of reads" if asked else ""
        tiles.append(Tile("From storage", size(asked - cached), note))
    drawn_too = {
        "untold_ns": table["step_ns"].mask(table["input_wait_known"], 0),
        "io_ns": table["io_ns"].where(table["calls_known"]),
    }
    means, each = means_of_steps(table.assign(**drawn_too))
    drawn = steps_figure(means, io_known=_io_known(table))
    return [
        Tiles(tiles),
        Chart("steps", "Time of each step", with_step_bands(drawn, source.bands), _of_means(each)),
        *_spread(table),
        _overlap(source),
        *_storage(source),
        steps_table(source, query),
    ]


def _io_known(table: pd.DataFrame) -> bool:
    """Return whether it is known what calls did in any step, whichever processes are looked at."""
    return bool(table["calls_known"].any())


def _why_unknown(source: Source) -> str:
    """Say why that is not known, of the rank whose steps are listed."""
    processes = source.whole.processes
    span = trace_span([one.meta for one in processes if one.rank == processes[0].rank])
    return NO_TRACE if span is None else span.sentence


def _of_means(each: int) -> str:
    return f"Each bar is the mean of {each:,} steps; the table lists them one by one." if each > 1 else ""


def _spread(table: pd.DataFrame) -> list[Panel]:
    """Draw how many steps took how long, where there are more than the table lists."""
    if len(table) <= PAGE_ROWS:
        return []
    return [Chart("step-times", "How many steps took how long", step_times_figure(table))]


def _io_tiles(whole: StepSummary) -> list[Tile]:
    beside = f"at least {percent(whole.hidden_io_s, whole.io_s)}" if whole.io_s else ""
    return [
        Tile("I/O within steps", duration(whole.io_s), "wall clock"),
        Tile("I/O beside compute", duration(whole.hidden_io_s), beside),
        Tile("Moved", size(whole.bytes_moved)),
    ]


def _fault_tiles(source: Source) -> list[Tile]:
    """Return what steps were in page faults on mapped files, if these were watched."""
    faults_ns = source.whole.steps.get("fault_ns")
    if faults_ns is None or (faults_ns < 0).any():
        return []
    return [Tile("In page faults", duration(float(faults_ns.sum()) / 1e9), "on mapped files")]


def _overlap(source: Source) -> Panel:
    title = "I/O of each step: waited for, or beside compute"
    if not _io_known(source.steps):
        return Text([_why_unknown(source)], title)
    means, each = means_of_steps(source.steps)
    note = "A step cannot have waited for more I/O than it waited for input, so this is a bound."
    return Chart("overlap", title, overlap_figure(means), f"{note} {_of_means(each)}".strip())


def _each(whole: StepSummary, table: pd.DataFrame) -> str:
    """Word the time of a step, and where not all that were recorded are counted."""
    each = f"a step: {length_words(step_length(table['step_ns'].to_numpy()))}"
    return each if whole.steps == len(table) else f"of {len(table):,}: input wait is known of these; {each}"


def _share(part_s: float | None, whole: StepSummary) -> str:
    if part_s is None:
        return "steps do not say it: see Findings"
    return f"{percent(part_s, whole.span_s)} of step time"


def _storage(source: Source) -> list[Panel]:
    storage = source.step_storage
    # What is under emulated storage says nothing of it.
    if len(storage) == 0 or slowed_calls(source.emulation):
        return []
    note = (
        "By the kernel (/proc/self/io): read_bytes of a step against rchar. Read-ahead that serves a later "
        "step counts where it was asked for."
    )
    title = "Reads of each step: storage or page cache"
    named = storage.set_axis(source.steps.index[storage.index])
    means, each = means_of_steps(named)
    drawn = step_storage_figure(source.steps.index, means)
    return [Chart("step-storage", title, drawn, f"{note} {_of_means(each)}".strip())]


def steps_table(source: Source, query: StepQuery | None = None) -> Table:
    """List the steps that a query asks for."""
    query = query or StepQuery()
    table, storage = source.steps, source.step_storage
    fetched = (storage["asked_bytes"] - storage["cached_bytes"]).reindex(range(len(table)))
    exposed = table["exposed_wait_ns"].where(table["exposed_wait_ns"] >= 0)
    told = table[["input_wait_ns", "compute_ns"]].where(table["input_wait_known"])
    table = table.assign(fetched=fetched.to_numpy(), exposed_wait_ns=exposed, **told)
    order = table.index.to_numpy() if query.sort == "step" else table[SORTS[query.sort]].to_numpy(np.float64)
    # What is not known comes last.
    order = np.where(np.isnan(order), np.inf, -order if query.descending else order)
    places = np.argsort(order, kind="stable")[query.offset : query.offset + query.limit]
    rows = [_cells(row) for row in table.iloc[places].itertuples()]
    first = query.offset + 1
    note = (
        f"{first:,} to {first + len(rows) - 1:,} of {plural(len(table), 'step')}" if rows else "no such steps"
    )
    slowest = query.sort == "time" and query.descending
    shown = [place for place, sort in enumerate(SORTS) if sort != "gpu" or exposed.notna().any()]
    sorts = [list(SORTS)[place] for place in shown]
    paging = Paging(query.offset, query.limit, len(table), sorts, query.sort, descending=query.descending)
    real = {"from storage": "from real storage"} if slowed_calls(source.emulation) else {}
    columns = [(real.get(name, name), kind) for name, kind in (COLUMNS[place] for place in shown)]
    cells = [[row[place] for place in shown] for row in rows]
    note += ", the slowest first" if slowest else ""
    joint = source.whole.joint
    note += "" if joint is None else f"; they are of rank {joint.leading.rank}, which findings are about"
    return Table("step-table", "Steps", columns, cells, note, paging=paging)


def _cells(row) -> list[Cell]:  # type: ignore[no-untyped-def]
    return [
        Cell(str(row.Index)),
        duration(row.step_ns / 1e9),
        *map(_known, (row.input_wait_ns, row.exposed_wait_ns, row.compute_ns)),
        duration(row.io_ns / 1e9 if row.calls_known else None),
        size(row.bytes if row.calls_known else None),
        size(None if pd.isna(row.fetched) else row.fetched),
        number(row.operations if row.calls_known else None),
    ]


def _known(value_ns: float) -> Cell:
    return duration(None if pd.isna(value_ns) else value_ns / 1e9)
