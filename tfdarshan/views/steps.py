"""What training steps waited for."""

from __future__ import annotations

from tfdarshan.analysis.step_time import StepSummary, step_summary
from tfdarshan.figures.over_time import overlap_figure, steps_figure
from tfdarshan.units import percent
from tfdarshan.views.panel import Cell, Chart, Panel, Table, Text, Tile, Tiles, duration, number, size
from tfdarshan.views.source import Source

MOST_ROWS = 200
NO_STEPS = (
    "This session has no steps: a job without a training loop that reports them, or one recorded without a "
    "step source."
)


def steps_view(source: Source) -> list[Panel]:
    """Gives its panels, or says why there are none."""
    table = source.steps
    if len(table) == 0:
        return [Text([NO_STEPS], "Steps")]
    whole = step_summary(table)
    tiles = [
        Tile("Steps", number(whole.steps), f"{whole.step_s / whole.steps:.4f} s each on average"),
        Tile("Input wait", duration(whole.input_wait_s), _share(whole)),
        Tile("Compute and the rest", duration(whole.compute_s), f"{percent(whole.compute_s, whole.step_s)}"),
        Tile("I/O within steps", duration(whole.io_s), "wall clock"),
        Tile(
            "I/O beside compute",
            duration(whole.hidden_io_s),
            f"at least {percent(whole.hidden_io_s, whole.io_s)}",
        ),
        Tile("Moved", size(whole.bytes_moved)),
    ]
    return [
        Tiles(tiles),
        Chart("steps", "Time of each step", steps_figure(table)),
        Chart(
            "overlap",
            "I/O of each step: waited for, or beside compute",
            overlap_figure(table),
            "A step cannot have waited for more I/O than it waited for input, so this is a bound.",
        ),
        _table(table),
    ]


def _share(whole: StepSummary) -> str:
    if whole.input_wait_s is None:
        return "not known of these steps"
    return f"{percent(whole.input_wait_s, whole.step_s)} of step time"


def _table(table) -> Table:  # type: ignore[no-untyped-def]
    columns = [
        ("step", "text"),
        ("time", "number"),
        ("input wait", "number"),
        ("compute", "number"),
        ("I/O", "number"),
        ("bytes", "number"),
        ("calls", "number"),
    ]
    slowest = table.sort_values("step_ns", ascending=False, kind="stable").head(MOST_ROWS)
    rows = [
        [
            Cell(str(row.Index)),
            duration(row.step_ns / 1e9),
            duration(row.input_wait_ns / 1e9),
            duration(row.compute_ns / 1e9),
            duration(row.io_ns / 1e9),
            size(row.bytes),
            number(row.operations),
        ]
        for row in slowest.itertuples()
    ]
    note = f"the slowest {MOST_ROWS} of {len(table):,}" if len(table) > MOST_ROWS else "slowest first"
    return Table("step-table", "Steps", columns, rows, note)
