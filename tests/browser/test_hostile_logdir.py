"""A logdir with sessions that nobody means well with, and TensorBoard's own data beside them."""

import json
import shutil
import urllib.error
import urllib.parse
import urllib.request
from types import SimpleNamespace

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("tensorboard")

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from tests.browser.chromium import CHROMIUM, browser_page
from tests.browser.server import tensorboard
from tests.browser.tab import Tab
from tests.made_up_session import job_of, write_session

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.timeout(900),
]
RUN = "<img src=x onerror=document.title='run'> & ..%2f"
FILE = "/data/</script><script>document.title='run'</script><img src=x onerror=alert(1)>.jpg"
DAMAGED = "2019_01_01_00_00_00"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A run and a file whose names are markup, a session of rubbish, and scalars."""
    logdir = tmp_path_factory.mktemp("logs")
    session = write_session(logdir / RUN, job_of([(0, 1000, 1, "pread", 0, 7)], [FILE], [7]))
    damaged = session.path.parent / DAMAGED
    shutil.copytree(session.path, damaged)
    for table in damaged.glob("*.parquet"):
        table.write_bytes(b"PAR1" + bytes(range(256)) * 20 + b"PAR1")
    writer = EventFileWriter(str(logdir))
    for step in range(5):
        value = Summary.Value(tag="loss", simple_value=step * 0.5)
        writer.add_event(Event(step=step, wall_time=step, summary=Summary(value=[value])))
    writer.close()
    with tensorboard(logdir) as url:
        yield SimpleNamespace(url=url, id=f"{RUN}/{session.path.name}", damaged=f"{RUN}/{DAMAGED}")


def test_names_that_are_markup_are_shown_as_they_are(hostile):
    with browser_page(hostile.url) as watched:
        tab = Tab(watched).open(hostile.url, view="files", session=hostile.id)

        assert tab.rows("files").locator("td").first.inner_text() == FILE
        button = tab.frame.locator(".session")
        assert button.inner_text().startswith(RUN)
        button.click()
        assert tab.frame.get_by_role("dialog").locator("[aria-current]").inner_text().startswith(RUN)
        watched.page.keyboard.press("Escape")
        tab.frame.locator("[data-key='files'] a").first.click()
        tab.frame.locator("[data-key='offsets'] .main-svg").first.wait_for()
        assert tab.text(".text-panel p") == FILE
        assert watched.page.title() == "TensorBoard"
        assert tab.frame.locator("img").count() == 0
        watched.check()


@pytest.mark.long
def test_other_tabs_do_not_notice(hostile):
    # GIVEN every kind of request that fails
    asked = f"{hostile.url}/data/plugin/tfdarshan"
    for route in (
        f"view?session={urllib.parse.quote(hostile.damaged, '')}",
        "view?session=../../etc/passwd",
        "files?session=x&limit=-1",
        "file?session=%00&path=/etc/passwd",
        "view",
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{asked}/{route}")
        error = json.loads(refused.value.read())["error"]
        assert 400 <= refused.value.code < 500
        assert error["message"]
        assert error["hint"]

    # WHEN TensorBoard is asked for its own
    def answer(path):
        with urllib.request.urlopen(f"{hostile.url}/data/{path}") as response:
            return json.loads(response.read())

    # THEN it lists its tabs, and gives its scalars
    listing = answer("plugins_listing")
    assert listing["scalars"]["enabled"]
    assert listing["tfdarshan"]["tab_name"] == "I/O"
    points = answer("plugin/scalars/scalars?run=.&tag=loss")
    assert [point[1:] for point in points] == [[step, step * 0.5] for step in range(5)]
    # and draws them
    with browser_page(hostile.url) as watched:
        watched.page.goto(f"{hostile.url}/#timeseries")
        watched.page.get_by_text("loss", exact=True).first.wait_for()
