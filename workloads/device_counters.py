"""What a block device counts: bytes read from it, by /proc/diskstats, sampled while something runs."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

SECTOR_BYTES = 512  # of /proc/diskstats, whatever the device's own
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Sample:
    """Bytes read from the device until a moment."""

    time_ns: int  # CLOCK_REALTIME
    bytes_read: int


class DeviceCounter:
    """Reads the counters of the block device that a folder lies on."""

    def __init__(self, directory: Path) -> None:
        number = os.stat(directory).st_dev
        self._number = (str(os.major(number)), str(os.minor(number)))
        self._samples: list[Sample] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_sampling, name="diskstats", daemon=True)

    @property
    def available(self) -> bool:
        """Whether the folder lies on a block device that counts."""
        return self._fields() is not None

    @property
    def name(self) -> str:
        """The device's name."""
        fields = self._fields()
        return fields[2] if fields else ""

    def sample(self) -> Sample:
        """Read the counter now."""
        fields = self._fields()
        return Sample(time.time_ns(), int(fields[5]) * SECTOR_BYTES if fields else 0)

    def start(self, period_s: float = 1.0) -> None:
        """Samples every `period_s` from now on."""
        self._period_s = period_s
        self._samples = [self.sample()]
        self._thread.start()

    def stop(self) -> list[Sample]:
        """End sampling and return the samples, a last one of this moment included."""
        self._ended.set()
        self._thread.join()
        self._samples.append(self.sample())
        return self._samples

    def _keep_sampling(self) -> None:
        while not self._ended.wait(self._period_s):
            self._samples.append(self.sample())

    def _fields(self) -> list[str] | None:
        for line in Path("/proc/diskstats").read_text(encoding="ascii").splitlines():
            fields = line.split()
            if tuple(fields[:2]) == self._number:
                return fields
        return None


def page_rounded(size_bytes: int) -> int:
    """Return what a file occupies in pages, which is what a device is asked for."""
    return -(-size_bytes // PAGE_BYTES) * PAGE_BYTES
