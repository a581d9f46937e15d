"""What a draw shows as a whole: shares of its jobs, each with the count and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .judgement import Judgement

Z_95 = 1.959964


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Gives the 95 % interval of a share after Wilson; 0 to 1 where nothing was counted."""
    if not of:
        return 0.0, 1.0
    share, square = hits / of, Z_95**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z_95 * math.sqrt(share * (1 - share) / of + square / (4 * of**2)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Total:
    """A share of the jobs, counted."""

    words: str
    hits: int
    of: int
    wanted: str = ""

    @property
    def line(self) -> str:
        """Words it: "right first finding: 12 of 15, 80 % (55 to 93 %)"."""
        low, high = wilson(self.hits, self.of)
        if not self.of:
            return f"{self.words}: none to count"
        wanted = f"; wanted {self.wanted}" if self.wanted else ""
        share = f"{self.hits / self.of:.0%} ({low:.0%} to {high:.0%}{wanted})"
        return f"{self.words}: {self.hits} of {self.of}, {share}"


def totals(judgements: Sequence[Judgement]) -> list[Total]:
    """Counts what the laboratory is for."""
    slow = [one for one in judgements if one.best and one.first != "unclear"]
    promised = [one for one in judgements if one.promise in ("inside", "below", "above")]
    healthy = [one for one in judgements if not one.best]
    applied = [one for one in judgements if one.again is not None]
    printed = [one for one in judgements if one.typed]

    def count(words: str, among: Sequence[Judgement], hits: Sequence[bool], wanted: str = "") -> Total:
        return Total(words, sum(hits), len(among), wanted)

    real = [one for one in slow if one.real]
    return [
        count("right first finding", slow, [one.first == "right" for one in slow], ">= 85 %"),
        count("right first finding, real devices", real, [one.first == "right" for one in real], ">= 85 %"),
        count("partly right first finding", slow, [one.first == "partly" for one in slow]),
        count("promise inside its range", promised, [one.promise == "inside" for one in promised], ">= 90 %"),
        count(
            "promise below its lower bound", promised, [one.promise == "below" for one in promised], "<= 3 %"
        ),
        count("headline within 15 % of the best cure", slow, [one.near_best for one in slow], ">= 80 %"),
        count(
            "jobs whose runs differ by as much as their best cure gives, not judged",
            judgements,
            [one.first == "unclear" for one in judgements],
        ),
        count(
            "false alarm where nothing is to be cured",
            healthy,
            [one.first == "alarm" for one in healthy],
            "0",
        ),
        count("cure applied as printed", printed, [one.typed == "as printed" for one in printed]),
        count("cure offered again after it was applied", applied, [bool(one.again) for one in applied], "0"),
        count(
            "jobs of which findings, advice and what-if contradict each other",
            judgements,
            [bool(one.contradictions) for one in judgements],
            "0",
        ),
    ]


def mean_width(judgements: Sequence[Judgement]) -> float | None:
    """Gives the mean of upper over lower bound of the promises that were kept, None where none was."""
    widths = [
        one.said.promise[2] / one.said.promise[0]
        for one in judgements
        if one.promise == "inside" and one.said.promise is not None
    ]
    return math.fsum(widths) / len(widths) if widths else None
