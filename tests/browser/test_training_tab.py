"""Steps, the burst buffer's ledger and Staging of a real training run, in the tab and in the report."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.later_tensorflow import needs

pytest.importorskip("playwright.sync_api")
pytest.importorskip("tensorboard")

import tfdarshan
from tests.browser.chromium import CHROMIUM, browser_page
from tests.browser.server import tensorboard
from tests.lean_tensorflow import WITHOUT_KERAS
from tfdarshan.checkpoint import read_ledger
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.views.staging_view import FAST
from tfdarshan.reports.views.steps_view import PAGE_ROWS
from tfdarshan.reports.views.view_source import Source
from tfdarshan.staging.advice import decide
from tfdarshan.staging.assumed_tier import assumed_tier
from tfdarshan.staging.question import Question
from tfdarshan.units import human_bytes, human_seconds

needs("tensorflow")

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What the run did, and its session."""
    logs, folder = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("run")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.browser.training_run", str(logs), str(folder)],
        cwd=Path(__file__).parents[2], env={**os.environ, **WITHOUT_KERAS},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    did = json.loads(ran.stdout.splitlines()[-1])
    return SimpleNamespace(**did, session=tfdarshan.open_session(logs), logdir=logs)


@pytest.fixture(scope="module")
def server(run):
    with tensorboard(run.logdir) as url:
        yield url


def exact(tab, label):
    return tab.frame.locator(f"[data-label='{label}'] .value").get_attribute("title")


def sums(tab, key):
    """Return what each trace of a chart adds up to, by its name."""
    return tab.frame.locator(f"[data-key='{key}'] .chart").evaluate(
        "chart => Object.fromEntries(chart.data.map(t => [t.name, t.y.reduce((sum, y) => sum + y, 0)]))"
    )


def advised(run, room_bytes, tier="local", *, everything=False):
    """Return the advisor's decision, asked apart from the view; what the steps waited it reads itself."""
    question = Question(fast=FAST, room_bytes=room_bytes, everything=everything)
    return decide([run.session], question, assumed_tier(tier, readers(run)))


def readers(run):
    from tfdarshan.staging.run_facts import run_facts

    return run_facts([run.session]).readers


def test_steps_show_the_recorded_steps(tab, server, run):
    # WHEN
    tab.open(server, view="steps")

    # THEN there are as many as the loop took, and each waited as long as it was told
    steps = run.session.steps
    lasted = steps["end_ns"] - steps["start_ns"]
    assert tab.text("[data-label='Steps'] .value") == f"{len(run.batch_bytes):,}" == f"{len(steps):,}"
    assert exact(tab, "Input wait") == f"{steps['input_wait_ns'].sum() / 1e9:.9f} s"
    assert exact(tab, "I/O within steps") == f"{steps['io_ns'].sum() / 1e9:.9f} s"
    drawn = sums(tab, "steps")
    assert drawn["input wait"] == pytest.approx(steps["input_wait_ns"].sum() / 1e9, abs=1e-4)
    compute_s = (lasted - steps["input_wait_ns"]).sum() / 1e9
    assert drawn["compute and the rest"] == pytest.approx(compute_s, abs=1e-4)
    # and the slowest comes first
    slowest = lasted.idxmax()
    first = tab.rows("step-table").first.locator("td").all_inner_texts()
    assert first[:2] == [str(steps["step"][slowest]), human_seconds(lasted[slowest] / 1e9)]
    assert tab.rows("step-table").count() == min(len(steps), PAGE_ROWS)
    # and the others are a page away
    tab.frame.get_by_role("button", name="Next").click()
    tab.frame.locator("[data-key='step-table'] .note", has_text=f"{PAGE_ROWS + 1} to").wait_for()
    order = lasted.sort_values(ascending=False, kind="stable").index
    first = tab.rows("step-table").first.locator("td").first.inner_text()
    assert first == str(steps["step"][order[PAGE_ROWS]])
    assert f"p.tfdarshan.step_offset={PAGE_ROWS}" in tab.address()


