"""How many bytes a batch has, and how many it would have with small types."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

# What is looked at of a batch, at most: one of strings is of as many as samples.
MOST_PARTS = 10_000


def bytes_of(batch: Any) -> tuple[int, int]:
    """Return a batch's bytes, and those it would have if each float was an integer of one byte.

    Args:
        batch: Tensors or arrays, or mappings, lists or tuples of such; what else it holds has none.

    Returns:
        Both in bytes.
    """
    whole = small = 0
    for part in _parts(batch):
        dtype, size = getattr(part, "dtype", None), getattr(part, "nbytes", None)
        each = getattr(dtype, "itemsize", None)
        if not isinstance(size, int) or not isinstance(each, int) or each <= 0:
            continue
        whole += size
        # PyTorch says it by an attribute, NumPy by a letter.
        is_float = getattr(dtype, "is_floating_point", getattr(dtype, "kind", "") == "f")
        small += size // each if is_float else size
    return whole, small


def _parts(batch: Any) -> Iterator[Any]:
    left, seen = deque([batch]), 0
    while left and seen < MOST_PARTS:
        part, seen = left.popleft(), seen + 1
        if isinstance(part, Mapping):
            left.extend(part.values())
        elif isinstance(part, list | tuple):
            left.extend(part[:MOST_PARTS])
        else:
            yield part
