"""The I/O tab in a real browser, served by a real TensorBoard, with a recorded job."""

import json
import re
import shutil
import time
import urllib.request

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("tensorboard")

from tests.browser.chromium import CHROMIUM, browser_page
from tests.browser.job import CHECKPOINT_BYTES, EPOCHS, FILES, SAVES, record_job
from tests.browser.server import tensorboard
from tests.browser.tab import Tab
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.views.findings_view import said_by_headline
from tfdarshan.units import human_bytes

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.timeout(900),
]
CHARTS = {"overview": 3, "timeline": 2, "files": 1, "patterns": 5, "checkpoints": 1}


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return record_job(tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def logdir(job, tmp_path_factory):
    """The job's session, a copy in a run, and sessions in the states that people see."""
    logdir = job.session.path.parent.parent.parent
    sessions = job.session.path.parent
    copy = logdir / "run" / "plugins" / "tfdarshan" / "2020_01_01_00_00_00"
    shutil.copytree(job.session.path, copy)
    damaged = sessions / "2019_01_01_00_00_00"
    shutil.copytree(job.session.path, damaged)
    for table in damaged.glob("*.files.parquet"):
        table.write_bytes(b"PAR1 is all that is left")
    newer = sessions / "2018_01_01_00_00_00"
    shutil.copytree(job.session.path, newer)
    for meta in newer.glob("*.meta.json"):
        meta.write_text(json.dumps(json.loads(meta.read_text()) | {"schema_version": 99}))
    killed = sessions / "2017_01_01_00_00_00"
    killed.mkdir()
    marker = {
        "session": killed.name, "spool_directory": "/none", "host": "h", "pid": 1, "process_start": 1,
        "boot_id": "b", "pid_namespace": "n", "start_realtime_ns": 0, "options": {}, "notes": [],
        "versions": {},
    }  # fmt: skip
    (killed / "recording.json").write_text(json.dumps(marker))
    return logdir


@pytest.fixture(scope="module")
def server(logdir):
    with tensorboard(logdir) as url:
        yield url


@pytest.fixture
def own_tab(server):
    with browser_page(server) as watched:
        yield Tab(watched)
        watched.check()


def test_every_view_shows_the_sessions_numbers(tab, server, job):
    # WHEN the overview is opened
    tab.open(server)

    # THEN its numbers are those of the job
    calls = FILES * EPOCHS
    read = tab.frame.locator("[data-label='Read'] .value").get_attribute("title")
    assert f"({job.bytes_read:,} B)" in read
    written = tab.frame.locator("[data-label='Written'] .value").get_attribute("title")
    assert f"({SAVES * CHECKPOINT_BYTES:,} B)" in written
    assert tab.text("[data-label='Zero-length reads'] .value") == f"{calls:,}"
    assert tab.text("[data-label='Read again'] .value") == f"{EPOCHS:.2f}x"
    # and every view is drawn
    for view, charts in CHARTS.items():
        tab.go(view.capitalize())
        found = tab.frame.locator(".chart")
        assert (view, found.count()) == (view, charts)
        assert tab.frame.locator(".chart .main-svg").count() >= charts
    tab.go("Patterns")
    cells = tab.rows("operations").nth(1).locator("td").all_inner_texts()
    assert cells[:2] == ["reads", f"{2 * calls:,}"]
    tab.go("Checkpoints")
    assert tab.rows("burst-table").count() == SAVES
    assert "model-1.weights" in tab.rows("burst-table").first.inner_text()
    tab.go("Steps")
    assert tab.text(".text-panel p:nth-of-type(1)").startswith("This session has no steps")


def test_charts_of_whole_sessions_add_up_to_the_jobs_numbers(tab, server, job):
    # GIVEN what a chart's bars, or a heatmap's cells, add up to
    total = (
        """(chart, axis) => chart.data.flatMap(t => t[axis].flat()).reduce((sum, value) => sum + value, 0)"""
    )

    def added(key, axis):
        chart = tab.frame.locator(f"[data-key='{key}'] .chart")
        return chart.evaluate(f"chart => ({total})(chart, '{axis}')")

    # THEN the timeline has every byte and every call, by whatever it is divided
    calls = len(job.session.events)
    moved = job.bytes_read + SAVES * CHECKPOINT_BYTES
    for by in ("thread", "process", "directory", "operation"):
        for measure, expected in (("bandwidth", moved), ("operations", calls)):
            tab.open(server, view="timeline", by=by, measure=measure)
            tab.frame.locator("[data-key='activity'] .main-svg").first.wait_for()
            x = tab.frame.locator("[data-key='activity'] .chart").evaluate("chart => chart.data[0].x")
            part_s = (x[-1] - x[0]) / (len(x) - 1)
            assert added("activity", "z") * part_s == pytest.approx(expected, rel=1e-3)
    # and the patterns every access (weights are saved through stdio) and every file
    tab.open(server, view="patterns")
    assert added("access-sizes", "y") == 2 * FILES * EPOCHS
    assert added("pattern", "x") == 2 * FILES * EPOCHS
    assert added("file-sizes", "y") == FILES + SAVES
    # and the treemap all bytes
    tab.open(server, view="files")
    root = "chart => chart.data[0].values[chart.data[0].parents.indexOf('')]"
    moved = tab.frame.locator("[data-key='treemap'] .chart").evaluate(root)
    assert moved == job.bytes_read + SAVES * CHECKPOINT_BYTES


def test_the_next_page_has_the_next_files(tab, server, job):
    # GIVEN all files by name, 50 on a page
    tab.open(server, view="files", sort="path", order="ascending")
    names = sorted([*job.sizes, *job.session.files.query("STDIO_BYTES_WRITTEN > 0")["path"]])
    cells = tab.rows("files").locator("td:first-child")
    assert cells.all_inner_texts() == names[:50]
    assert tab.frame.get_by_role("button", name="Previous").is_disabled()

    # WHEN / THEN
    for first in (50, 100):
        tab.frame.get_by_role("button", name="Next").click()
        tab.frame.locator("[data-key='files'] .note", has_text=f"{first + 1:,} to {first + 50:,}").wait_for()
        assert cells.all_inner_texts() == names[first : first + 50]
    tab.frame.get_by_role("button", name="Previous").click()
    tab.frame.locator("[data-key='files'] .note", has_text="51 to 100").wait_for()
    assert cells.all_inner_texts() == names[50:100]
    assert "p.tfdarshan.offset=50" in tab.address()


def test_compared_sessions_show_both_numbers(own_tab, server, logdir, job, tmp_path):
    # GIVEN a job that read a third of the files
    (tmp_path / "job").mkdir()
    other = record_job(tmp_path / "logs", tmp_path / "job", files=FILES // 3)
    folder = logdir / "third" / "plugins" / "tfdarshan" / "2016_01_01_00_00_00"
    shutil.copytree(other.session.path, folder)
    time.sleep(3.5)

    # WHEN
    newest = f"./{job.session.path.name}"
    own_tab.open(server, view="compare", session=newest, other=f"third/{folder.name}")
    cells = [row.split("\t") for row in own_tab.rows("compare").all_inner_texts()]
    # name, first, second, noise, change
    rows = {name: [first, second, change] for name, first, second, _, change in cells}

    # THEN
    assert rows["zero-length reads"] == [f"{EPOCHS * n:,}" for n in (FILES // 3, FILES)] + ["+200.0 %"]
    assert rows["bytes read"][:2] == [human_bytes(other.bytes_read), human_bytes(job.bytes_read)]
    assert rows["bytes written"] == [human_bytes(SAVES * CHECKPOINT_BYTES)] * 2 + ["same"]
    # and the server's next list is without it
    shutil.rmtree(logdir / "third")
    time.sleep(3.5)


def test_the_overview_begins_with_the_verdict_and_its_findings(tab, server, job):
    # WHEN
    tab.open(server)
    tab.frame.locator("#findings[data-drawn]").wait_for(timeout=60_000)

    # THEN they are the session's
    expected = diagnose(job.session)
    sentence = expected.verdict.why or expected.verdict.sentence
    assert tab.text(".verdict p >> nth=0") == sentence
    cards = tab.frame.locator(".card")
    others = [finding for finding in expected.findings if not said_by_headline(finding, expected)]
    assert [cards.nth(n).get_attribute("data-name") for n in range(cards.count())] == [
        finding.name for finding in others
    ]
    # ... above everything else
    top = tab.frame.locator(".verdict").bounding_box()["y"]
    assert top < tab.frame.locator(".tiles").bounding_box()["y"]
    # ... and a click shows what to do; on a busy machine there may be nothing to say but the headline
    for finding in others[:1]:
        cards.first.locator("summary").click()
        assert finding.what in cards.first.inner_text()
    # ... and they are gone in another view, and back
    tab.go("Patterns")
    assert tab.frame.locator(".verdict").count() == 0
    tab.go("Overview")
    assert tab.text(".verdict p >> nth=0") == sentence


def test_another_session_to_compare_with_can_be_chosen(server, job):
    # GIVEN a comparison with the session before, which is damaged
    with browser_page(server) as watched:
        tab = Tab(watched).open(server, view="compare")
        assert "is damaged" in tab.text("#view")

        # WHEN
        tab.frame.get_by_role("button", name="Compare with").click()
        picker = tab.frame.get_by_role("dialog", name="Compare with")
        names = [row.split("\n")[0] for row in picker.locator("tbody button").all_inner_texts()]
        stamps = [name.rpartition(" ")[2] for name in names]
        assert stamps == sorted(stamps, reverse=True)
        # ... and is found by its name, the newest first
        picker.get_by_role("searchbox").fill("2020_01_01")
        picker.get_by_role("button", name="run: 2020_01_01_00_00_00").click()

        # THEN both are shown, and are the same
        tab.frame.locator("[data-key='ratios'] .main-svg").first.wait_for()
        assert {row.split()[-1] for row in tab.rows("compare").all_inner_texts()} <= {"same", "-"}
        assert "p.tfdarshan.other=run%2F2020_01_01_00_00_00" in tab.address()


def test_zoom_by_mouse_down_to_single_calls_and_a_link_to_it(tab, server, job):
    # GIVEN the timeline
    tab.open(server, view="timeline", by="thread")
    plot = tab.frame.locator("[data-key='activity'] .nsewdrag")

    # WHEN a part of it is dragged over, again and again
    for _ in range(12):
        if "calls in" in tab.text("[data-key='activity'] h2") and "By" not in tab.text(
            "[data-key='activity'] h2"
        ):
            break
        box = plot.bounding_box()
        middle = box["y"] + box["height"] / 2
        before = tab.address()
        tab.page.mouse.move(box["x"] + 2, middle)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + box["width"] * 0.2, middle, steps=4)
        tab.page.mouse.move(box["x"] + box["width"] * 0.3, middle, steps=4)
        tab.page.mouse.up()
        tab.page.wait_for_function("before => location.hash !== before", arg=before)
        tab.page.wait_for_timeout(200)
        tab.drawn("timeline")

    # THEN there is one bar per call of the window
    address = tab.address()
    start, end = (
        round(float(re.search(rf"p\.tfdarshan\.{name}=([0-9.]+)", address)[1]) * 1e9)
        for name in ("start", "end")
    )
    events = job.session.events
    expected = int(((events["start_ns"] < end) & (events["end_ns"] >= start)).sum())
    title = tab.text("[data-key='activity'] h2")
    assert title.startswith(f"{expected:,} call")
    bars = tab.frame.locator("[data-key='activity'] .chart").evaluate(
        "chart => chart.data.reduce((sum, trace) => sum + trace.x.length, 0)"
    )
    assert bars == expected
    # and the address opens the same in a new page
    with tab.again("timeline") as again:
        assert again.text("[data-key='activity'] h2") == title


def test_files_are_searched_sorted_and_cut_to_pages(tab, server, job):
    tab.open(server, view="files")
    assert tab.frame.locator(".controls .note").inner_text() == f"{FILES + SAVES:,} files match"

    # WHEN one looks for a folder and turns the page
    search = tab.frame.get_by_label("Search files")
    search.fill("class-3/")
    search.press("Enter")
    mine = sorted(path for path in job.sizes if "class-3/" in path)
    note = tab.frame.locator(".controls .note", has_text=f"{len(mine):,} files match")
    note.wait_for()
    tab.frame.locator("[data-key='files'] th button", has_text="path").click()
    tab.frame.locator("[data-key='files'] th button", has_text="path").click()
    tab.page.wait_for_function("location.hash.includes('order=ascending')")
    tab.page.wait_for_timeout(300)
    tab.drawn("files")

    # THEN the rows are these files in order, 50 at a time
    shown = tab.rows("files").locator("td:first-child").all_inner_texts()
    assert shown == mine[:50]
    assert tab.frame.get_by_role("button", name="Next").is_disabled() == (len(mine) <= 50)
    # and a file has its own page
    tab.frame.locator("[data-key='files'] a").first.click()
    tab.frame.locator("[data-key='offsets'] .main-svg").first.wait_for()
    assert tab.text(".text-panel p") == mine[0]
    assert tab.text("[data-label='Reads'] .value") == str(2 * EPOCHS)


def test_a_session_is_picked_by_its_verdict(server, logdir):
    with browser_page(server) as watched:
        tab = Tab(watched).open(server, session="./2019_01_01_00_00_00")
        button = tab.frame.locator(".session")

        # WHEN the list is opened
        button.click()
        search = tab.frame.get_by_label("Search sessions")
        assert search.evaluate("field => document.activeElement === field")

        # THEN each session has its verdict once it was looked at; those of one time are together
        note = tab.frame.locator(".picker > .note")
        note.filter(has_text="those that lose most first").wait_for()
        tab.frame.locator(".picker tr", has_text="2017_01_01").get_by_text("interrupted").wait_for()
        tab.frame.locator(".picker tr", has_text="run: 2020_01_01").get_by_text("cannot tell").wait_for()
        assert "sessions at the same time" in tab.text(".picker tbody")
        # and is found by its name or its verdict, by keys alone
        search.fill("interrupted")
        assert tab.frame.locator(".picker [data-id]").all_inner_texts() == ["2017_01_01_00_00_00"]
        search.fill("run: 2020")
        watched.page.keyboard.press("ArrowDown")
        watched.page.keyboard.press("Enter")
        tab.frame.locator("[data-label='Calls']").wait_for()
        assert "session=run%2F2020_01_01_00_00_00" in tab.address()
        assert button.inner_text() == "run: 2020_01_01_00_00_00"
        assert tab.frame.get_by_role("dialog").count() == 0
        # and Escape closes it
        button.click()
        watched.page.keyboard.press("Escape")
        assert tab.frame.get_by_role("dialog").count() == 0
        assert button.evaluate("part => document.activeElement === part")
        assert [fault for fault in watched.faults if "status of 422" not in fault] == []


def test_a_page_of_steps_or_files_leaves_the_charts_alone(tab, server, job):
    tab.open(server, view="files")
    tab.page.frames[1].evaluate("document.querySelector('.chart').dataset.mine = 'yes'")

    next_page = tab.frame.get_by_role("button", name="Next")
    next_page.focus()
    tab.page.keyboard.press("Enter")
    tab.frame.locator("[data-key='files'] .note", has_text="51 to 100").wait_for()

    assert tab.frame.locator("[data-mine='yes']").count() == 1
    assert next_page.evaluate("part => document.activeElement === part")
    head = tab.frame.locator("[data-key='files'] th", has_text="reads").first
    head.locator("button").click()
    tab.frame.locator("[data-key='files'] th[aria-sort='descending']", has_text="reads").wait_for()
    # and a link opens that page
    with tab.again("files") as again:
        assert again.rows("files").all_inner_texts() == tab.rows("files").all_inner_texts()


def test_charts_of_files_follow_the_search(tab, server, job):
    tab.open(server, view="files", search="class-3/")

    mine = sum(size for path, size in job.sizes.items() if "class-3/" in path) * EPOCHS
    (root, *_) = tab.frame.locator("[data-key='treemap'] .chart").evaluate("chart => chart.data[0].values")
    assert root == mine
    assert tab.rows("folders").count() == 1


def test_files_are_found_while_one_types(tab, server, job):
    tab.open(server, view="files")
    search = tab.frame.get_by_label("Search files")

    # WHEN one types, without a key that ends it
    search.press_sequentially("class-3/", delay=120)

    # THEN the files are there, above the charts, and the field is still being typed into
    mine = [path for path in job.sizes if "class-3/" in path]
    tab.frame.locator(".controls .note", has_text=f"{len(mine):,} files match").wait_for()
    tab.page.wait_for_function("location.hash.includes('search=class-3%2F')")
    tab.drawn("files")
    assert search.evaluate("field => document.activeElement === field")
    first = tab.frame.locator("#view > section").first
    assert first.get_attribute("data-key") == "files"
    search.press_sequentially("no such file", delay=20)
    tab.frame.locator(".controls .note", has_text="0 files match").wait_for()
    assert search.input_value() == "class-3/no such file"


def test_going_back_undoes_a_zoom_and_a_view(tab, server):
    # GIVEN a timeline that was zoomed into, and a file that was looked at from there
    tab.open(server, view="timeline")
    whole = tab.text("[data-key='activity'] h2")
    part = "{'xaxis.range[0]': 0.01, 'xaxis.range[1]': 0.02}"
    chart = "document.querySelector('[data-key=activity] .chart')"
    tab.page.frames[1].evaluate(f"Plotly.relayout({chart}, {part})")
    tab.page.wait_for_function("location.hash.includes('p.tfdarshan.end=')")
    tab.drawn("timeline")
    tab.go("Files")

    # WHEN one goes back, and back again
    tab.page.go_back()
    tab.drawn("timeline")
    assert "p.tfdarshan.end=" in tab.address()
    tab.page.go_back()
    tab.page.wait_for_function("!location.hash.includes('p.tfdarshan.end=')")
    tab.drawn("timeline")

    # THEN it is the whole session again
    tab.frame.locator("[data-key='activity'] h2", has_text=whole).wait_for()


def test_a_comparison_is_swapped(tab, server, job):
    tab.open(server, view="compare", other="run/2020_01_01_00_00_00")
    names = tab.frame.locator("[data-key='compare'] th").all_inner_texts()[1:3]

    tab.frame.get_by_role("button", name="Swap").click()

    tab.page.wait_for_function("location.hash.includes('session=run%2F2020_01_01_00_00_00')")
    tab.frame.locator("[data-key='compare'] th", has_text=names[1]).first.wait_for()
    tab.drawn("compare")
    assert tab.frame.locator("[data-key='compare'] th").all_inner_texts()[1:3] == names[::-1]


def test_ticks_have_a_blank_before_their_unit(tab, server):
    for view in ("overview", "timeline", "files", "patterns", "checkpoints"):
        tab.open(server, view=view)
        tab.frame.locator(".main-svg").first.wait_for()
        ticks = tab.frame.locator(".xtick text, .ytick text, .cbaxis text").all_text_contents()
        assert not [tick for tick in ticks if re.search(r"\d[kMGT]?(B|B/s|s)$", tick)], ticks
        if view == "timeline":
            assert [tick for tick in ticks if re.search(r"\d [kMGT]?B/s$", tick)]


def test_the_tab_has_a_language_a_title_and_a_heading(tab, server, job):
    tab.open(server)
    frame = tab.page.frames[1]

    assert frame.evaluate("document.documentElement.lang") == "en"
    assert frame.evaluate("document.title") == f"Overview - {job.session.path.name} - file I/O, by tfdarshan"
    tab.go("Patterns")
    assert frame.evaluate("document.title").startswith(f"Patterns - {job.session.path.name} - ")
    assert tab.frame.locator("h1").all_inner_texts() == ["I/O"]


def test_charts_and_tables_have_names_that_are_read_out(tab, server):
    tab.open(server)
    for view in ("Overview", "Patterns", "Files"):
        if view != "Overview":
            tab.go(view)
        tab.frame.locator(".chart[role=group]").first.wait_for()
        tab.frame.locator(".scroll > table").first.wait_for()
        for shown in (".chart[role=group]", ".scroll > table"):
            names = [one.get_attribute("aria-label") for one in tab.frame.locator(shown).all()]

            # Each is there, and no two of one view have the same.
            assert all(names), view
            assert len(set(names)) == len(names), view


def test_tensorboards_reload_lists_new_sessions(own_tab, server, logdir, job):
    # GIVEN the open tab, and a session that is written then
    tab = own_tab.open(server)
    tab.frame.locator(".session").click()
    before = tab.frame.locator(".picker [data-id]").count()
    added = logdir / "later" / "plugins" / "tfdarshan" / "2021_01_01_00_00_00"
    shutil.copytree(job.session.path, added)
    time.sleep(3.5)

    # WHEN
    tab.page.locator("app-header-reload button").click()

    # THEN
    tab.frame.locator(".picker [data-id='later/2021_01_01_00_00_00']").wait_for(state="attached")
    assert tab.frame.locator(".picker [data-id]").count() == before + 1
    shutil.rmtree(added)


def test_dark_mode_follows_tensorboards(own_tab, server):
    tab = own_tab.open(server)
    paper = "() => getComputedStyle(document.querySelector('.panel.chart-panel')).backgroundColor"
    frame = tab.page.frames[1]
    assert frame.evaluate(paper) == "rgb(255, 255, 255)"

    tab.page.evaluate("document.body.classList.add('dark-mode')")

    frame.wait_for_function("document.querySelector('.chart')._fullLayout.paper_bgcolor === '#22262c'")
    assert frame.evaluate(paper) == "rgb(34, 38, 44)"


def test_sessions_that_cannot_be_shown_say_why(server):
    with browser_page(server) as watched:
        for session, said in (
            ("./2019_01_01_00_00_00", "files.parquet is damaged"),
            ("./2018_01_01_00_00_00", "has schema version 99"),
            ("./2017_01_01_00_00_00", "tfdarshan recover"),
            ("./2000_01_01_00_00_00", "not in this logdir"),
        ):
            assert said in Tab(watched).open(server, session=session).text("#view")
        assert [fault for fault in watched.faults if "status of 422" not in fault] == []


def test_a_recording_is_shown_while_it_grows(logdir, server, own_tab, tmp_path):
    import tfdarshan

    # GIVEN a session that records, and has read a file 500 times
    (tmp_path / "data").write_bytes(bytes(1000))
    with tfdarshan.profile(logdir, spool_dir=tmp_path) as recorded:
        for _ in range(500):
            (tmp_path / "data").read_bytes()
        name = recorded.path.name
        time.sleep(3.5)

        # WHEN / THEN
        tab = own_tab.open(server, session=f"./{name}")
        tab.frame.get_by_role("heading", name="Recording now").wait_for()
        calls = int(re.search(r"So far ([\d,]+) calls", tab.text("#view"))[1].replace(",", ""))
        assert calls >= 1500
    # and once it has stopped, the session
    tab.frame.locator("[data-label='Calls']").wait_for(timeout=60_000)
    shutil.rmtree(recorded.path)
    # Its list of sessions is as old as some seconds: the tests behind begin with the newest one.
    while name in listed_sessions(server):
        time.sleep(0.2)


def listed_sessions(server):
    with urllib.request.urlopen(f"{server}/data/plugin/tfdarshan/sessions") as answer:
        return answer.read().decode()


def test_narrow_windows_and_the_keyboard(own_tab, server):
    own_tab.page.set_viewport_size({"width": 480, "height": 800})
    own_tab.open(server)
    assert own_tab.page.frames[1].evaluate("document.documentElement.scrollWidth <= innerWidth")
    own_tab.frame.get_by_role("tab", name="Files").focus()
    own_tab.page.keyboard.press("Enter")
    own_tab.drawn("files")


def test_no_tile_stands_alone_below_a_row_of_them(own_tab, server):
    for width in (1500, 1180, 1100, 900):
        # GIVEN tiles that are laid out in a window of that width
        own_tab.open(server, view="patterns")
        own_tab.page.set_viewport_size({"width": width, "height": 800})
        own_tab.open(server)

        tops = own_tab.frame.locator(".tiles").first.evaluate(
            "tiles => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>"
            " done([...tiles.children].map((tile) => tile.offsetTop)))))"
        )

        assert own_tab.page.frames[1].evaluate("innerWidth") <= width
        rows = [tops.count(top) for top in sorted(set(tops))]
        assert max(rows) - rows[-1] <= len(rows), (width, rows)
        assert rows[-1] > 1, width


def test_a_path_prefix_and_the_slow_loader(logdir):
    with tensorboard(logdir, "--path_prefix=/some/where", "--load_fast=false") as url:
        with browser_page(url.removesuffix("/some/where")) as watched:
            tab = Tab(watched).open(url)
            assert tab.frame.locator(".chart .main-svg").count() > 0
            watched.check()


def test_an_empty_logdir_says_how_to_record(tmp_path):
    with tensorboard(tmp_path) as url, browser_page(url) as watched:
        tab = Tab(watched).open(url)
        assert f"tfdarshan.profile({str(tmp_path)!r})" in tab.text("pre")
        watched.check()


def test_tensorboard_starts_although_the_plugin_cannot_be_imported(logdir, tmp_path):
    # GIVEN a pyarrow that fails to import
    (tmp_path / "pyarrow.py").write_text("raise ImportError('pyarrow is broken here')")
    with tensorboard(logdir, PYTHONPATH=str(tmp_path)) as url, browser_page(url) as watched:
        watched.page.goto(f"{url}/#tfdarshan")
        body = watched.page.frame_locator("iframe").locator("body")
        body.filter(has_text="The I/O tab cannot be shown").wait_for()
        assert "pyarrow is broken here" in body.inner_text()


def test_the_verdict_and_the_numbers_wait_for_no_chart(own_tab, server, job):
    # GIVEN a page whose plotly does not come
    held = []
    own_tab.page.route("**/plotly.js", lambda route: held.append(route))
    own_tab.page.goto(f"{server}/#tfdarshan")

    # WHEN everything else is there
    own_tab.frame.locator(".verdict:not(.pending)").wait_for()
    own_tab.frame.locator("[data-label='Read'] .value").wait_for()

    # THEN no chart is
    assert len(held) == 1
    assert own_tab.frame.locator(".main-svg").count() == 0
    assert own_tab.frame.locator("#view[data-drawn]").count() == 0

    # WHEN plotly comes at last
    held[0].continue_()

    # THEN charts are drawn
    own_tab.drawn("overview")
    assert own_tab.frame.locator(".chart .main-svg").count() >= CHARTS["overview"]


def test_without_tensorflow(logdir, tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ImportError('no TensorFlow here')")
    with tensorboard(logdir, PYTHONPATH=str(tmp_path)) as url, browser_page(url) as watched:
        tab = Tab(watched).open(url)
        assert tab.frame.locator(".chart .main-svg").count() > 0
        watched.check()


@pytest.mark.long
def test_without_plotly_the_tab_says_what_to_install(logdir, tmp_path):
    # GIVEN a module that is not the plotly package
    (tmp_path / "plotly.py").write_text("")
    with tensorboard(logdir, PYTHONPATH=str(tmp_path)) as url, browser_page(url) as watched:
        watched.page.goto(f"{url}/#tfdarshan")
        body = watched.page.frame_locator("iframe").locator("body")
        body.filter(has_text="install it with `pip install plotly`").wait_for()
