"""One browser, and one page of the tab, for a module: they take longer to start than most tests take."""

from contextlib import nullcontext
from importlib.util import find_spec

import pytest


@pytest.fixture(scope="module", autouse=True)
def browser():
    """Opened by the first page; Firefox's tests, which do without playwright, have their own."""
    with _shared_browser():
        yield


@pytest.fixture(scope="module")
def page(browser, server):
    """The page of the module's server: it shows the tab once a test opens it."""
    from tests.browser.chromium import browser_page

    with browser_page(server) as watched:
        yield watched


@pytest.fixture
def tab(page):
    """The tab of that page, for tests that begin with an address and leave TensorBoard as it is."""
    from tests.browser.tab import Tab

    page.faults.clear()
    yield Tab(page)
    page.check()


def _shared_browser():
    if find_spec("playwright") is None:
        return nullcontext()
    from tests.browser.chromium import shared_browser

    return shared_browser()
