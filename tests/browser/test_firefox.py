"""The tab and the report in Firefox: every view is drawn with its numbers, and no script fails."""

import urllib.parse

import pytest

pytest.importorskip("websocket", reason="websocket-client is not installed")
pytest.importorskip("tensorboard")

from tests.browser.axe import INSTALLED, RUN, axe_script, grave
from tests.browser.firefox import FIREFOX, firefox
from tests.browser.job import CHECKPOINT_BYTES, SAVES, record_job
from tests.browser.server import tensorboard
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.view_source import Source

pytestmark = [
    pytest.mark.skipif(FIREFOX is None, reason="there is no firefox"),
    pytest.mark.skipif(INSTALLED is None, reason="axe-playwright-python is not installed"),
    pytest.mark.long,
    pytest.mark.timeout(900),
]
CHARTS = {"overview": 3, "timeline": 2, "files": 2, "patterns": 5, "checkpoints": 1}
DRAWN = "document.querySelector(\"#view[data-drawn='{}']\") !== null"
CHART_COUNT = "document.querySelectorAll('.chart .main-svg').length"
READ = "document.querySelector(\"[data-label='Read'] .value\").title"
WRITTEN = "document.querySelector(\"[data-label='Written'] .value\").title"


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return record_job(tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def browser():
    with firefox() as opened:
        yield opened


def violations(browser, context=None):
    browser.run(axe_script(), context)
    return grave(browser.evaluate(f"({RUN})()", context))


def test_every_view_of_the_tab_is_drawn(job, browser):
    with tensorboard(job.session.path.parent.parent.parent) as url:
        found = {}
        for view in VIEWS:
            browser.go(f"{url}/#tfdarshan&p.tfdarshan.view={urllib.parse.quote(view)}")
            context = browser.wait_for(DRAWN.format(view), in_frame=True)
            if view in CHARTS:
                browser.wait_for(f"{CHART_COUNT} >= {CHARTS[view]}", in_frame=True)
            if view == "overview":
                assert f"({job.bytes_read:,} B)" in browser.evaluate(READ, context)
                assert f"({SAVES * CHECKPOINT_BYTES:,} B)" in browser.evaluate(WRITTEN, context)
            found[view] = violations(browser, context)

    assert {view: rules for view, rules in found.items() if rules} == {}
    assert browser.faults == []


def test_every_view_of_the_report_is_drawn(job, browser, tmp_path):
    write_report(Source(job.session), tmp_path / "report.html")
    found = {}
    for view in VIEWS:
        browser.go(f"{(tmp_path / 'report.html').as_uri()}#{view}")
        browser.wait_for(DRAWN.format(view))
        if view in CHARTS:
            browser.wait_for(f"{CHART_COUNT} >= {CHARTS[view]}")
        found[view] = violations(browser)

    assert {view: rules for view, rules in found.items() if rules} == {}
    assert browser.faults == []


def test_a_script_that_fails_is_a_fault(browser, tmp_path):
    (tmp_path / "wrong.html").write_text("<script>nothing.of.it()</script>")
    browser.go((tmp_path / "wrong.html").as_uri())
    browser.evaluate("1")

    assert "nothing is not defined" in " ".join(browser.faults)
    browser.faults.clear()