@pytest.mark.parametrize("view", ["overview", "steps", "compare"])
def test_every_view_says_that_storage_was_emulated_and_shows_none_below_it(tab, server, view):
    tab.open(server, view=view)

    said = tab.text("#banner section:first-child")
    assert "as if hdd" in said
    assert "Times are simulated, not this storage's" in said
    for storage in ("[data-key='step-storage']", "[data-key='storage']", "[data-label='From storage']"):
        assert view == "compare" or tab.frame.locator(storage).count() == 0


def test_checkpoints_show_the_burst_buffers_ledger(tab, server, run):
    # GIVEN the ledger
    (path,) = run.session.path.glob("*.checkpoints.jsonl")
    ledger = read_ledger(path)
    assert [row.checkpoint for row in ledger] == run.saves
    origin_s = run.session.meta[0]["origin_realtime_ns"] / 1e9

    # WHEN
    tab.open(server, view="checkpoints")

    # THEN each checkpoint's row has what the ledger says
    rows = [row.locator("td") for row in tab.rows("ledger-table").all()]
    for cells, row in zip(rows, ledger, strict=True):
        texts = cells.all_inner_texts()
        assert texts[:2] == [row.checkpoint, str(row.step)]
        assert texts[3:5] == [human_seconds(row.blocked_s), human_seconds(row.waited_s)]
        assert cells.nth(5).get_attribute("title").endswith(f"({row.size_bytes:,} B)")
        assert texts[6] == human_seconds(row.fast_durable_at - origin_s)
        assert texts[7] == human_seconds(row.slow_durable_at - origin_s)
        assert texts[9].split()[0] == str(row.backlog_checkpoints)
        assert texts[10] == "durable on both tiers"
    blocked_s = sum(row.blocked_s for row in ledger)
    assert exact(tab, "Training waited") == f"{blocked_s:.9f} s"
    # and its bar is as long as it took
    bars = tab.frame.locator("[data-key='ledger'] .chart").evaluate(
        "chart => Object.fromEntries(chart.data.map(t => [t.name, t.x.reduce((sum, x) => sum + x, 0)]))"
    )
    assert bars["training waits"] == pytest.approx(blocked_s, abs=1e-4)
    assert sum(bars.values()) - blocked_s == pytest.approx(
        sum(row.slow_durable_at - row.saved_at for row in ledger), abs=1e-4
    )
    assert f"Saving every {ledger[1].step - ledger[0].step} steps costs" in tab.text("[data-key='ledger']")


def test_staging_shows_the_advisors_plan(tab, server, run):
    # WHEN the view chooses the room itself
    tab.open(server, view="staging")

    # THEN it is the advice for all files
    decision = advised(run, 1 << 62)
    chosen = decision.advice.chosen
    assert tab.text("[data-label='Files to copy'] .value") == f"{chosen.files:,}"
    assert exact(tab, "Bytes to copy").endswith(f"({chosen.bytes:,} B)")
    assert exact(tab, "Saved an epoch") == f"{chosen.expected.saved_s:.9f} s"
    # and what goes where adds up to it, hot files first
    columns = [row.locator("td").all_inner_texts() for row in tab.rows("staging-folders").all()]
    assert sum(int(row[1]) for row in columns) == chosen.files
    # ... in the folders that something goes from
    inside = [path for path in run.files if str(Path(path).parent) in {row[0] for row in columns}]
    assert sum(int(row[1]) + int(row[2]) for row in columns) == len(inside) > 0, columns
    listed = tab.rows("staging-files").locator("td:first-child").all_inner_texts()
    reads = {path: run.order.count(path) for path in listed}
    assert set(reads.values()) == {max(run.order.count(path) for path in run.files)}
    rules = [row.locator("td").first.inner_text() for row in tab.rows("staging-rules").all()]
    assert rules == ["this advice", "smallest first", "largest first"]


