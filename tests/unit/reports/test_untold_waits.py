"""Steps that do not say how long they waited: no figure of theirs claims that they waited for nothing."""

import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.reports.views.panel import Chart, Tiles
from tfdarshan.reports.views.steps_view import StepQuery, steps_table, steps_view
from tfdarshan.reports.views.view_source import Source

STEP_MS, IO_MS, WAIT_MS = 50, 40, 20
UNTOLD = -1


def source_of(folder, *waits_ms):
    """Return steps of 50 ms, of which 40 ms are in I/O."""
    starts = [STEP_MS * place for place in range(len(waits_ms))]
    calls = [(at, at + IO_MS, 1, "pread", 0, 100_000) for at in starts]
    steps = [(at, at + STEP_MS, wait) for at, wait in zip(starts, waits_ms, strict=True)]
    return Source(training(folder, calls, steps, sizes=[100_000]))


def tiles_of(source):
    (tiles,) = [panel for panel in steps_view(source) if isinstance(panel, Tiles)]
    return {tile.label: (tile.value.text, tile.note) for tile in tiles.items}


def bars_of(source, key):
    (chart,) = [panel for panel in steps_view(source) if isinstance(panel, Chart) and panel.key == key]
    return {trace["name"]: trace["y"] for trace in chart.figure["data"] if trace["type"] == "bar"}


def test_neither_wait_nor_compute_is_known_of_steps_that_do_not_say_it(tmp_path):
    tiles = tiles_of(source_of(tmp_path, UNTOLD, UNTOLD))

    assert tiles["Compute and the rest"] == tiles["Input wait"] == ("-", "steps do not say it: see Findings")
    # THEN steps may have waited for all of their I/O
    assert tiles["I/O beside compute"] == ("0 ns", "at least 0.0 %")


def test_the_table_tells_an_unknown_wait_from_none(tmp_path):
    source = source_of(tmp_path, UNTOLD, WAIT_MS, 0)

    listed = steps_table(source, StepQuery("wait", descending=False)).rows

    assert [[cell.text for cell in row[:4]] for row in listed] == [
        ["2", "50.0 ms", "0 ns", "50.0 ms"], ["1", "50.0 ms", "20.0 ms", "30.0 ms"],
        ["0", "50.0 ms", "-", "-"],
    ]  # fmt: skip


@pytest.mark.parametrize(("wait_ms", "untold"), [(UNTOLD, [0.05, 0.0]), (0, None)])
def test_charts_draw_an_unknown_wait_apart(tmp_path, wait_ms, untold):
    source = source_of(tmp_path, wait_ms, WAIT_MS)

    steps, overlap = bars_of(source, "steps"), bars_of(source, "overlap")

    assert steps.get("steps that do not say how long they waited") == untold
    assert steps["input wait"] == [0.0, 0.02]
    assert steps["compute and the rest"] == [0.05 if untold is None else 0.0, 0.03]
    assert overlap["waited for, at most"] == [0.0 if untold is None else 0.04, 0.02]
