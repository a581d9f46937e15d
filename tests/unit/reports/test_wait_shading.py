"""The chart of bandwidth says that waits are shaded only if some are."""

import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.reports.figures.theme import WAIT
from tfdarshan.reports.figures.time_marks import MOST_MARKS
from tfdarshan.reports.views.overview_view import overview_view
from tfdarshan.reports.views.panel import Chart
from tfdarshan.reports.views.view_source import Source

STEP_MS, WAIT_MS, UNTOLD = 5, 2, -1


@pytest.mark.parametrize(
    ("count", "wait_ms", "shaded"),
    [(MOST_MARKS, WAIT_MS, True), (MOST_MARKS + 1, WAIT_MS, False), (9, 0, False), (9, UNTOLD, False)],
)
def test_shading_is_named_if_some_is_drawn(tmp_path, count, wait_ms, shaded):
    steps = [(STEP_MS * place, STEP_MS * (place + 1), wait_ms) for place in range(count)]
    source = Source(training(tmp_path, [(0, 1, 1, "pread", 0, 100_000)], steps, sizes=[100_000]))

    charts = [panel for panel in overview_view(source) if isinstance(panel, Chart)]
    (chart,) = [chart for chart in charts if chart.key == "bandwidth"]

    drawn = [shape.get("fillcolor") for shape in chart.figure["layout"]["shapes"]]
    assert (WAIT in drawn, "Red shading: steps waiting for input." in chart.note) == (shaded, shaded)
