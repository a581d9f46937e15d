"""The tab of a page that a browser watches."""

from __future__ import annotations

import urllib.parse
import urllib.request
from contextlib import contextmanager
from types import SimpleNamespace

NOT_DRAWN = "() => { delete (document.querySelector('#view') || document.body).dataset.drawn; }"


class Tab:
    """The tab of a watched page."""

    def __init__(self, watched):
        self.watched, self.page = watched, watched.page
        self.frame = self.page.frame_locator("iframe")

    def open(self, url, **state):
        """Show a state; a page that shows the tab already goes there by its address, and loads nothing."""
        pairs = [f"p.tfdarshan.{key}={urllib.parse.quote(str(value), '')}" for key, value in state.items()]
        address = f"{url}/#{'&'.join(['tfdarshan', *pairs])}"
        for frame in self.page.frames[1:]:
            frame.evaluate(NOT_DRAWN)
        if self.page.evaluate("location.href") == address:
            self.page.reload()
        else:
            self.page.goto(address)
        self.drawn(state.get("view", "overview"))
        return self

    @contextmanager
    def again(self, view):
        """Show what the address says in a new page."""
        with self.page.context.new_page() as page:
            page.goto(self.page.evaluate("location.href"))
            other = Tab(SimpleNamespace(page=page))
            other.drawn(view)
            yield other

    def drawn(self, view):
        self.frame.locator(f"#view[data-drawn='{view}']").wait_for(timeout=120_000)

    def go(self, title):
        self.frame.get_by_role("tab", name=title, exact=True).click()
        self.drawn(title.lower())

    def text(self, selector):
        return self.frame.locator(selector).inner_text()

    def address(self):
        return self.page.evaluate("location.hash")

    def rows(self, key):
        return self.frame.locator(f"[data-key='{key}'] tbody tr")
