"""Pictures of every view of a real training run, light and dark: parts must neither overlap nor stick out.

With TFDARSHAN_SCREENSHOTS=docs/images they are kept there.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.later_tensorflow import needs

pytest.importorskip("playwright.sync_api")

from tests.browser.chromium import CHROMIUM, browser_page
from tests.browser.layout import OVERLAPS
from tests.browser.picture import plain_folder, with_few_colours
from tests.browser.server import tensorboard
from tests.browser.tab import Tab

needs("tensorflow")

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
    pytest.mark.long,
    pytest.mark.timeout(1800),
]
REPOSITORY = Path(__file__).parents[2]
MOST_BYTES = 250_000
# Pictures of this width have no width in their names.
USUAL_WIDTH = 1280
# The view and the run it shows best: the demo reads from memory and saves no checkpoints.
VIEWS = {
    "overview": "loop/",
    "timeline": "./",
    "files": "./",
    "patterns": "./",
    "steps": "loop/",
    "checkpoints": "loop/",
    "staging": "loop/",
    "compare": "after/",
}


@pytest.fixture(scope="module")
def logdir():
    """A training run on JPEG files, a loop with steps and checkpoints, and one before and after a change."""
    with plain_folder("training") as folder:
        yield _recorded(folder)


def _recorded(folder):
    subprocess.run(
        [sys.executable, "-m", "tfdarshan.workloads.demo", "--files", "1000", "--epochs", "2",
         "--data-dir", str(folder / "data"), "--logdir", str(folder / "logs")],
        cwd=REPOSITORY, check=True, capture_output=True,
    )  # fmt: skip
    for run, data, storage in (
        ("loop", "loop", []),
        ("before", "compared", ["lustre", "1"]),
        ("after", "compared", ["lustre", "8"]),
    ):
        (folder / data).mkdir(exist_ok=True)
        subprocess.run(
            [sys.executable, "-m", "tests.browser.training_run", str(folder / "logs" / run),
             str(folder / data), *storage],
            cwd=REPOSITORY, check=True, capture_output=True,
        )  # fmt: skip
    return folder / "logs"


@pytest.fixture(scope="module")
def server(logdir):
    with tensorboard(logdir) as url:
        yield url


@pytest.mark.parametrize(("width", "height"), [(800, 1000), (1280, 800), (1920, 1080)])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_view_is_laid_out_without_overlap(server, logdir, tmp_path, width, height, dark):
    folder = Path(os.environ.get("TFDARSHAN_SCREENSHOTS", tmp_path)).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    newest = {
        run: max(path.name for path in (logdir / run / "plugins" / "tfdarshan").iterdir())
        for run in {*VIEWS.values(), "before/"}
    }
    with browser_page(server, width=width, height=height) as watched:
        tab = Tab(watched)
        for view, run in VIEWS.items():
            other = {"other": f"before/{newest['before/']}"} if view == "compare" else {}
            tab.open(server, view=view, session=f"{run}{newest[run]}", **other)
            if dark:
                watched.page.evaluate("document.body.classList.add('dark-mode')")
                watched.page.frames[1].wait_for_function("document.documentElement.className === 'dark'")
            if view == "overview":
                tab.frame.locator(".verdict:not(.pending)").wait_for()
            watched.page.wait_for_timeout(500)
            assert (view, watched.page.frames[1].evaluate(OVERLAPS)) == (
                view,
                {"over": False, "out": False, "cut": False},
            )
            size = "" if width == USUAL_WIDTH else f"-{width}"
            picture = folder / f"{view}-{'dark' if dark else 'light'}{size}.png"
            watched.page.screenshot(path=picture)
            with_few_colours(picture)
            assert picture.stat().st_size < MOST_BYTES
            watched.page.goto("about:blank")
        watched.check()
