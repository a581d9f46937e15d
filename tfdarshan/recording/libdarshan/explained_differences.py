"""The kinds of difference between libdarshan and the builtin fold, and which cells each explains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import Array, FileBatch
from tfdarshan.recording.libdarshan.unseen_calls import may_change, operation_bits

# Timestamps and durations are taken by two clock readings around the same call: a thread may lose the
# processor between them.
CLOCK_TOLERANCE_S = 0.05

KINDS = {
    "stat names": "libdarshan has no wrapper for the stat functions of newer C libraries",
    "opened before": "files opened before the session are unknown to libdarshan",
    "unseen calls": "calls libdarshan has no wrapper for, or cannot be given",
    "in-kernel copies": "sendfile, copy_file_range and splice: libdarshan has no counters for them",
    "alignment": "libdarshan does not know the block size of this kind of mount",
    "mmap": "this libdarshan has no wrapper for mmap",
    "told of a close": "libdarshan is told that a descriptor closed with its stream, or was reused, is gone",
    "two clocks": "durations and timestamps are read on both sides of a call",
    "excluded files": "files that the exclude patterns leave out have libdarshan records and no rows",
    "no room": "files beyond libdarshan's memory for records (darshan_files)",
    "preloaded": "a preloaded libdarshan also counts calls that pass no patched slot",
    "earlier sessions": "what libdarshan remembers of a file from an earlier session",
    "unexplained": "no known limit of libdarshan explains these",
}

PATH_CALLS = ("stat", "fstat", "open", "rename", "fopen")
_LONGEST_SIZES = ("POSIX_MAX_READ_TIME_SIZE", "POSIX_MAX_WRITE_TIME_SIZE")


@dataclass(frozen=True)
class Rows:
    """Rows of one module that are compared: `values` are libdarshan's and those expected of it.

    Attributes:
        module: "POSIX" or "STDIO".
        batch: The batch that has the rows.
        places: The rows' places in the batch.
        names: The counters.
        values: Two arrays, rows x counters.
        carried: Rows of files that an earlier session used too.
        operations: The operations that libdarshan missed of each row, a bit each.
        exact: False where `values[1]` has the calls that libdarshan missed.
    """

    module: str
    batch: FileBatch
    places: Array
    names: tuple[str, ...]
    values: tuple[Array, Array]
    carried: Array
    operations: Array
    exact: Array

    def columns(self, wanted: Callable[[str], bool]) -> Array:
        """Mark counters by name."""
        return np.array([wanted(name) for name in self.names], bool)

    def own(self, name: str) -> Array:
        """Return a counter of ours, which libdarshan does not have."""
        place = next(i for i, counter in enumerate(_bridge.counters()) if counter.name == name)
        values: Array = self.batch.counters[place][self.places]
        return values

    def value(self, side: int, name: str) -> Array:
        """Return a counter of libdarshan (0) or as expected (1)."""
        if name not in self.names:
            return np.zeros(len(self.places))
        values: Array = self.values[side][:, self.names.index(name)]
        return values


def explanations(rows: Rows, *, foreign: bool) -> list[tuple[str, Array]]:
    """Return, for each kind in turn, the cells that it explains: rows x counters.

    Args:
        rows: What is compared.
        foreign: libdarshan was preloaded and is only read.
    """
    everything = np.ones(len(rows.names), bool)
    switches = rows.columns(lambda name: name == "POSIX_RW_SWITCHES")
    return [
        ("told of a close", _told_of_a_close(rows)),
        ("two clocks", _two_clocks(rows)),
        ("alignment", _alignment(rows)),
        ("earlier sessions", _cross(rows.carried, switches)),
        ("preloaded", _cross(np.full(len(rows.places), foreign), everything)),
        *unseen_kinds(rows, may_change(rows.operations, rows.names) & ~rows.exact[:, np.newaxis]),
    ]


def unseen_kinds(rows: Rows, cells: Array) -> list[tuple[str, Array]]:
    """Divide cells that calls changed which libdarshan did not see into kinds."""
    stats = rows.columns(lambda name: name == "POSIX_STATS")
    mappings = rows.columns(lambda name: name == "POSIX_MMAPS")
    unmapped = _cross(rows.value(0, "POSIX_MMAPS") == 0, mappings)
    # Of these calls only those by a descriptor tell of an open that libdarshan does not know.
    by_descriptor = (rows.operations & ~operation_bits(*PATH_CALLS)) != 0
    unknown = (rows.value(1, f"{rows.module}_OPENS") == 0) & by_descriptor
    rest = cells & ~stats & ~unmapped
    return [
        ("stat names", cells & stats),
        ("mmap", cells & unmapped),
        ("opened before", rest & unknown[:, np.newaxis]),
        ("unseen calls", rest & ~unknown[:, np.newaxis]),
    ]


def _one_sided(rows: Rows) -> Array:
    stamps = rows.columns(lambda name: name.endswith("_TIMESTAMP"))
    one_sided: Array = ((rows.values[0] != 0) != (rows.values[1] != 0)) & stamps
    return one_sided


def _told_of_a_close(rows: Rows) -> Array:
    closes = rows.columns(lambda name: "_CLOSE_" in name)
    told = _one_sided(rows) & (rows.values[0] != 0) & closes
    # As after any close, Darshan takes the next access for the first.
    sequences = rows.columns(lambda name: name.startswith(("POSIX_SEQ_", "POSIX_CONSEC_", "POSIX_STRIDE")))
    cells: Array = told | _cross(told.any(axis=1), sequences)
    return cells


def _two_clocks(rows: Rows) -> Array:
    """Ours are read around libdarshan's: a duration that is longer there has another reason.

    Time in metadata calls may be: closes that libdarshan is told of are calls to it, and not the program's.
    """
    stamps = rows.columns(lambda name: name.endswith("_TIMESTAMP"))
    durations = rows.columns(lambda name: "_F_" in name and name.endswith("_TIME"))
    sizes = rows.columns(lambda name: name in _LONGEST_SIZES)
    told = rows.columns(lambda name: name.endswith("_F_META_TIME"))
    longer_here = rows.values[1] > rows.values[0]
    explained: Array = (stamps & ~_one_sided(rows)) | (durations & (longer_here | told)) | sizes
    return explained


def _alignment(rows: Rows) -> Array:
    apart = rows.value(0, "POSIX_FILE_ALIGNMENT") != rows.value(1, "POSIX_FILE_ALIGNMENT")
    return _cross(apart, rows.columns(lambda name: name.startswith("POSIX_FILE_")))


def _cross(rows: Array, columns: Array) -> Array:
    crossed: Array = rows[:, np.newaxis] & columns[np.newaxis, :]
    return crossed
