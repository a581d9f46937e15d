"""Checkpoints: bursts of writes, and the stall they cause."""

from __future__ import annotations

from tfdarshan.analysis.steps.checkpoint_bursts import GAP_NS, LEAST_BYTES
from tfdarshan.reports.figures.over_time import checkpoints_figure
from tfdarshan.reports.views.ledger_view import MOST_ROWS, ledger_panels
from tfdarshan.reports.views.panel import (
    Cell,
    Chart,
    Panel,
    Table,
    Text,
    Tile,
    Tiles,
    duration,
    number,
    rate,
    size,
)
from tfdarshan.reports.views.view_source import Source
from tfdarshan.units import human_bytes


def checkpoints_view(source: Source) -> list[Panel]:
    """Return its panels, or say why there are none: the burst buffer's ledger, and bursts of writes."""
    ledger = ledger_panels(source)
    bursts = _bursts(source)
    return [*ledger, *bursts] if ledger and len(source.bursts) else ledger or bursts


def _bursts(source: Source) -> list[Panel]:
    bursts = source.bursts
    rule = (
        f"A burst is writes less than {GAP_NS / 1e9:g} s apart, {human_bytes(LEAST_BYTES)} or more in all; "
        "a later step that begins the file anew, or the next of its numbers, begins another."
    )
    if len(bursts) == 0:
        data = source.summary
        written = data.bytes_written
        none = (
            f"No burst of writes of {human_bytes(LEAST_BYTES)} or more, such as a large checkpoint is, is in"
        )
        all_of_it = f"{human_bytes(written)} were written in all" if written else "nothing was written"
        said = f"{none} this session: {all_of_it}."
        return [Text([said, rule], "Checkpoints")]
    stall_s, moved = bursts["write_ns"].sum() / 1e9, int(bursts["bytes"].sum())
    tiles = [
        Tile("Bursts", number(len(bursts))),
        Tile("Written in them", size(moved)),
        Tile("Time in writes", duration(stall_s), "wall clock: the stall, if the main thread writes"),
        Tile("Bandwidth in writes", rate(moved, stall_s)),
        Tile("STDIO writes", number(bursts["stdio_writes"].sum()), f"of {bursts['writes'].sum():,} writes"),
    ]
    return [
        Tiles(tiles),
        Chart("bursts", "Bursts of writes", checkpoints_figure(bursts), rule),
        _table(bursts, steps=len(source.step_bounds) > 0),
    ]


def _table(bursts, *, steps: bool) -> Table:  # type: ignore[no-untyped-def]
    # Nothing says that a job without steps saves checkpoints.
    title, name = (
        ("Checkpoints", "checkpoint") if steps else ("Bursts of writes, one by one", "file with most bytes")
    )
    columns = [
        (name, "text"),
        ("start", "number"),
        ("lasted", "number"),
        ("in writes", "number"),
        ("bytes", "number"),
        ("bandwidth", "number"),
        ("files", "number"),
        ("writes", "number"),
        ("of STDIO", "number"),
        ("syncs", "number"),
    ]
    rows = [
        [
            Cell(row["name"], f"{row['directory']}/{row['name']}"),
            duration(row["start_ns"] / 1e9),
            duration((row["end_ns"] - row["start_ns"]) / 1e9),
            duration(row["write_ns"] / 1e9),
            size(row["bytes"]),
            rate(row["bytes"], row["write_ns"] / 1e9),
            number(row["files"]),
            number(row["writes"]),
            number(row["stdio_writes"]),
            number(row["syncs"]),
        ]
        for _, row in bursts.tail(MOST_ROWS).iterrows()
    ]
    note = f"The last {MOST_ROWS} of {len(bursts):,}." if len(bursts) > MOST_ROWS else ""
    return Table("burst-table", title, columns, rows, note)
