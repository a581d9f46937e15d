"""Opens the tab in a real browser, and prints how long each view took to be drawn as JSON.

Each time a tab that says one word is opened before it, in the same TensorBoard: the floor.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

from tests.browser.chromium import browser_page
from tests.browser.server import tensorboard
from tests.perf import tab_server

VIEWS = ("overview", "timeline")
WHEN = ("first", "again")
# From the moment that the tab's frame begins to the first words being on the screen, and to all charts.
TAKEN_MS = """() => ["painted", "drawn"].map((name) => {
  const [mark] = performance.getEntriesByName(`tfdarshan:${name}`);
  return mark ? mark.startTime : null;
})"""
PAINTED = "() => performance.getEntriesByName('tfdarshan:painted').length"


def main() -> None:
    """Open each view first of a new TensorBoard, then once more; return medians in seconds.

    Arguments: the logdir, and how many TensorBoards are started for each view, 1 by default.
    """
    logdir, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    taken: dict[str, dict[str, list[float]]] = {when: defaultdict(list) for when in WHEN}
    for view in VIEWS * rounds:
        with tensorboard(logdir, module=tab_server.__name__) as url:
            for when in WHEN:
                empty_ms, _ = _opened(url, tab_server.NAME)
                words_ms, drawn_ms = _opened(url, "tfdarshan", view)
                for name, found_ms in (
                    ("empty tab", empty_ms),
                    (f"words of {view}", words_ms),
                    (view, drawn_ms),
                ):
                    taken[when][name].append(found_ms / 1000)
    medians = {
        when: {name: statistics.median(all_s) for name, all_s in of.items()} for when, of in taken.items()
    }
    print(json.dumps(medians))


def _opened(url: str, plugin: str, view: str | None = None) -> tuple[float, float]:
    with browser_page(url) as watched:
        chosen = f"&p.{plugin}.view={view}" if view else ""
        watched.page.goto(f"{url}/#{plugin}{chosen}")
        frame = watched.page.frame_locator("iframe")
        if view:
            frame.locator(f"#view[data-drawn='{view}']").wait_for(timeout=120_000)
        else:
            frame.locator("body", has_text=plugin).wait_for(timeout=120_000)
        inside = watched.page.frames[1]
        inside.wait_for_function(PAINTED)
        words_ms, drawn_ms = inside.evaluate(TAKEN_MS)
        return words_ms, words_ms if drawn_ms is None else drawn_ms


if __name__ == "__main__":
    main()
