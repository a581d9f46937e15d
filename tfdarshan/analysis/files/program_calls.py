"""What programs themselves ask for: an interpreter's start, imports, libraries and system files.

A process is told by the names of files, not by time: stats before the first read may be the job's own, and
modules are imported late, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.counter_groups import BYTES_READ, NO_OPENS, OPENS, READS, WRITES
from tfdarshan.analysis.files.input_files import program_files
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, plural

STATS = ("POSIX_STATS", "TFD_STATS_OTHER")
# A smaller share of the opens and stats needs no sentence on a screen.
WORTH_SAYING = THRESHOLD["hardly"]


@dataclass(frozen=True)
class ProgramCalls:
    """Calls on modules, libraries and system files, and stats of the folders that modules are in.

    Attributes:
        opens: Times that such a file was opened by its name.
        stats: Stats of such files and folders, also of those that do not exist.
        reads: Reads of them.
        bytes_read: Bytes that these gave.
        asked: Opens and stats of the session, on all files.
    """

    opens: int
    stats: int
    reads: int
    bytes_read: int
    asked: int

    @property
    def made(self) -> bool:
        """Whether there are any."""
        return bool(self.opens or self.stats or self.reads)

    @property
    def worth_saying(self) -> bool:
        """Whether they are many of the session's opens and stats."""
        return self.opens + self.stats > WORTH_SAYING * self.asked

    @property
    def words(self) -> str:
        """Words what they are."""
        read = f" ({human_bytes(self.bytes_read)})" if self.bytes_read else ""
        counts = f"{plural(self.opens, 'open')}, {plural(self.stats, 'stat')}"
        return f"{counts} and {plural(self.reads, 'read')}{read} of modules, libraries and system files"

    @property
    def sentence(self) -> str:
        """Say that findings leave them out."""
        return f"Findings leave out {self.words}, such as imports make."


class ProgramSums:
    """Adds up such calls from rows of files tables."""

    def __init__(self) -> None:
        self._sums = dict.fromkeys(("opens", "stats", "reads", "bytes_read"), 0)
        self._asked = 0
        self._folders: set[str] = set()
        # Rows that are only asked about may be folders of modules that later rows name.
        self._maybe: list[tuple[Any, Array]] = []

    def add(self, columns: Mapping[str, Any]) -> None:
        """Add rows.

        Args:
            columns: NumPy arrays by the counters' names, `size_bytes`, and `path` as a pyarrow array.
        """
        paths = columns["path"]
        opens = _sum(columns, OPENS, len(paths)) - _sum(columns, NO_OPENS, len(paths))
        stats, moves = _sum(columns, STATS, len(paths)), _sum(columns, (*READS, *WRITES), len(paths))
        self._asked += int(opens.sum() + stats.sum())
        mask = program_files(paths)
        reads, read = _sum(columns, READS, len(paths)), _sum(columns, BYTES_READ, len(paths))
        for name, values in (("opens", opens), ("stats", stats), ("reads", reads), ("bytes_read", read)):
            self._sums[name] += int(values[mask].sum())
        modules = paths.filter(pa.array(mask & (opens > 0)))
        self._folders.update(path.rpartition("/")[0] for path in modules.to_pylist())
        only_asked = ~mask & (stats > 0) & (opens == 0) & (moves == 0) & (columns["size_bytes"] < 0)
        if only_asked.any():
            self._maybe.append((paths.filter(pa.array(only_asked)), stats[only_asked]))

    def calls(self) -> ProgramCalls:
        """Return the sums."""
        folders = pa.array(sorted(self._folders), pa.string())
        more = sum(
            int(stats[pc.is_in(paths.cast(pa.string()), folders).to_numpy(zero_copy_only=False)].sum())
            for paths, stats in self._maybe
        )
        sums = self._sums | {"stats": self._sums["stats"] + more}
        return ProgramCalls(**sums, asked=self._asked)


NO_PROGRAMS = ProgramSums().calls()


def _sum(columns: Mapping[str, Any], names: Iterable[str], rows: int) -> Array:
    found: Array = np.zeros(rows, np.int64)
    for name in names:
        if name in columns:
            found = found + columns[name]
    return found
