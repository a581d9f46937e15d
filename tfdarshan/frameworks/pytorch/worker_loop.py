"""The loop of a loader's worker process, which notes there, too, when each batch was put together."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class WorkerLoop:
    """Stands in for PyTorch's loop of workers; a started process gets it by pickle.

    Args:
        folder: Where workers note.
        original: PyTorch's own; None in a started process, where PyTorch's module has it.
    """

    def __init__(self, folder: str, original: Callable[..., None] | None = None) -> None:
        self._folder = folder
        self._original = original

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerLoop, (self._folder,)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Work as PyTorch's worker does; one that was forked notes by what it has inherited."""
        loop = self._original
        if loop is None:
            from torch.utils.data._utils import worker

            loop = worker._worker_loop
            _note_fetches(self._folder)
        loop(*args, **kwargs)


def _note_fetches(folder: str) -> None:
    """Note the fetches of this process, which was started as a program."""
    with suppress(Exception):
        from tfdarshan.native import _batches

        _batches.begin(folder, None)
        _batches.set_workers(sys.modules["torch.utils.data._utils.worker"])
        fetch = sys.modules["torch.utils.data._utils.fetch"]
        for fetcher in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
            fetcher.fetch = _batches.Hook(_batches.FETCH, fetcher.__dict__["fetch"])
