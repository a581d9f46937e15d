"""What is staged as one: single files, or whole folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

Array = Any


@dataclass(frozen=True)
class Units:
    """What the candidates are chosen by. `folder` is each candidate's unit, None where each is its own."""

    name: str
    folder: Array | None
    count: int

    def total(self, values: Array) -> Array:
        """Sums up the candidates' values by unit."""
        if self.folder is None:
            return values
        return np.bincount(self.folder, weights=values, minlength=self.count)

    def members(self, chosen: Array) -> Array:
        """Gives the candidates of the chosen units, sorted."""
        if self.folder is None:
            return chosen
        wanted = np.zeros(self.count, bool)
        wanted[chosen] = True
        return np.flatnonzero(wanted[self.folder])


def folder_units(paths: Any, rows: Array) -> Units:
    """Takes the files of each folder, not those of folders in it, as one.

    Args:
        paths: All paths.
        rows: The candidates' places in `paths`.
    """
    chosen = paths if len(rows) == len(paths) else paths.take(rows)
    encoded = pc.replace_substring_regex(chosen, "/[^/]*$", "").combine_chunks().dictionary_encode()
    folders = encoded.indices.to_numpy()
    count = len(encoded.dictionary)
    return Units("directory", folders, count)
