"""What is staged as one: single files, or whole folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.files.directory import folders_of

Array = Any


@dataclass(frozen=True)
class Units:
    """What the candidates are chosen by. `folder` is each candidate's unit, None where each is its own."""

    name: str
    folder: Array | None
    count: int

    def total(self, values: Array) -> Array:
        """Sum up the candidates' values by unit."""
        if self.folder is None:
            return values
        return np.bincount(self.folder, weights=values, minlength=self.count)

    def members(self, chosen: Array) -> Array:
        """Return the candidates of the chosen units, sorted."""
        if self.folder is None:
            return chosen
        wanted = np.zeros(self.count, bool)
        wanted[chosen] = True
        return np.flatnonzero(wanted[self.folder])


def folder_units(paths: Any, rows: Array) -> Units:
    """Return units that are the files of each folder, not those of folders in it.

    Args:
        paths: All paths.
        rows: The candidates' places in `paths`.
    """
    folders = folders_of(paths.take(pa.array(rows)))
    return Units("directory", folders.of_file, len(folders.paths))
