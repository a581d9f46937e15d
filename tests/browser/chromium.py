"""Debian's chromium through playwright, and what a page must not do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--proxy-server=direct://",
)  # fmt: skip
CHROMIUM = shutil.which("chromium")
TIMEOUT_MS = 60_000


@dataclass
class Watched:
    """A page, and what it did that it should not."""

    page: Page
    origin: str
    faults: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Fail where the page asked another origin, broke a policy or logged an error."""
        assert self.faults == []
        for frame in self.page.frames:
            assert frame.locator("[data-title*='share' i], [data-title*='cloud' i]").count() == 0


@contextmanager
def browser_page(
    origin: str, *, width: int = 1280, height: int = 800, dark: bool = False
) -> Iterator[Watched]:
    """Yield a page that is watched; `origin` is the one it may ask."""
    with _open_browser() as browser:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        watched = Watched(page, origin)
        page.on("request", lambda request: _ask(watched, request.url))
        page.on("pageerror", lambda error: watched.faults.append(f"error: {error}"))
        page.on("console", lambda message: _log(watched, message))
        yield watched
        context.close()


@contextmanager
def shared_browser() -> Iterator[None]:
    """Open one browser for all pages meanwhile, if there are any. Each page is a new visitor's."""
    global _shared
    with ExitStack() as _shared:
        yield
    _shared = None


_shared: ExitStack | None = None
_browsers: dict[ExitStack, Browser] = {}


@contextmanager
def _open_browser() -> Iterator[Browser]:
    """Yield the shared browser, or one for this page alone."""
    with ExitStack() as alone:
        stack = _shared or alone
        if stack not in _browsers:
            playwright = stack.enter_context(sync_playwright())
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
            stack.callback(browser.close)
            _browsers[stack] = browser
            stack.callback(_browsers.pop, stack)
        yield _browsers[stack]


def _ask(watched: Watched, url: str) -> None:
    if not url.startswith((watched.origin, "data:", "blob:")):
        watched.faults.append(f"request to {url}")


def _log(watched: Watched, message) -> None:
    if message.type == "error" or "Content Security Policy" in message.text:
        # TensorBoard asks for its own icon and fonts beside --path_prefix.
        url = message.location.get("url", "")
        if not url.endswith(("/favicon.ico", ".woff2")):
            watched.faults.append(f"console: {message.text} {url}")
