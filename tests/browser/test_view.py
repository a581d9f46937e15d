"""`tfdarshan view` in a real browser: the tab's page by itself, under a strict policy."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("werkzeug")

from tests.browser.chromium import CHROMIUM, browser_page
from tests.made_up_session import image_job, write_session

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.timeout(900),
]
# Files of the main process, more than a page lists, and of the other one.
FILES, FEW = 60, 5
VIEWS = ("Timeline", "Files", "Patterns", "Steps", "Staging", "Overview")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view")
    write_session(folder / "logs", image_job(FILES, 2, 3), replace(image_job(FEW, 1, 1, seed=1), pid=101))
    process = subprocess.Popen(
        [sys.executable, "-m", "tfdarshan", "view", str(folder / "logs"), "--json"],
        env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")["address"]
    process.terminate()
    process.communicate(timeout=60)


def test_every_view_is_drawn(address):
    # GIVEN a browser that notes requests of other origins, errors, and what the policy forbids
    with browser_page(address, dark=True) as watched:
        page = watched.page
        page.goto(address)
        page.locator("#view[data-drawn='overview']").wait_for()
        page.locator("#findings[data-drawn]").wait_for()

        # WHEN
        for title in VIEWS:
            page.get_by_role("tab", name=title, exact=True).click()
            page.locator(f"#view[data-drawn='{title.lower()}']").wait_for()

        # THEN the address leads to the view again, and charts are drawn in the system's colours
        assert page.locator(".chart .main-svg").count() > 0
        assert page.locator("html.dark").count() == 1
        page.get_by_role("tab", name="Files", exact=True).click()
        page.locator("#view[data-drawn='files']").wait_for()
        page.reload()
        page.locator("#view[data-drawn='files']").wait_for()
        watched.check()


def test_an_address_without_the_token_shows_nothing(address):
    with browser_page(address) as watched:
        answer = watched.page.goto(address.rstrip("/") + "x/")

        assert answer.status == 403
        assert watched.page.locator("header").count() == 0


def test_a_process_of_few_files_is_shown_from_its_first_file_on(address):
    with browser_page(address) as watched:
        # GIVEN the second page of all processes' files
        page = watched.page
        page.goto(f"{address}#tfdarshan&p.tfdarshan.view=files&p.tfdarshan.offset=50")
        note = page.locator("[data-key='files'] .note")
        note.get_by_text("51 to").wait_for()

        # WHEN
        choices = page.get_by_label("Process").locator("option").all_inner_texts()
        page.get_by_label("Process").select_option(index=len(choices) - 1)

        # THEN
        note.get_by_text(f"1 to {FEW} of {FEW} files").wait_for()
        watched.check()


def test_an_address_that_was_cut_short_shows_its_view(address):
    with browser_page(address) as watched:
        # GIVEN a link that ends within a character
        watched.page.goto(f"{address}#tfdarshan&p.tfdarshan.view=files&p.tfdarshan.search=%E2%82")

        watched.page.locator("#view[data-drawn='files']").wait_for()
        watched.check()
