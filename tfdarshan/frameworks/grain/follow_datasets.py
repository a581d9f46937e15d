"""Has Grain's iterators noted while a session records: those that the main thread takes batches from."""

from __future__ import annotations

import functools
import sys
import threading
from typing import Any

from tfdarshan.frameworks.batch_log import Hooks, current
from tfdarshan.frameworks.grain.dataset_look import data_set_of, look_of
from tfdarshan.frameworks.late_import import follow_import

# Modules of Grain, and their classes of iterators. Before 0.2.7 that of a loader had another name, and before
# 0.2.5 the package imported nothing of its own, so the modules are what is followed.
ITERATORS = {
    "grain._src.python.data_loader": ("DataLoaderIterator", "PyGrainDatasetIterator"),
    "grain._src.python.dataset.dataset": ("DatasetIterator",),
}

_hooks: Hooks | None = None


def begin() -> None:
    """Follow Grain from now on, or from its import on."""
    global _hooks
    _hooks = Hooks()
    for module, follow in _FOLLOW.items():
        follow_import(module, follow)


def end() -> None:
    """Follow Grain no more."""
    global _hooks
    hooks, _hooks = _hooks, None
    if hooks is not None:
        hooks.remove()


def _follow(module: str) -> None:
    log, hooks = current(), _hooks
    if log is None or hooks is None:
        return
    for name in ITERATORS[module]:
        iterators = getattr(sys.modules.get(module), name, None)
        if iterators is not None:
            log.describe(iterators, _look, data_set_of)
            hooks.hook_all(iterators, "__next__", "NEXT", chosen=_works)


# What is done once a module is imported: the same objects each time, so that it is asked for once.
_FOLLOW = {module: functools.partial(_follow, module) for module in ITERATORS}


def _works(method: Any) -> bool:
    return not getattr(method, "__isabstractmethod__", False)


def _look(_loader: Any, iterator: Any) -> tuple[dict[str, Any], list[int]] | None:
    """Describe the outermost iterator of the main thread: others feed it, in threads of Grain's."""
    if threading.current_thread() is not threading.main_thread():
        return None
    return look_of(iterator), []
