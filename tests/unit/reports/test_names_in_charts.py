"""Charts show < and & of names as they are: their labels understand some HTML."""

import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.reports.views.checkpoints_view import checkpoints_view
from tfdarshan.reports.views.panel import Chart
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source

FOLDER, FILE = "/data/<run>&lt;1", "<b>&"
MB = 1_000_000


@pytest.fixture
def source(tmp_path):
    calls = [(0, 100 * MB, 7, "write", 0, 60 * MB), (0, 9, 100, "stat", 0, 0)]
    job = job_of(calls, [f"{FOLDER}/{FILE}"], [60 * MB], threads={100: "python", 7: "a<lambda>&"})
    return Source(write_session(tmp_path, job))


def chart(panels, key):
    return next(panel for panel in panels if isinstance(panel, Chart) and panel.key == key).figure


def test_rows_of_folders_are_named_as_they_are(source):
    (heat,) = chart(timeline_view(source, Window("directory")), "activity")["data"]

    assert heat["y"] == ["/data/&lt;run&gt;&amp;lt;1"]


@pytest.mark.parametrize("window_ns", [None, (0, 50 * MB)])
def test_rows_of_threads_are_named_as_they_are(source, window_ns):
    drawn = chart(timeline_view(source, Window("thread", window_ns=window_ns)), "activity")

    rows = {name for trace in drawn["data"] for name in trace["y"]}
    assert rows == {"main", "a&lt;lambda&gt;&amp;"}
    assert set(drawn["layout"]["yaxis"].get("categoryarray", rows)) == rows


def test_bursts_are_named_as_they_are(source):
    (bars,) = chart(checkpoints_view(source), "bursts")["data"]

    assert [about.partition("<br>")[0] for about in bars["hovertext"]] == ["&lt;b&gt;&amp;"]
