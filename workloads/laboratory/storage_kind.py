"""The storage of a drawn job: on which medium, with which limits, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Medium = Literal["fuse", "emulated", "ext4"]
MEDIA: tuple[Medium, ...] = ("fuse", "emulated", "ext4")
REAL: tuple[Medium, ...] = ("fuse", "ext4")
EMULATED = ("bucket", "hdd", "lustre", "ssd")
# Folders that the files of a data set lie in: one of them may be slow.
PARTS = 8
MOST_AT_A_TIME = 64  # requests, where a model names no number


@dataclass(frozen=True)
class StorageKind:
    """One kind.

    Attributes:
        medium: "fuse": our slow FUSE server; "emulated": `as_if` of the profiler; "ext4": a throttled device.
        name: What limits it, in a word or two: what draws are counted by.
        words: It, for people.
        model: In the FUSE server's words (`fuse_mount`), for the emulated ones and ext4 as well.
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
        """Return a number of the model, 0 where it says none."""
        return float(self.model.get(word, 0.0))

    @property
    def at_a_time(self) -> float:
        """How many requests wait side by side."""
        return self.number("concurrency") or MOST_AT_A_TIME

    def slower(self, samples: int) -> float:
        """Return how many times longer a request takes on average than the model says."""
        every_s, path_times = self.number("slow_every_s"), self.number("path_times")
        times = 1 + (self.number("slow_for_s") / every_s * (self.number("slow_times") - 1) if every_s else 0)
        slow_part = 1 / PARTS if self.name == "slow mount" else 1 / samples
        return times * (1 + (slow_part * (path_times - 1) if path_times else 0))
