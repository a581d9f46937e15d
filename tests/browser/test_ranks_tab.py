"""Jobs of several ranks and processes of several roles in the tab: rows and filters, in a real browser."""

import os
import urllib.parse
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("tensorboard")

from tests.browser.chromium import CHROMIUM
from tests.browser.layout import OVERLAPS
from tests.browser.picture import plain_folder, with_few_colours
from tests.browser.server import tensorboard
from tests.joint_training import SESSION, MadeUpRank, joint_training
from tests.role_session import role_session

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.timeout(900),
]
RANKS = 8
SLOW = 5
# The bytes that each row of the timeline moved, and whether these rows are there.
ROWS = """() => {
  const chart = document.querySelector("[data-key='activity'] .chart");
  const { y, z } = (chart && chart.data || [{ y: [], z: [] }])[0];
  return y.map((name, place) => [name, z[place].reduce((sum, value) => sum + (value || 0), 0)]);
}"""
HAS_ROWS = f"(names) => JSON.stringify(({ROWS})().map(([name]) => name).sort()) === JSON.stringify(names)"


@pytest.fixture(scope="module")
def logdir():
    with plain_folder("job-of-ranks") as folder:
        yield folder


@pytest.fixture(scope="module")
def server(logdir):
    """A TensorBoard with a job of eight ranks on two hosts, one slow, and one with a process of each role."""
    # Its clocks are an hour ahead: the other session was not at the same time.
    ranks = [
        MadeUpRank(
            [[48 * rank + 2 * step, 48 * rank + 2 * step + 1] for step in range(24)],
            host=f"node-{rank // 4}",
            times=4.0 if rank == SLOW else 1.0,
            clock_ns=3_600 * 10**9,
        )
        for rank in range(RANKS)
    ]
    joint_training(logdir, ranks)
    role_session(logdir)
    with tensorboard(logdir) as url:
        yield url


def rows(tab, *names):
    """Wait for these rows, and return what each moved."""
    frame = tab.page.frames[1]
    frame.wait_for_function(HAS_ROWS, arg=sorted(names))
    return dict(frame.evaluate(ROWS))


def choose(tab, name, label):
    tab.frame.get_by_label(name, exact=True).select_option(label=label)


def groupings(tab):
    return tab.frame.get_by_label("Rows", exact=True).locator("option").all_inner_texts()


def test_a_jobs_timeline_has_a_row_for_each_rank(tab, server):
    # WHEN
    tab.open(server, view="timeline", session=f"./{SESSION}")

    # THEN all have moved as much, and the slow rank is one of them
    found = rows(tab, *(f"rank {rank} (node-{rank // 4})" for rank in range(RANKS)))
    assert max(found.values()) == pytest.approx(min(found.values()), rel=0.01)
    assert groupings(tab)[:2] == ["rank", "thread"]


def test_a_rank_is_picked_and_shared_by_a_link(tab, server):
    tab.open(server, view="timeline", session=f"./{SESSION}")

    # WHEN
    choose(tab, "Process", f"rank {SLOW} (node-1)")

    # THEN
    choose(tab, "Rows", "process")
    rows(tab, f"rank {SLOW}")
    assert f"rank:{SLOW}" in urllib.parse.unquote(tab.address())
    assert "rank" not in groupings(tab)
    # ... and the overview is of it alone
    tab.go("Overview")
    assert tab.frame.locator("[data-label='Read'] .value").get_attribute("title").count("(4,800,000 B)") == 1


def test_processes_are_picked_and_grouped_by_role(tab, server):
    tab.open(server, view="timeline", session="./2024_01_01_00_00_00", by="role")

    # THEN
    rows(tab, "main", "workers", "programs", "helpers")
    assert "rank" not in groupings(tab)

    # WHEN
    choose(tab, "Process", "all workers (2)")
    rows(tab, "workers")
    choose(tab, "Rows", "process")

    # THEN
    found = rows(tab, "worker 1", "worker 2")
    assert found["worker 2"] == pytest.approx(15 * found["worker 1"])


@pytest.mark.long
@pytest.mark.parametrize("view", ["overview", "timeline"])
def test_views_of_ranks_are_laid_out_without_overlap(tab, server, tmp_path, view):
    """With TFDARSHAN_SCREENSHOTS=docs/images the picture is kept there."""
    # WHEN
    tab.open(server, view=view, session=f"./{SESSION}")
    if view == "overview":
        tab.frame.locator(".verdict:not(.pending)").wait_for()

    # THEN
    tab.page.wait_for_timeout(500)
    assert tab.page.frames[1].evaluate(OVERLAPS) == {"over": False, "out": False, "cut": False}
    folder = Path(os.environ.get("TFDARSHAN_SCREENSHOTS", tmp_path)).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / f"ranks-{view}-light.png"
    tab.page.screenshot(path=picture)
    with_few_colours(picture)
