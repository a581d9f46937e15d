"""Counters of a file, and a spool's batch of them."""

from __future__ import annotations

import numpy as np

from tfdarshan.native import _bridge
from tfdarshan.native.spool_reader import FileBatch
from tfdarshan.sessions.schema import MODULES

# An open, three reads of 100 bytes, a close.
READ = {
    "POSIX_OPENS": 1,
    "POSIX_READS": 3,
    "POSIX_BYTES_READ": 300,
    "POSIX_SEQ_READS": 2,
    "POSIX_CONSEC_READS": 2,
    "POSIX_F_READ_TIME": 0.25,
}


def batch_of(module: str, counted: dict[str, float]) -> FileBatch:
    """A batch of one row."""
    names = [counter.name for counter in _bridge.counters()]
    f_names = [counter.name for counter in _bridge.f_counters()]
    counters = np.array([[int(counted.get(name, 0))] for name in names], np.int64)
    f_counters = np.array([[float(counted.get(name, 0))] for name in f_names])
    one = np.zeros(1, np.int64)
    return FileBatch(
        one.astype(np.uint32) + 2,
        one.astype(np.uint8) + MODULES.index(module),
        one,
        one,
        counters,
        f_counters,
    )
