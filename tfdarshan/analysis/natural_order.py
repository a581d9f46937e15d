"""Names in the order in which people look for them: pool 1, pool 2, pool 10."""

from __future__ import annotations

import re
from collections.abc import Iterable

NUMBERED = re.compile(r"(.*?)(\d*)$", re.DOTALL)


def natural_order(names: Iterable[str]) -> list[str]:
    """Gives each name once: kinds as they first appear, those of a kind by the numbers that they end in."""
    kinds: dict[str, int] = {}
    keys: dict[str, tuple[int, int]] = {}
    for name in names:
        kind, number = NUMBERED.fullmatch(name).groups()  # type: ignore[union-attr]
        keys.setdefault(name, (kinds.setdefault(kind, len(kinds)), int(number or 0)))
    return sorted(keys, key=lambda name: keys[name])
