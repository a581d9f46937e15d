"""Windows of 800 and 1920 pixels: head and body are one grid, and no column of a table is lost."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api")

from tests.browser.chromium import CHROMIUM, browser_page
from tests.browser.layout import CUT_TABLES, EDGES, OVERLAPS
from tests.browser.training import training_session, with_steps
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.view_source import Source

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    first, second = (
        Source(with_steps(training_session(folder / name, f"2024_01_0{day}_00_00_00")))
        for day, name in ((1, "first"), (2, "second"))
    )
    write_report(first, folder / "report.html", compare=second)
    return folder / "report.html"


@pytest.mark.parametrize(("width", "height"), [(800, 1000), (1920, 1080)])
def test_head_and_body_are_one_grid_and_nothing_is_cut(report, width, height):
    with browser_page("file://", width=width, height=height) as watched:
        for view in (*VIEWS, "compare"):
            watched.page.goto(f"{report.as_uri()}#{view}")
            watched.page.locator(f"#view[data-drawn='{view}']").wait_for()
            edges = watched.page.evaluate(EDGES)
            cut = watched.page.evaluate(CUT_TABLES)
            layout = watched.page.evaluate(OVERLAPS)

            # THEN title, tabs and panels begin, and panels and head end, at the same pixels
            assert max(edges["left"]) - min(edges["left"]) <= 1, (view, edges)
            assert max(edges["right"]) - min(edges["right"]) <= 1, (view, edges)
            # ... on both sides alike, within the window
            assert abs(min(edges["left"]) - (edges["width"] - max(edges["right"]))) <= 1, (view, edges)
            # ... all columns of tables are in it
            assert (view, cut, layout) == (view, [], {"over": False, "out": False, "cut": False})
        watched.check()


def test_a_head_that_is_wider_than_the_body_is_told(report):
    with browser_page("file://", width=1920, height=1080) as watched:
        watched.page.goto(f"{report.as_uri()}#overview")
        watched.page.locator("#view[data-drawn='overview']").wait_for()
        watched.page.add_style_tag(content="main { max-width: 1200px !important; }")

        edges = watched.page.evaluate(EDGES)

        assert max(edges["left"]) - min(edges["left"]) > 100
