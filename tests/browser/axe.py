"""axe-core on a page: what keeps people who see little or nothing, or use no mouse, from reading it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame

INSTALLED = importlib.util.find_spec("axe_playwright_python")
GRAVE = ("serious", "critical")
RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.map(({ id, impact, nodes }) => [id, impact, nodes.slice(0, 5).map((node) => node.html)]);
}"""


def grave_violations(frame: Frame) -> dict[str, list[str]]:
    """Return the rules that a document breaks seriously or critically, with some of the elements."""
    frame.evaluate(f"() => {{ {axe_script()} }}")
    return grave(frame.evaluate(RUN))


def axe_script() -> str:
    """Return axe-core, which defines `axe`."""
    assert INSTALLED is not None
    assert INSTALLED.origin is not None
    return (Path(INSTALLED.origin).parent / "axe.min.js").read_text()


def grave(found: Any) -> dict[str, list[str]]:
    """Return the serious ones of what `RUN` found."""
    assert isinstance(found, list)
    return {rule: elements for rule, impact, elements in found if impact in GRAVE}
