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
        ahead_ns: What their clock is ahead of CLOCK_MONOTONIC.
        original: PyTorch's own; None in a started process, where PyTorch's module has it.
    """

    def __init__(self, folder: str, ahead_ns: int, original: Callable[..., None] | None = None) -> None:
        self._folder, self._ahead_ns = folder, ahead_ns
        self._original = original

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerLoop, (self._folder, self._ahead_ns)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Work as PyTorch's worker does; one that was forked notes by what it has inherited."""
        loop = self._original
        if loop is None:
            from torch.utils.data._utils import worker

            loop = worker._worker_loop
            # A process that joined the session at its start notes already.
            if not isinstance(loop, WorkerLoop):
                _note_fetches(self._folder, self._ahead_ns)
        loop(*args, **kwargs)


def _note_fetches(folder: str, ahead_ns: int) -> None:
    """Note the fetches of this process, which was started as a program."""
    with suppress(Exception):
        from tfdarshan.native import _batches

        _batches.begin(folder, None, ahead_ns)
        _batches.set_workers(sys.modules["torch.utils.data._utils.worker"])
        fetch = sys.modules["torch.utils.data._utils.fetch"]
        for fetcher in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
            fetcher.fetch = _batches.Hook(_batches.FETCH, fetcher.__dict__["fetch"])
