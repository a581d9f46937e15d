"""A fleet's page in a real browser, with no network to ask."""

import pytest

pytest.importorskip("playwright.sync_api")

from tests.browser.axe import INSTALLED, grave_violations
from tests.browser.chromium import CHROMIUM, browser_page
from tests.fleet_population import FIRST_DAY_S, MadeJob, write_log, write_population
from tfdarshan.commands import main

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")

VIEWS = {"jobs": "Jobs", "groups": "Groups", "trends": "Trends", "whatif": "What if"}
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """The page of 150 jobs, one of which has markup for names, beside a log that is damaged."""
    folder = tmp_path_factory.mktemp("fleet")
    made = write_population(folder / "in", 150)
    job = MadeJob(folder / "in/x_id9_1.darshan", "", f"{MARKUP}</script>", "/m", FIRST_DAY_S, 9e4, 64)
    write_log(job, [{"path": f"/scratch/{MARKUP}/x", "POSIX_F_READ_TIME": 5e6, "POSIX_OPENS": 1}])
    (folder / "in/torn.darshan").write_bytes(b"3.41\0")
    out = folder / "fleet.html"
    where = ["--catalogue", str(folder / "c"), "--findings", "0", "--processes", "1", "--html", str(out)]
    assert main(["fleet", str(folder / "in"), *where]) == 0
    return out, made


def test_every_view_is_drawn_with_the_fleets_numbers(page_file, capsys):
    path, made = page_file
    with browser_page("file://") as watched:
        page = watched.page
        page.goto(path.as_uri())

        # THEN
        for name, title in VIEWS.items():
            page.get_by_role("tab", name=title, exact=True).click()
            page.locator(f"#view[data-drawn='{name}']").wait_for()
            charts = page.locator(".chart")
            assert page.locator(".chart .main-svg").count() >= charts.count() > 0 or name == "whatif"
        page.get_by_role("tab", name="Jobs", exact=True).click()
        page.locator("#view[data-drawn='jobs']").wait_for()
        assert page.locator("[data-label='Jobs'] .value").inner_text() == "151"
        opens = sum(job.opens for job in made.jobs) + 1
        assert page.locator("[data-label='Opens'] .value").inner_text() == f"{opens:,}"
        rows = page.locator("[data-key='worst'] tbody tr")
        named = {rows.nth(place).locator("td span").first.inner_text() for place in range(21)}
        assert named >= {path.name.split("-1_")[0] for path in made.losers}
        # What is markup is shown as text, and what is left out is said.
        assert MARKUP.split()[0] in rows.first.inner_text()
        assert "1 of 152 inputs left out: damaged" in page.locator("#view").inner_text()
        assert page.locator("img").count() == 0
        watched.check()


@pytest.mark.long
@pytest.mark.skipif(INSTALLED is None, reason="axe-playwright-python is not installed")
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_keeps_people_from_reading_it(page_file, dark):
    with browser_page("file://", dark=dark) as watched:
        for name in VIEWS:
            watched.page.goto(f"{page_file[0].as_uri()}#{name}")
            watched.page.reload()
            watched.page.locator(f"#view[data-drawn='{name}']").wait_for()
            assert grave_violations(watched.page) == {}