def test_the_slider_moves_by_keyboard_and_asks_for_that_room(tab, server, run):
    # GIVEN
    tab.open(server, view="staging")
    slider = tab.frame.get_by_role("slider", name="Room on the fast tier")
    marker = "() => document.querySelector(\"[data-key='capacity'] .chart\").data[0]"
    before = tab.page.frames[1].evaluate(marker)
    said = tab.text("[data-key='capacity'] output")

    # WHEN it is moved to its beginning by keys
    slider.focus()
    tab.page.keyboard.press("Home")
    curve = advised(run, 1 << 62).advice.curve
    tab.frame.locator(
        "[data-key='capacity'] output", has_text=f"{human_bytes(curve[0].bytes)} for"
    ).wait_for()
    tab.page.wait_for_function(
        "bytes => location.hash.endsWith(`capacity=${bytes}`)", arg=curve[0].room_bytes
    )
    tab.frame.locator("[data-label='Files to copy'] .value", has_text=re.compile("^1$")).wait_for()

    # THEN the marker and the words are those of one file, which is not worth it
    assert tab.page.frames[1].evaluate(marker)["x"] == [curve[0].bytes] != before["x"]
    assert tab.text("[data-key='capacity'] output") != said
    assert "Staging will not help: what fits into" in tab.text("#view")
    # and without being focused again it goes to its end
    tab.drawn("staging")
    tab.page.keyboard.press("End")
    tab.page.wait_for_function(
        "bytes => location.hash.endsWith(`capacity=${bytes}`)", arg=curve[-1].room_bytes
    )
    files = f"{advised(run, curve[-1].room_bytes, everything=True).advice.chosen.files:,}"
    tab.frame.locator("[data-label='Files to copy'] .value", has_text=files).wait_for()
    # and a link opens the same in a new page
    with tab.again("staging") as again:
        assert again.text("[data-label='Files to copy'] .value") == files


def test_another_assumed_tier_gives_another_plan(tab, server, run):
    tab.open(server, view="staging")

    tab.frame.get_by_label("Fast tier, assumed").select_option("ssd")
    tab.frame.locator("[data-key='staging-tiers']", has_text="SATA SSD").wait_for()

    assert "p.tfdarshan.tier=ssd" in tab.address()
    saved_s = advised(run, 1 << 62, "ssd").advice.chosen.expected.saved_s
    assert exact(tab, "Saved an epoch") == f"{saved_s:.9f} s"


@pytest.mark.long
def test_the_report_has_them_with_a_slider_that_needs_no_server(run, tmp_path):
    # GIVEN
    write_report(Source(run.session), tmp_path / "report.html")
    with browser_page("file://") as watched:
        page = watched.page
        page.goto(f"{(tmp_path / 'report.html').as_uri()}#staging")
        page.locator("#view[data-drawn='staging']").wait_for()
        before = page.locator("[data-key='capacity'] output").inner_text()

        # WHEN it is moved from all files to the first of them
        page.get_by_role("slider").focus()
        page.keyboard.press("Home")

        # THEN
        curve = advised(run, 1 << 62).advice.curve
        said = page.locator("[data-key='capacity'] output").inner_text()
        assert said.startswith(human_bytes(curve[0].bytes))
        assert before != page.locator("[data-key='capacity'] output").inner_text()
        at = page.evaluate("document.querySelector(\"[data-key='capacity'] .chart\").data[0].x[0]")
        assert at == curve[0].bytes
        # and dark mode leaves it there
        page.get_by_role("button", name="Dark").click()
        page.wait_for_function("document.querySelector('.chart')._fullLayout.paper_bgcolor === '#22262c'")
        at = page.evaluate("document.querySelector(\"[data-key='capacity'] .chart\").data[0].x[0]")
        assert at == curve[0].bytes
        page.goto(f"{(tmp_path / 'report.html').as_uri()}#checkpoints")
        page.locator("#view[data-drawn='checkpoints']").wait_for()
        assert page.locator("[data-key='ledger-table'] tbody tr").count() == len(run.saves)
        watched.check()
