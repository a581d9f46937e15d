"""One browser for the pages of a module, as to start one takes longer than to load most of them."""

from contextlib import nullcontext
from importlib.util import find_spec

import pytest


@pytest.fixture(scope="module", autouse=True)
def browser():
    """Opened by the first page; Firefox's tests, which do without playwright, have their own."""
    with _shared_browser():
        yield


def _shared_browser():
    if find_spec("playwright") is None:
        return nullcontext()
    from tests.browser.chromium import shared_browser

    return shared_browser()
