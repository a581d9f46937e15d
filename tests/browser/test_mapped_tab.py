"""A job that reads a mapped LMDB database from late storage, in the tab: the wait, the file and the fix."""

import os
from pathlib import Path

import numpy as np
import pytest

import tfdarshan

pytest.importorskip("playwright.sync_api")
pytest.importorskip("tensorboard")

from tests.browser.chromium import CHROMIUM, browser_page
from tests.browser.layout import OVERLAPS
from tests.browser.picture import plain_folder, with_few_colours
from tests.browser.server import tensorboard
from tests.browser.tab import Tab
from tests.integration.mapped.mapped_job import SLOW, found_in, mapped_job, records
from tests.integration.mapped.touched_files import ALL
from tests.integration.storage_probe.fuse_storage import make_server, needs_fuse, storage
from tfdarshan.commands import main

lmdb = pytest.importorskip("lmdb")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    needs_fuse,
    pytest.mark.long,
    pytest.mark.timeout(900),
]
STEPS = 120
# What each view says of the job.
SAID = {
    "overview": (
        "Mapped files (read by page faults, which are no calls)",
        "data.mdb",
    ),
    "steps": ("In page faults",),
    "timeline": ("Page faults on mapped files: threads in one, mean",),
    "files": ("Mapped files (read by page faults, which are no calls)", "data.mdb"),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Yield the logdir, the session and the fix of a loop that asks py-lmdb for records that lie anywhere."""
    top = tmp_path_factory.mktemp("mapped")
    server, (backing, keys) = make_server(top), records(lmdb, top / "backing")
    order = np.random.default_rng(2).permutation(len(keys))[: 2 * STEPS].reshape(STEPS, 2)
    with plain_folder("lmdb-job") as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in ALL.items():
            patch.setenv(name, value)
        with storage(server, backing, folder / "data", **SLOW) as shown:

            def batches():
                # Within the session: of what was mapped before, FUSE does not tell what came in.
                with (
                    lmdb.open(str(shown), readonly=True, lock=False) as database,
                    database.begin() as reading,
                ):
                    yield from ([reading.get(keys[number]) for number in row] for row in order)

            session, _ = mapped_job(folder / "logs", batches(), steps=STEPS)
        with storage(server, backing, folder / "data", **SLOW):
            assert main(["probe", "--logdir", str(folder / "logs")]) == 0
        found = found_in(tfdarshan.open_session(session.path))
        yield folder / "logs", session.path.name, found["mapped_wait"].fix


@pytest.mark.parametrize("view", SAID)
def test_a_mapped_job_is_shown_with_its_page_faults(capsys, recorded, tmp_path, view):
    """With TFDARSHAN_SCREENSHOTS=docs/images the picture is kept there."""
    logdir, session, fix = recorded
    with tensorboard(logdir) as url, browser_page(url) as watched:
        tab = Tab(watched)

        # WHEN
        tab.open(url, view=view, session=f"./{session}")
        if view == "overview":
            tab.frame.locator(".verdict:not(.pending)").wait_for()

        # THEN
        for words in (*SAID[view], *((fix.line,) if view == "overview" else ())):
            tab.frame.get_by_text(words).filter(visible=True).first.wait_for()
        if view == "timeline":
            tab.frame.locator("[data-key='faults']").scroll_into_view_if_needed()
        watched.page.wait_for_timeout(500)
        assert watched.page.frames[1].evaluate(OVERLAPS) == {"over": False, "out": False, "cut": False}
        folder = Path(os.environ.get("TFDARSHAN_SCREENSHOTS", tmp_path)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        picture = folder / f"mapped-{view}-light.png"
        watched.page.screenshot(path=picture)
        with_few_colours(picture)
        watched.page.goto("about:blank")
        watched.check()
