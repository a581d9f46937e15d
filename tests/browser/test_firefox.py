"""The tab and the report in Firefox: every view is drawn with its numbers, and no script fails."""

import re
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
COMPARED = "document.querySelector(\"[data-key='compare'] tbody\").innerText"
CHART_COUNT = "document.querySelectorAll('.chart .main-svg').length"
READ = "document.querySelector(\"[data-label='Read'] .value\").title"
WRITTEN = "document.querySelector(\"[data-label='Written'] .value\").title"


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def before(logdir, tmp_path_factory):
    """Another session of the same work, to compare with."""
    return record_job(logdir / "before", tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def job(logdir, before, tmp_path_factory):
    return record_job(logdir, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module", params=[False, True], ids=["light", "dark"])
def browser(request):
    with firefox(dark=request.param) as opened:
        yield opened


@pytest.fixture
def dark(request):
    return request.node.callspec.params["browser"]


def violations(browser, context=None):
    browser.run(axe_script(), context)
    return grave(browser.evaluate(f"({RUN})()", context))


def address(job, before, view):
    """Return what stands in the address of a view of the job, before which the other one ran."""
    state = {"view": view, "session": f"./{job.session.path.name}"}
    state |= {"other": f"before/{before.session.path.name}"} if view == "compare" else {}
    pairs = (f"p.tfdarshan.{key}={urllib.parse.quote(value, '')}" for key, value in state.items())
    return "&".join(["tfdarshan", *pairs])


def lightness(browser, context):
    """Return how light the page's paper is, from 0 to 255."""
    colour = browser.evaluate("getComputedStyle(document.body).backgroundColor", context)
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


def test_every_view_of_the_tab_is_drawn(job, before, logdir, browser, dark):
    with tensorboard(logdir) as url:
        found = {}
        for view in (*VIEWS, "compare"):
            browser.go(f"{url}/#{address(job, before, view)}")
            context = browser.wait_for(DRAWN.format(view), in_frame=True)
            if dark:
                browser.run("document.body.classList.add('dark-mode')")
                browser.wait_for("document.documentElement.className === 'dark'", in_frame=True)
            assert (lightness(browser, context) < 64) == dark
            if view == "compare":
                assert "bytes read" in browser.evaluate(COMPARED, context)
            if view in CHARTS:
                browser.wait_for(f"{CHART_COUNT} >= {CHARTS[view]}", in_frame=True)
            if view == "overview":
                assert f"({job.bytes_read:,} B)" in browser.evaluate(READ, context)
                assert f"({SAVES * CHECKPOINT_BYTES:,} B)" in browser.evaluate(WRITTEN, context)
            found[view] = violations(browser, context)

    assert {view: rules for view, rules in found.items() if rules} == {}
    assert browser.faults == []


def test_every_view_of_the_report_is_drawn(job, before, browser, dark, tmp_path):
    write_report(Source(job.session), tmp_path / "report.html", compare=Source(before.session))
    found = {}
    for view in (*VIEWS, "compare"):
        browser.go(f"{(tmp_path / 'report.html').as_uri()}#{view}")
        browser.wait_for(DRAWN.format(view))
        assert (lightness(browser, None) < 64) == dark
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
