"""Stats of a file by its name that are the first since it was opened: the ones that look the name up."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array


class FirstLooks:
    """Adds them up, block by block.

    Attributes:
        sums: How many, and how long they took in ns: by other threads, and by the loop's; float64, (2, 2).
    """

    def __init__(self, files: int) -> None:
        self.sums = np.zeros((2, 2))
        self._looked_at = np.zeros(files, bool)

    def add(self, file: Array, by_name: Array, by_loop: Array, lasted_ns: Array) -> None:
        """Adds stats by name and opens of a block.

        Args:
            file: Rows of the file table, in order of start.
            by_name: Which are stats by name; the others are opens.
            by_loop: Which the loop's thread made.
            lasted_ns: How long they took.
        """
        if not len(file):
            return
        order = np.argsort(file, kind="stable")
        file, by_name = file[order], by_name[order]
        begins = np.append(True, file[1:] != file[:-1])
        looked_at = np.append(False, by_name[:-1])
        looked_at[begins] = self._looked_at[file[begins]]
        ends = np.append(begins[1:], True)
        self._looked_at[file[ends]] = by_name[ends]
        first = order[by_name & ~looked_at]
        loop = by_loop[first].astype(np.int64)
        self.sums += [np.bincount(loop, minlength=2), np.bincount(loop, lasted_ns[first], minlength=2)]
