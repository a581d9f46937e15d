"""The report in a real browser, with no network to ask."""

import json
import re

import pytest

playwright = pytest.importorskip("playwright.sync_api")

import tfdarshan  # noqa: E402
from tests.browser.chromium import CHROMIUM, browser_page  # noqa: E402
from tests.browser.fonts import FONTS, WIDE, use_font  # noqa: E402
from tests.browser.layout import CUT_TABLES  # noqa: E402
from tests.browser.training import SAVES, WRITE_BYTES, WRITES, training_session, with_steps  # noqa: E402
from tests.made_up_session import job_of, write_session  # noqa: E402
from tests.unit.findings.made_up_training import epochs_of_steps, training  # noqa: E402
from tfdarshan.findings.diagnosis import diagnose  # noqa: E402
from tfdarshan.reports.html_report import write_report  # noqa: E402
from tfdarshan.reports.views import VIEWS  # noqa: E402
from tfdarshan.reports.views.empty_views import empty_views  # noqa: E402
from tfdarshan.reports.views.findings_view import said_by_headline  # noqa: E402
from tfdarshan.reports.views.redaction import Redaction  # noqa: E402
from tfdarshan.reports.views.view_source import Source  # noqa: E402

NAMES_BEFORE = "(cells) => cells.map((cell) => getComputedStyle(cell, '::before').content)"
LEDGER_EVENT = {
    "event": "slow_durable", "id": "a", "checkpoint": "checkpoint-of-a-long-run-123456", "step": 123_456,
    "saved_at": 1.7e9, "blocked_s": 12.345, "waited_s": 1.234, "size_bytes": 123_456_789_012, "files": 12,
    "fast_durable_at": 1.7e9 + 1234, "slow_durable_at": 1.7e9 + 2345, "copy_s": 1111.0, "verify_s": 12.0,
    "tries": 1, "backlog_checkpoints": 12, "backlog_bytes": 987_654_321,
}  # fmt: skip
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")

READER = 101


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return with_steps(training_session(tmp_path_factory.mktemp("training")))


