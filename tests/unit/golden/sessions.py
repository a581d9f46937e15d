"""The sessions that golden files are written from: sketches of jobs, always the same, in one logdir each."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.scenario_sessions import SKETCHES, sketched

# One of each kind of answer.
CHOSEN = (
    "one reader",
    "no prefetch",
    "many small files",
    "asked again and again",
    "decoding",
    "checkpoints",
    "cached from the second epoch on",
    "a trace cut short",
    "healthy, an SSD",
    "no steps",
    "random records",
)
# Long enough that a path that is shortened is shortened here.
INNER = "logdirs-of-jobs-that-are-always-the-same"


@contextmanager
def golden_folder() -> Iterator[Path]:
    """Yield a folder with a logdir for each session, named after it with "-" for what is no letter."""
    with tempfile.TemporaryDirectory(prefix="golden-", dir="/tmp") as name:
        folder = Path(name) / INNER
        for title in CHOSEN:
            sketched(folder / logdir_name(title), SKETCHES[title])
        yield folder


def logdir_name(title: str) -> str:
    """Return what a session's logdir is called."""
    return title.replace(",", "").replace(" ", "-")


def without_folder(text: str, folder: Path) -> str:
    """Return a text with one name, as long as any, for the folder: lines break at the same words."""
    return text.replace(folder.parent.name, "golden-".ljust(len(folder.parent.name), "x"))
