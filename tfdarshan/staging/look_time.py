"""What looks at originals take of a run with `run --staged`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.reading_times import NEVER_NS
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.original_looks import LOOK_AGAIN_S, LOOK_AHEAD_S

Array = Any

# Storage serves several of them at a time, or one: FUSE may be asked for one name of a folder at a time.
EXPECTED_AT_A_TIME, LEAST_AT_A_TIME = 4, 1
# An open asks a server twice, for the name and for the file, and a look once; twice, where a FUSE file system
# has the kernel keep no attributes, for the kernel then asks for these by themselves.
LOOK_OF_OPEN, MOST_OF_OPEN = 0.5, 1.0


@dataclass(frozen=True)
class Looks:
    """What the job's own opens take for looks in a run with the copies; one entry per file, of all sessions.

    Attributes:
        look_s: Time of a look; 0 where it asks no slow server.
        expected_s: Time of all that are expected to be left to these opens.
        most_s: The same if storage serves looks one at a time, and a look takes as long as an open.
        least_s: The same if those that the job would make first are all made ahead.
    """

    look_s: Array
    expected_s: Array
    most_s: Array
    least_s: Array


def looks_at(use: FileUse, rows: Array, asked: Array, run_s: float) -> Looks:
    """Works out what looks take of a run that takes `run_s`.

    The first open of a copy in a run looks, unless that was done ahead, and then one each minute.

    Args:
        use: What the files were used for.
        rows: The files.
        asked: Of which of them opening asks a slow server.
        run_s: How long the run takes, with the copies.
    """
    open_s = np.where(asked, use.open_s[rows] / np.maximum(use.opens[rows], 1), 0).astype(np.float32)
    by_fuse = np.array([mount.fs_type.startswith("fuse") for mount in use.mounts], bool)[use.mount[rows]]
    look_s, longest_s = LOOK_OF_OPEN * open_s, np.where(by_fuse, MOST_OF_OPEN, LOOK_OF_OPEN) * open_s
    first = np.minimum(use.opens[rows], use.runs)
    later = np.minimum(use.opens[rows] - first, use.runs * math.floor(run_s / LOOK_AGAIN_S))
    start_s = min(_start_s(use, rows), LOOK_AHEAD_S)

    def seconds(each_s: Array, ahead_s: float) -> Array:
        """Gives the time of these looks if `ahead_s` of those that a run makes first go on before."""
        whole_s = float((first * each_s).sum(dtype=np.float64)) / use.runs
        left = max(0.0, 1 - ahead_s / whole_s) if whole_s > 0 else 0.0
        return each_s * (first * left + later)

    return Looks(
        look_s=look_s,
        expected_s=seconds(look_s, EXPECTED_AT_A_TIME * min(run_s, LOOK_AHEAD_S)),
        most_s=seconds(longest_s, LEAST_AT_A_TIME * start_s),
        least_s=seconds(look_s, math.inf),
    )


def _start_s(use: FileUse, rows: Array) -> float:
    """Gives after how many seconds a program read the first of some files; 0 if that is not known."""
    return min(
        (float(times.first_ns[rows].min(initial=NEVER_NS)) / 1e9 for times in use.reading), default=0.0
    )
