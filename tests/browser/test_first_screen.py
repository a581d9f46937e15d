"""Why, and what to do, are seen in TensorBoard's page of 1280 x 800 without scrolling, whatever the job."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("tensorboard")

from tests.browser.chromium import CHROMIUM
from tests.browser.server import tensorboard
from tests.unit.sentences.sessions import SESSIONS
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import open_session

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.timeout(900),
]
WIDTH, HEIGHT = 1280, 800
# Jobs with fixes of one line, of a line in place of another, and of several commands.
JOBS = (
    "fits in memory",
    "slow storage",
    "many small files",
    "decoding",
    "random records",
    "synced one by one",
)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    top = tmp_path_factory.mktemp("jobs")
    for name in JOBS:
        SESSIONS[name](top / name.replace(" ", "-"))
    return top


@pytest.fixture(scope="module")
def server(logdir):
    with tensorboard(logdir) as url:
        yield url


@pytest.mark.parametrize("name", JOBS)
def test_verdict_gain_and_fix_are_on_the_first_screen(tab, server, logdir, name):
    # GIVEN
    run = name.replace(" ", "-")
    session = open_session(logdir / run)
    named = diagnose(session).named

    # WHEN
    tab.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    tab.open(server, session=f"{run}/{session.path.name}")
    headline = tab.frame.locator(".verdict:not(.pending)")
    headline.wait_for(timeout=120_000)

    # THEN all of it is within the window, and none of it is cut at its right
    lines = [".change-lines pre", ".copy"] if named and named.fix.line else []
    parts = [".why", *([".gain-number strong"] if named else []), *lines]
    for part in parts:
        box = headline.locator(part).first.bounding_box()
        assert box["y"] >= 0, part
        assert box["y"] + box["height"] <= HEIGHT, part
        assert box["x"] + box["width"] <= WIDTH, part
    if named is not None:
        assert headline.locator(".gain-number strong").inner_text() == f"{named.gain.speedup:.2f}x"
    if lines:
        shown = headline.locator(".change-lines").first.inner_text().replace("+ ", "")
        for line in named.fix.line.splitlines():
            assert line in shown
    assert tab.page.evaluate("window.scrollY") == 0
    assert tab.page.frames[1].evaluate("window.scrollY") == 0
