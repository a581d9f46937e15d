"""Opens the tab in a real browser, and prints how long each view took to be drawn as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.browser.chromium import browser_page
from tests.browser.server import tensorboard

VIEWS = ("overview", "timeline")
# From the moment the page's scripts are there to the one its charts are.
TAKEN_MS = """() => performance.getEntriesByName("tfdarshan:drawn").at(-1).startTime
  - performance.getEntriesByName("tfdarshan:scripts")[0].startTime"""


def main() -> None:
    """Opens each view first of a new TensorBoard, then once more."""
    taken: dict[str, dict[str, float]] = {"first_s": {}, "again_s": {}}
    for view in VIEWS:
        with tensorboard(Path(sys.argv[1])) as url:
            for when in taken:
                with browser_page(url) as watched:
                    watched.page.goto(f"{url}/#tfdarshan&p.tfdarshan.view={view}")
                    frame = watched.page.frame_locator("iframe")
                    frame.locator(f"#view[data-drawn='{view}']").wait_for(timeout=120_000)
                    taken[when][view] = watched.page.frames[1].evaluate(TAKEN_MS) / 1000
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
