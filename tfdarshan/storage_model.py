"""Device models for storage emulation: what a call on such storage would take.

A call that moves bytes costs, on the device's one queue, a seek (where it does not go on where the last call
ended; shortened by `n ** -seek_exponent` with n calls under way, as an elevator does) and its bytes by the
bandwidth; and then a latency, which up to `concurrency` calls pay at once. An open costs its latency, and
so do a read that returns nothing, a stat by path and a sync where the model says so; elsewhere the answer is
known on this side. Nothing is cached: every byte is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tfdarshan.errors import ConfigurationError, meant


@dataclass(frozen=True, kw_only=True)
class StorageModel:
    """One device. Times in seconds, bandwidths in bytes per second; bandwidth 0 is unlimited."""

    name: str
    about: str
    open_s: float = 0.0
    read_s: float = 0.0
    write_s: float = 0.0
    empty_read_s: float = 0.0
    stat_s: float = 0.0
    sync_s: float = 0.0
    concurrency: int = 64
    seek_s: float = 0.0
    seek_exponent: float = 0.0
    read_bandwidth: float = 0.0
    write_bandwidth: float = 0.0

    def seek_time_s(self, in_flight: int) -> float:
        """Return a seek's time with so many calls under way."""
        return float(self.seek_s * in_flight**-self.seek_exponent)

    def files_time_s(self, sizes_bytes: Iterable[int], threads: int) -> float:
        """Return the time for reading files whole, by `threads` threads at a time.

        Each takes what TensorFlow's read_file does: a stat, an open, a read, and one that returns nothing.

        The queue and the latencies overlap once there are several threads: the slower of the two counts.
        """
        sizes = list(sizes_bytes)
        transfer_s = sum(sizes) / self.read_bandwidth if self.read_bandwidth else 0.0
        queue_s = len(sizes) * self.seek_time_s(threads) + transfer_s
        latency_s = len(sizes) * (self.stat_s + self.open_s + self.read_s + self.empty_read_s)
        return max(queue_s, (queue_s + latency_s) / min(threads, self.concurrency))


# Bandwidths: IOR reads of arXiv 1810.03035. Latencies and the exponent are fitted to its curves over threads
# (2.3x on the disk, 7.8x on Lustre at 8 threads), so that these two are inputs and no result.
HDD = StorageModel(
    name="hdd",
    about="one arm: seeks of 8 ms, shortened by n^-0.44 with n calls waiting; 163 MB/s",
    seek_s=8e-3,
    seek_exponent=0.44,
    read_bandwidth=163e6,
    write_bandwidth=163e6,
    concurrency=1,
)
SSD = StorageModel(
    name="ssd",
    about="0.1 ms a read, 32 at a time; 280 MB/s",
    read_s=1e-4,
    write_s=1e-4,
    concurrency=32,
    read_bandwidth=280e6,
    write_bandwidth=280e6,
)
OPTANE = StorageModel(
    name="optane",
    about="10 us a read, 64 at a time; 1,603 MB/s",
    read_s=1e-5,
    write_s=1e-5,
    read_bandwidth=1603e6,
    write_bandwidth=1603e6,
)
LUSTRE = StorageModel(
    name="lustre",
    about="2 ms an open and 3 ms a read, 64 at a time; 1,968 MB/s",
    open_s=2e-3,
    read_s=3e-3,
    write_s=3e-3,
    read_bandwidth=1968e6,
    write_bandwidth=1968e6,
)
BUCKET = StorageModel(
    name="bucket",
    about="an object store mounted without a cache: 10 ms for every open, read (an empty one too), write, "
    "stat and sync, 64 at a time; 500 MB/s",
    open_s=1e-2,
    read_s=1e-2,
    write_s=1e-2,
    empty_read_s=1e-2,
    stat_s=1e-2,
    sync_s=1e-2,
    read_bandwidth=500e6,
    write_bandwidth=500e6,
)
PAPER_MODELS = (HDD, SSD, OPTANE, LUSTRE)
STORAGE_MODELS = (*PAPER_MODELS, BUCKET)


def find_model(name: str) -> StorageModel:
    """Return the model of that name.

    Raises:
        ConfigurationError: There is none.
    """
    names = [model.name for model in STORAGE_MODELS]
    for model in STORAGE_MODELS:
        if model.name == name:
            return model
    hint = meant(str(name), names, f"take one of {', '.join(names)}.")
    raise ConfigurationError(f"there is no storage model {name!r}: {hint}")
