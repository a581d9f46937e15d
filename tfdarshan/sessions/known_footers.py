"""What the ends of tables say, kept for who reads a large table part by part.

The end of a table of 640 million calls names 5,000 row groups. To read it anew for each of 600 parts would
take a fifth of all the time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

# Row groups that are kept in mind, some 9 kB each; one table is, whatever it has.
MOST_GROUPS = 8_192


class KnownFooters:
    """Footers of the tables that were read last.

    Args:
        most: How many row groups they have together at most.
    """

    def __init__(self, most: int = MOST_GROUPS) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[Any, ...], tuple[Any, Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, path: Path, read: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
        """Return a table's metadata, and what was worked out of them; of another file of its name anew.

        Args:
            path: The file.
            read: Reads them.
        """
        found = path.stat()
        key = str(path), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        read_now = read()
        with self._lock:
            self._kept[key] = read_now
            while len(self._kept) > 1 and self.groups > self._most:
                self._kept.popitem(last=False)
        return read_now

    @property
    def groups(self) -> int:
        """How many row groups the kept ones have."""
        return sum(metadata.num_row_groups for metadata, _ in self._kept.values())