@pytest.fixture(scope="module")
def report(session, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(Source(session), path)
    return path


def shown(page, view):
    page.locator(f"#view[data-drawn='{view}']").wait_for()


def test_every_view_is_drawn_with_the_sessions_numbers(report, session):
    data, expected = Source(session).summary, diagnose(session)
    with browser_page("file://") as watched:
        page = watched.page
        page.goto(report.as_uri())

        # THEN the numbers of the overview are the session's
        shown(page, "overview")
        tile = page.locator("[data-label='Read'] .value")
        assert tile.get_attribute("title").endswith(f"({data.posix.bytes_read:,} B)")
        assert page.locator("[data-label='Calls'] .value").inner_text() == f"{data.calls:,}"
        # and it begins with the verdict
        first = page.locator("#view > :first-child")
        assert first.locator("p").first.inner_text() == (expected.verdict.why or expected.verdict.sentence)
        assert first.get_attribute("data-name") == (expected.named.name if expected.named else None)
        cards = page.locator(".card").evaluate_all("cards => cards.map((card) => card.dataset.name)")
        others = [one.name for one in expected.findings if not said_by_headline(one, expected)]
        assert cards == others
        # and each view has its charts, drawn
        for name, (title, _) in VIEWS.items():
            page.get_by_role("tab", name=title).click()
            shown(page, name)
            charts = page.locator(".chart")
            assert charts.count() > 0
            assert page.locator(".chart .main-svg").count() >= charts.count()
        page.get_by_role("tab", name="Checkpoints").click()
        shown(page, "checkpoints")
        bursts = page.locator("[data-key='burst-table'] tbody tr")
        assert bursts.count() == SAVES
        assert f"{WRITES * WRITE_BYTES / 1e6:.1f} MB" in bursts.first.inner_text()
        watched.check()


def test_why_and_what_to_do_are_seen_without_scrolling(tmp_path):
    # GIVEN a job that waits for reads, one at a time
    calls = [(n * 100, n * 100 + 60, READER, "pread", n % 2, 1_000_000, 0) for n in range(40)]
    waiting = training(tmp_path / "logs", calls, epochs_of_steps(40, 100, 60), paths=("/data/a", "/data/b"))
    diagnosis = diagnose(waiting)
    named = diagnosis.named
    write_report(Source(waiting), tmp_path / "r.html")

    with browser_page("file://", width=1280, height=800) as watched:
        page = watched.page
        page.goto((tmp_path / "r.html").as_uri())
        shown(page, "overview")
        headline = page.locator(".verdict")

        # THEN the sentence, the gain as a number, the lines to change and a step's parts are on the screen
        for part in (".why", ".gain-number strong", ".change-lines pre", ".copy"):
            box = headline.locator(part).bounding_box()
            assert box["y"] + box["height"] <= 800, part
        assert headline.locator(".gain-number strong").inner_text() == f"{named.gain.speedup:.2f}x"
        assert named.fix.line in headline.locator(".after").inner_text().replace("+ ", "")
        bar = page.locator(".parts-bar").bounding_box()
        assert bar["y"] + bar["height"] <= 800
        widths = [part.bounding_box()["width"] for part in page.locator(".parts-bar > div").all()]
        shares = [part.seconds / sum(p.seconds for p in diagnosis.parts) for part in diagnosis.parts]
        assert widths == pytest.approx([share * bar["width"] for share in shares if share > 0.005], abs=2)

        # THEN the new lines alone can be copied
        page.evaluate(
            "() => { document.execCommand = () => { window.copied = document.activeElement.value; }; }"
        )
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        headline.get_by_role("button", name="Copy").click()
        page.wait_for_function("window.copied !== undefined")
        assert page.evaluate("window.copied") == named.fix.line

        # THEN what it rests on opens with a click, and no card says it again
        headline.locator("summary").click()
        assert named.what in headline.inner_text()
        assert page.locator(f".card[data-name='{named.name}']").count() == 0
        watched.check()


def test_every_view_of_an_emulated_session_begins_with_it(tmp_path):
    # GIVEN
    (tmp_path / "data").write_bytes(bytes(5_000))
    with tfdarshan.profile(tmp_path / "logs", as_if="lustre", spool_dir=tmp_path) as recorded:
        (tmp_path / "data").read_bytes()
    source = Source(tfdarshan.open_session(recorded.path))
    write_report(source, tmp_path / "r.html")

    with browser_page("file://") as watched:
        page = watched.page
        page.goto((tmp_path / "r.html").as_uri())
        for name in set(VIEWS) - set(empty_views(source)):
            title, _ = VIEWS[name]
            page.get_by_role("tab", name=title).click()
            shown(page, name)

            # THEN it is above all else, the verdict too
            said = page.locator("#banner").inner_text()
            assert "as if lustre" in said
            assert "Times are simulated" in said
            below = page.locator("#view > :first-child").bounding_box()["y"]
            assert page.locator("#banner section").bounding_box()["y"] < below
        watched.check()


def test_a_link_to_a_view_opens_it_and_dark_mode_redraws_it(report):
    with browser_page("file://", dark=True) as watched:
        page = watched.page
        page.goto(f"{report.as_uri()}#patterns")
        shown(page, "patterns")
        paper = "() => getComputedStyle(document.querySelector('.panel')).backgroundColor"
        dark = page.evaluate(paper)

        page.get_by_role("button", name="Light").click()

        assert (dark, page.evaluate(paper)) == ("rgb(34, 38, 44)", "rgb(255, 255, 255)")
        page.wait_for_function("document.querySelector('.chart')._fullLayout.paper_bgcolor === '#ffffff'")
        watched.check()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_better_and_worse_have_words_and_colours_of_their_own(tmp_path, dark):
    # GIVEN a second session that is ten times as fast and makes twice as many calls; so many that how even
    # they are says what their noise is
    calls = [(n * 10_000, n * 10_000 + 1000, 1, "pread", 0, 40) for n in range(80)]
    first = write_session(tmp_path / "a", job_of(calls, ["/a"], [40]))
    calls = [(n * 5_000, n * 5_000 + 50, 1, "pread", 0, 20) for n in range(160)]
    second = write_session(tmp_path / "b", job_of(calls, ["/a"], [40]))
    write_report(Source(first), tmp_path / "r.html", compare=Source(second))

    with browser_page("file://", dark=dark) as watched:
        page = watched.page
        page.goto(f"{(tmp_path / 'r.html').as_uri()}#compare")
        shown(page, "compare")
        changes = {
            label: page.get_by_role("row", name=re.compile(f"^{label} ")).locator(".change")
            for label in ("time in reads", "read bandwidth", "reads", "thread time in calls")
        }
        said = {label: change.get_attribute("data-outcome") for label, change in changes.items()}
        added = changes["reads"].evaluate("span => getComputedStyle(span, '::after').content")
        colour = "span => getComputedStyle(span).color.match(/[0-9]+/g).map(Number)"
        colours = {label: change.evaluate(colour) for label, change in changes.items()}
        watched.check()

    # THEN
    assert list(said.values()) == ["better", "better", "worse", "changed"]
    assert added in ('" worse"', '" " attr(data-outcome)')
    assert colours["time in reads"] == colours["read bandwidth"]
    red, green, _ = colours["time in reads"]
    assert green > red
    red, green, _ = colours["reads"]
    assert red > green
    grey = colours["thread time in calls"]
    assert max(grey) - min(grey) < 40


@pytest.fixture(scope="module")
def wide_report(tmp_path_factory):
    """A report with tables of every view, wide cells in them: long names, read for long."""
    folder = tmp_path_factory.mktemp("wide")
    names = [f"/data/train/class-{n}/a-name-that-takes-much-room-{n:07}.jpg" for n in range(3)]
    calls = [(n * 10**9, (n + 1) * 10**9 - 7, 1, "pread", n, 123_456_789) for n in range(3)]
    job = job_of(calls, names, [987_654_321] * 3)
    session = write_session(folder, job)
    (meta,) = session.path.glob("*.meta.json")
    ledger = meta.with_name(meta.name.replace(".meta.json", ".checkpoints.jsonl"))
    ledger.write_text(json.dumps(LEDGER_EVENT))
    other = write_session(folder / "other", job)
    write_report(Source(with_steps(session)), folder / "r.html", compare=Source(other))
    return folder / "r.html"


@pytest.mark.parametrize("font", FONTS)
def test_no_table_of_any_view_is_cut(wide_report, font):
    with browser_page("file://") as watched:
        page = watched.page
        page.goto(wide_report.as_uri())
        use_font(page, font)
        titles = page.get_by_role("tab").all_inner_texts()
        assert len(titles) == len(VIEWS) + 1
        for width in (800, 1000, 1110, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            for title in titles:
                page.get_by_role("tab", name=title, exact=True).click()
                shown(page, title.lower())
                assert (width, title, page.evaluate(CUT_TABLES)) == (width, title, [])
        watched.check()


def test_a_table_takes_the_shape_that_the_window_leaves_it(wide_report):
    # GIVEN a window for tables in a wide font, the widest of them open
    with browser_page("file://") as watched:
        page = watched.page
        page.goto(f"{wide_report.as_uri()}#files")
        use_font(page, WIDE)
        table = page.locator("[data-key='files'] .scroll")
        page.locator("[data-key='files'] [data-fit='whole']").wait_for()
        cells = table.locator("tbody tr").first.locator("td")
        names = table.locator("th").all_inner_texts()

        for width, shape in ((600, "broken"), (360, "stacked"), (1280, "whole")):
            # WHEN the window is made narrower, and wider again
            page.set_viewport_size({"width": width, "height": 800})

            # THEN nothing is cut, and the numbers have their names
            page.locator(f"[data-key='files'] [data-fit='{shape}']").wait_for()
            page.wait_for_function(f"() => ({CUT_TABLES})().length === 0")
            assert cells.nth(1).inner_text() == "1.000 s"
            assert table.locator("th").first.is_visible()
            if shape == "stacked":
                named = cells.evaluate_all(NAMES_BEFORE)
                assert named == ["none", *(f'"{name} "' for name in names[1:])]
        watched.check()


def test_file_names_cannot_run_script(tmp_path):
    # GIVEN a file whose name is markup
    name = "/data/</script><script>document.title='run'</script><img src=x onerror=alert(1)>.jpg"
    session = write_session(tmp_path, job_of([(0, 1000, 1, "pread", 0, 7)], [name], [7]))
    write_report(Source(session), tmp_path / "r.html")

    # THEN it is shown as it is, and nothing of it runs
    with browser_page("file://") as watched:
        watched.page.goto(f"{(tmp_path / 'r.html').as_uri()}#files")
        shown(watched.page, "files")
        assert watched.page.locator("[data-key='files'] td").first.inner_text() == name
        assert watched.page.title().startswith("tfdarshan")
        watched.check()


def test_redacted_reports_name_no_path(session, tmp_path):
    # GIVEN a session with a burst buffer's ledger, too
    (meta,) = session.path.glob("*.meta.json")
    ledger = meta.with_name(meta.name.replace(".meta.json", ".checkpoints.jsonl"))
    ledger.write_text('{"event": "failed", "id": "a", "checkpoint": "model-1", "reason": "/ckpt is full"}\n')

    write_report(Source(session, redaction=Redaction("key")), tmp_path / "r.html")
    ledger.unlink()

    text = (tmp_path / "r.html").read_text().partition('id="report">')[2]
    assert re.search(r"/data|/train|class-|model-1|/ckpt|made-up", text) is None
    assert re.search(r"/d-[0-9a-f]{10}/d-[0-9a-f]{10}/d-[0-9a-f]{10}/f-[0-9a-f]{10}\.jpg", text)


@pytest.mark.long
def test_no_figure_needs_webgl_or_the_vendors_server(report):
    text = report.read_text().partition('id="report">')[2]

    assert re.findall(r'"type":"\w*gl"', text) == []
    assert '"showSendToCloud":false' in text
    assert '"plotlyServerURL":""' in text
