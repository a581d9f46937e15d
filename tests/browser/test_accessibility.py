"""axe-core on every view of tab and report, light and dark: nothing serious or critical is left."""

import json

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("tensorboard")

from tests.browser.axe import INSTALLED, grave_violations
from tests.browser.chromium import CHROMIUM, browser_page
from tests.browser.server import tensorboard
from tests.browser.tab import Tab
from tests.browser.training import training_session, with_steps
from tests.unit.findings.made_up_training import ORIGIN_NS
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session, open_session

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.skipif(INSTALLED is None, reason="axe-playwright-python is not installed"),
    pytest.mark.long,
    pytest.mark.timeout(900),
]
STAMPS = ("2024_01_01_00_00_00", "2024_01_02_00_00_00")
OPEN_ALL = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
VIEWS_AND_COMPARISON = [*VIEWS, "compare"]


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """Two sessions with steps that wait for input, checkpoints, and a command; one that was interrupted."""
    logdir = tmp_path_factory.mktemp("logs")
    for stamp in STAMPS:
        keep_steps(training_session(logdir, stamp))
    killed = logdir / "killed" / "plugins" / "tfdarshan" / "2024_01_03_00_00_00"
    killed.mkdir(parents=True)
    (killed / "recording.json").write_text("{}")
    return logdir


def keep_steps(session: Session) -> None:
    """Write equal steps into a session."""
    steps = with_steps(open_session(session.path)).steps
    rows = [
        [number, *(ORIGIN_NS + int(at) for at in row[:2]), int(row[2]), ""]
        for number, row in enumerate(steps[["start_ns", "end_ns", "input_wait_ns"]].to_numpy().tolist())
    ]
    (path,) = session.path.glob("*.meta.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"steps": {"rows": rows, "left_out": 0}}))


@pytest.fixture(scope="module")
def server(logdir):
    with tensorboard(logdir) as url:
        yield url


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_view_of_the_tab_can_be_used_by_everybody(server, dark):
    with browser_page(server) as watched:
        tab, found = Tab(watched), {}
        for view in VIEWS_AND_COMPARISON:
            tab.open(server, view=view, session=f"./{STAMPS[1]}")
            if dark:
                watched.page.evaluate("document.body.classList.add('dark-mode')")
                watched.page.frames[1].wait_for_function("document.documentElement.className === 'dark'")
            if view == "overview":
                tab.frame.locator(".verdict:not(.pending)").wait_for()
            frame = watched.page.frames[1]
            frame.evaluate(OPEN_ALL)
            found[view] = grave_violations(frame)
            watched.page.goto("about:blank")
        # The list of sessions, the page of a file, and a session that cannot be shown
        tab.open(server, view="files", path="/data/train/class-00/0000000.jpg")
        tab.frame.locator(".session").click()
        tab.frame.locator(".picker .note", has_text="that lose most first").first.wait_for()
        found["file"] = grave_violations(watched.page.frames[1])
        watched.page.goto("about:blank")
        tab.open(server, session="killed/2024_01_03_00_00_00")
        found["killed"] = grave_violations(watched.page.frames[1])

        assert json.dumps({view: rules for view, rules in found.items() if rules}, indent=1) == "{}"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_view_of_the_report_can_be_used_by_everybody(logdir, tmp_path, dark):
    first, second = (Source(open_session(logdir / "plugins" / "tfdarshan" / stamp)) for stamp in STAMPS)
    write_report(first, tmp_path / "report.html", compare=second)
    with browser_page("file://", dark=dark) as watched:
        found = {}
        for view in VIEWS_AND_COMPARISON:
            watched.page.goto(f"{(tmp_path / 'report.html').as_uri()}#{view}")
            watched.page.locator(f"#view[data-drawn='{view}']").wait_for()
            watched.page.evaluate(OPEN_ALL)
            found[view] = grave_violations(watched.page.main_frame)

        assert json.dumps({view: rules for view, rules in found.items() if rules}, indent=1) == "{}"
