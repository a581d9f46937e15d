"""Jobs whose every number is known: files of given sizes, read so often, at a given time per pass."""

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.time_model import TimeModel
from tfdarshan.staging.file_use import FileUse, Mount
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.run_facts import RunFacts

HDD = (8e-3, 1 / 163e6)
FAST = TierProbe(TimeModel(20e-6, 1 / 2e9, 50, 1.0, 0.0), 1e9, True, "assumed")


def file_use(size, opens, *, tier=HDD, storage_opens=None, noise=0.0, seed=0, mount=("/data", "nfs4")):
    """Gives the use of files that `storage_opens` of their `opens` passes took from the tier."""
    size, opens = np.asarray(size, np.int64), np.asarray(opens, np.int32)
    served = opens if storage_opens is None else np.asarray(storage_opens, np.int32)
    scatter = np.exp(noise * np.random.default_rng(seed).standard_normal(len(size)))
    seconds = served * (tier[0] + size * tier[1]) * scatter
    zeros = np.zeros(len(size), np.float32)
    return FileUse(
        paths=pa.chunked_array([pa.array([f"/data/{i:06}" for i in range(len(size))], pa.large_string())]),
        size_bytes=size,
        is_input=np.ones(len(size), bool),
        is_used=np.ones(len(size), bool),
        counted_bytes=opens * size,
        times_read=opens.astype(float),
        opens=opens,
        reads=2 * opens,
        bytes_read=opens * size,
        bytes_written=np.zeros(len(size), np.int64),
        moves=np.zeros(len(size), np.int32),
        read_s=seconds.astype(np.float32),
        meta_s=zeros,
        open_s=zeros,
        stat_s=zeros,
        storage_s=seconds.astype(np.float32),
        storage_bytes=(served * size).astype(np.float32),
        mount=np.zeros(len(size), np.int16),
        mounts=(Mount(*mount),),
    )


def run_of(use, *, readers=4, other_s=0.0, read_bytes=None):
    """Gives a run in which `readers` threads do nothing but read, and `other_s` seconds pass without I/O."""
    thread_s = float(use.read_s.sum())
    io_s = thread_s / readers
    return RunFacts(io_s + other_s, io_s, thread_s, float(readers), read_bytes, ("session",))


def malware_like(count, seed=0):
    """Gives sizes of which the smallest two fifths hold about 8 % of the bytes, as in the paper."""
    return (1_000 * np.exp(1.1 * np.random.default_rng(seed).standard_normal(count)) * 400).astype(np.int64)
