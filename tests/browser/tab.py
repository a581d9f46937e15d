"""The tab of a page that a browser watches."""

from __future__ import annotations

import urllib.parse
import urllib.request


class Tab:
    """The tab of a watched page."""

    def __init__(self, watched):
        self.watched, self.page = watched, watched.page
        self.frame = self.page.frame_locator("iframe")

    def open(self, url, **state):
        pairs = [f"p.tfdarshan.{key}={urllib.parse.quote(str(value), '')}" for key, value in state.items()]
        self.page.goto(f"{url}/#{'&'.join(['tfdarshan', *pairs])}")
        self.drawn(state.get("view", "overview"))
        return self

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
