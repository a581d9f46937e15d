"""Opens the tab in a real browser, and prints how long each view took to be drawn as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.browser.chromium import browser_page
from tests.browser.server import tensorboard

VIEWS = ("overview", "timeline")
# From the moment the page's scripts are there to the one its first charts are, and all of them.
TAKEN_MS = """() => {
  const [scripts, first, drawn] = ["scripts", "first", "drawn"]
    .map((name) => performance.getEntriesByName(`tfdarshan:${name}`).at(-1));
  return [first, drawn].map((mark) => mark ? mark.startTime - scripts.startTime : null);
}"""


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
                    first_ms, drawn_ms = watched.page.frames[1].evaluate(TAKEN_MS)
                    taken[when][view] = (drawn_ms if first_ms is None else first_ms) / 1000
                    if first_ms is not None:
                        taken[when][f"all of {view}"] = drawn_ms / 1000
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
