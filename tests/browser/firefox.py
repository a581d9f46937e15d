"""Firefox through WebDriver BiDi, as any Firefox since 129 speaks it: no driver, and no build of its own.

Playwright asks Firefox for commands that releases do not have, and evaluates by eval(), which the pages'
policies forbid; BiDi evaluates as a debugger does.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
ANSWER_S, DRAWN_S = 120, 120


class Firefox:
    """One window of it.

    Attributes:
        faults: What pages logged as an error, and the scripts that failed.
    """

    def __init__(self, address: str) -> None:
        import websocket

        self._socket = websocket.create_connection(
            f"{address}/session", timeout=ANSWER_S, suppress_origin=True
        )
        self._numbers = itertools.count(1)
        self.faults: list[str] = []
        self.version = self.ask("session.new", capabilities={})["capabilities"]["browserVersion"]
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.window = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a command; AssertionError where it is an error."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("method") == "log.entryAdded":
                self._log(message["params"])
            if message.get("id") == number:
                assert message["type"] == "success", message
                return message["result"]

    def resize(self, width: int, height: int) -> None:
        """Give the page a size, in CSS pixels."""
        self.ask(
            "browsingContext.setViewport", context=self.window, viewport={"width": width, "height": height}
        )

    def go(self, url: str) -> None:
        """Leave the page, and load another one."""
        for address in ("about:blank", url):
            self.ask("browsingContext.navigate", context=self.window, url=address, wait="complete")

    def frame(self) -> str:
        """Return the first frame in the page, waiting for it."""
        for _ in _until(DRAWN_S):
            (tree,) = self.ask("browsingContext.getTree", root=self.window)["contexts"]
            if tree["children"]:
                return tree["children"][0]["context"]
        raise AssertionError("the page has no frame")

    def evaluate(self, script: str, context: str | None = None) -> Any:
        """Return what an expression gives, awaited, as JSON can hold it."""
        told = self.ask(
            "script.evaluate",
            expression=f"Promise.resolve({script}).then((value) => JSON.stringify(value ?? null))",
            target={"context": context or self.window},
            awaitPromise=True,
        )
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        return json.loads(told["result"]["value"])

    def run(self, script: str, context: str | None = None) -> None:
        """Run a script for what it does."""
        told = self.ask(
            "script.evaluate", expression=f"{script}\n;0", target={"context": context or self.window},
            awaitPromise=False,
        )  # fmt: skip
        assert told["type"] == "success", told["exceptionDetails"]["text"]

    def wait_for(self, condition: str, in_frame: bool = False) -> str:
        """Wait until an expression is true, and return the context in which it is."""
        for _ in _until(DRAWN_S):
            context = self.frame() if in_frame else self.window
            if self.evaluate(condition, context):
                return context
        raise AssertionError(f"never true: {condition}")

    def close(self) -> None:
        """End it."""
        self._socket.close()

    def _log(self, entry: dict[str, Any]) -> None:
        if entry["level"] == "error" and not re.search(r"favicon\.ico|\.woff2", entry["text"] or ""):
            self.faults.append(entry["text"])


@contextmanager
def firefox(width: int = 1280, height: int = 800, *, dark: bool = False) -> Iterator[Firefox]:
    """Yield a Firefox with an empty profile; its pages are told that people like them dark, or light."""
    assert FIREFOX is not None
    with tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as profile:
        scheme = 0 if dark else 1
        (Path(profile) / "user.js").write_text(
            f'user_pref("layout.css.prefers-color-scheme.content-override", {scheme});\n'
        )
        process = subprocess.Popen(
            [FIREFOX, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            address = next((found[1] for line in process.stderr if (found := LISTENS.search(line))), None)
            assert address is not None, "Firefox ended before it listened"
            browser = Firefox(address)
            browser.resize(width, height)
            yield browser
            browser.close()
        finally:
            process.kill()
            process.wait(30)
            process.stderr.close()


def _until(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.1)
