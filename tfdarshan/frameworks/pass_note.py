"""What is noted when a pass over a loader begins, as `loaders.Loaders` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# Of the files into which a process notes its batches. Source: csrc/batches/batch_log.h.
SUFFIX = ".batches"


def pass_note(number: int, looks: Mapping[str, Any], workers: Iterable[int]) -> dict[str, Any]:
    """Return what is to be noted when a pass begins.

    Args:
        number: Its number within the process.
        looks: What its loader looks like: fields of `meta_shape.LoaderShape`.
        workers: The process numbers of its workers.
    """
    return {"pass": number, "loader": dict(looks), "workers": list(workers)}
