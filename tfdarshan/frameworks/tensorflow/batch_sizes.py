"""What the batches take that iterators of tf.data give: the first ones are looked at, and then none."""

from __future__ import annotations

import functools
import weakref
from contextlib import suppress
from typing import Any

# As many batches of each pipeline that looks like no other are looked at.
MOST_BATCHES, MOST_ITERATORS = 4, 64


class BatchSizes:
    """Looks at batches as an iterator hands them over.

    Args:
        iterators: TensorFlow's class of iterators, whose `__next__` is another one meanwhile.
    """

    def __init__(self, iterators: Any) -> None:
        self._iterators = iterators
        self._original: Any = None
        self._seen: Any = None
        # By the iterator's id: itself, and the pipeline's description.
        self._watched: dict[int, tuple[weakref.ref[Any], dict[str, Any]]] = {}

    def watch(self, iterator: Any, pipeline: dict[str, Any]) -> None:
        """Have the next batches of an iterator looked at, unless enough of its pipeline's were.

        Args:
            iterator: The iterator.
            pipeline: Is told `batches_bytes`: what each of the batches took, None if that is not known.
        """
        if len(pipeline.setdefault("batches_bytes", [])) >= MOST_BATCHES:
            return
        if len(self._watched) >= MOST_ITERATORS:
            return
        key = id(iterator)
        self._watched[key] = (weakref.ref(iterator, lambda _: self._forget([key])), pipeline)
        if self._original is None:
            self._patch()

    def end(self) -> None:
        """Look at no batch any more: TensorFlow's iterators are as they were."""
        self._watched.clear()
        if self._original is not None and self._iterators.__next__ is self._seen:
            self._iterators.__next__ = self._original
            self._original = None

    def _patch(self) -> None:
        original = self._iterators.__next__

        @functools.wraps(original)
        def seen(iterator: Any) -> Any:
            batch = original(iterator)
            with suppress(Exception):
                self._look(iterator, batch)
            return batch

        self._iterators.__next__, self._seen, self._original = seen, seen, original

    def _look(self, iterator: Any, batch: Any) -> None:
        watched, pipeline = self._watched.get(id(iterator), (None, {}))
        if watched is None or watched() is not iterator:
            return
        pipeline["batches_bytes"].append(_bytes_of(batch))
        if len(pipeline["batches_bytes"]) >= MOST_BATCHES:
            self._forget([key for key, one in list(self._watched.items()) if one[1] is pipeline])

    def _forget(self, keys: list[int]) -> None:
        for key in keys:
            self._watched.pop(key, None)
        if not self._watched:
            self.end()


def _bytes_of(batch: Any) -> int | None:
    """Return what a batch's tensors take; None where a shape or a type does not say."""
    from tensorflow import nest

    taken = 0
    for part in nest.flatten(batch, expand_composites=True):
        count, size = part.shape.num_elements(), part.dtype.size
        if count is None or not size:
            return None
        taken += int(count * size)
    return taken
