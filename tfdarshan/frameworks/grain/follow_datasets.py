"""Has Grain's iterators noted while a session records: those that the main thread takes batches from."""

from __future__ import annotations

import sys
import threading
from typing import Any

from tfdarshan.frameworks.batch_log import Hooks, current
from tfdarshan.frameworks.grain.dataset_look import look_of
from tfdarshan.frameworks.late_import import follow_import

# Modules of Grain, and their classes of iterators.
ITERATORS = {
    "grain._src.python.data_loader": "DataLoaderIterator",
    "grain._src.python.dataset.dataset": "DatasetIterator",
}

_hooks: Hooks | None = None


def begin() -> None:
    """Follow Grain from now on, or from its import on."""
    global _hooks
    _hooks = Hooks()
    follow_import("grain", _follow)


def end() -> None:
    """Follow Grain no more."""
    global _hooks
    hooks, _hooks = _hooks, None
    if hooks is not None:
        hooks.remove()


def _follow() -> None:
    log, hooks = current(), _hooks
    if log is None or hooks is None:
        return
    for module, name in ITERATORS.items():
        iterators = getattr(sys.modules.get(module), name, None)
        if iterators is not None:
            log.describe(iterators, _look)
            hooks.hook_all(iterators, "__next__", "NEXT", chosen=_works)


def _works(method: Any) -> bool:
    return not getattr(method, "__isabstractmethod__", False)


def _look(_loader: Any, iterator: Any) -> tuple[dict[str, Any], list[int]] | None:
    """Describe the outermost iterator of the main thread: others feed it, in threads of Grain's."""
    if threading.current_thread() is not threading.main_thread():
        return None
    return look_of(iterator), []
