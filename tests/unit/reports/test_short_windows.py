"""Charts of some microseconds, as of reads from the page cache, have each part of time at its place."""

import numpy as np
import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.reports.views.panel import Chart
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source

LAST_NS, CALL_NS, EACH_NS = 300_000, 2_000, 3_000


@pytest.mark.parametrize("window_ns", [None, (0, 20_000), (100_000, 104_000)])
def test_parts_of_time_are_as_far_apart_as_they_are_long(tmp_path, window_ns):
    calls = [(at, at + CALL_NS, 1, "pread", 0, 4_096) for at in range(0, LAST_NS, EACH_NS)]
    source = Source(write_session(tmp_path, job_of(calls, ["/data/a"], [4_096])))

    charts = [
        panel for panel in timeline_view(source, Window(window_ns=window_ns)) if isinstance(panel, Chart)
    ]

    drawn = [trace["x"] for chart in charts for trace in chart.figure["data"] if trace["type"] != "bar"]
    assert drawn
    for places in drawn:
        apart_ns = np.diff(places) * 1e9
        assert apart_ns == pytest.approx(np.full(len(places) - 1, apart_ns.mean()), abs=1.1)
        assert (apart_ns > 0).all()
