"""The storage of a drawn job: on which medium, with which limits, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Medium = Literal["fuse", "emulated", "ext4"]
MEDIA: tuple[Medium, ...] = ("fuse", "emulated", "ext4")
REAL: tuple[Medium, ...] = ("fuse", "ext4")


@dataclass(frozen=True)
class StorageKind:
    """One kind.

    Attributes:
        medium: "fuse": our slow FUSE server; "emulated": `as_if` of the profiler; "ext4": a throttled device.
        name: What limits it, in a word or two: what draws are counted by.
        words: It, for people.
        model: The FUSE server's words (`fuse_mount`); of ext4 `bandwidth` or `operations_per_s`; of the
            emulation nothing.
        as_if: The emulated storage's name.
    """

    medium: Medium
    name: str
    words: str
    model: Mapping[str, float | str] = field(default_factory=dict)
    as_if: str = ""

    @property
    def slow_path(self) -> str:
        """Part of the paths that alone are slow, "" if there is none."""
        return str(self.model.get("slow_path", ""))

    @property
    def keeps_pages(self) -> bool:
        """Whether the kernel caches what was read."""
        return self.medium == "ext4" or (self.medium == "fuse" and self.model.get("page_cache", 1) != 0)

    def number(self, word: str) -> float:
        """Gives a number of the model, 0 where it says none."""
        return float(self.model.get(word, 0.0))

    def sample_s(self, size_bytes: int, opens: float, reads: float) -> float:
        """Estimates what reading a sample takes, one call at a time: for a job's size, not for its truth."""
        if self.as_if:
            return EMULATED_S[self.as_if] * (opens + reads) / 2 + size_bytes / 200e6
        waits = (self.number("open_s") + self.number("stat_s")) * opens + self.number("read_s") * reads
        rates = [self.number("bandwidth"), self.number("bucket_rate")]
        moves = max([size_bytes / rate for rate in rates if rate] or [0.0])
        calls = 1 / self.number("operations_per_s") if self.number("operations_per_s") else 0.0
        part = self.number("slow_for_s") / self.number("slow_every_s") if self.number("slow_every_s") else 0.0
        longer = 1 + part * (self.number("slow_times") - 1)
        one = waits + moves + max(calls, self.number("seek_s")) * reads
        if self.name == "slow mount":
            one *= 1 + (self.number("path_times") - 1) / PARTS
        return one * longer + 2e-4


# Folders that the files of a data set lie in: one of them may be slow.
PARTS = 8
EMULATED_S = {"hdd": 0.008, "ssd": 1e-4, "lustre": 0.005, "bucket": 0.03}
