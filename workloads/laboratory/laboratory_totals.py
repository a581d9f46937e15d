"""What a draw shows as a whole: shares of its jobs, each with the count and its interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .judgement import Judgement

Z_95 = 1.959964
WIDTH = "mean width of kept promises, upper over lower bound"
# Wide promises are cheap: wanted at most.
MOST_WIDTH = 2.5
ERROR = "median |log(expected / obtained)| of all fixes that were run"
MOST_ERROR = 0.10


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share after Wilson; 0 to 1 where nothing was counted."""
    if not of:
        return 0.0, 1.0
    share, square = hits / of, Z_95**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z_95 * math.sqrt(share * (1 - share) / of + square / (4 * of**2)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Total:
    """A share of the jobs, counted.

    Attributes:
        words: What is counted.
        hits: How many are it.
        of: Of how many.
        least: The share that is wanted at least.
        most: And at most.
        left_out: Jobs that are none of these, by why.
    """

    words: str
    hits: int
    of: int
    least: float | None = None
    most: float | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def missed(self) -> bool:
        """Whether a bound is missed; where nothing was counted, none is."""
        share = self.hits / self.of if self.of else None
        too_few = share is not None and self.least is not None and share < self.least
        return too_few or (share is not None and self.most is not None and share > self.most)

    @property
    def line(self) -> str:
        """Words it: "right first finding: 12 of 15, 80 % (55 to 93 %)"."""
        left = [f"{count} {why}" for why, count in self.left_out.items() if count]
        without = f" ({', '.join(left)} left out)" if left else ""
        if not self.of:
            return f"{self.words}: none to count{without}"
        low, high = wilson(self.hits, self.of)
        share = f"{self.hits / self.of:.0%} ({low:.0%} to {high:.0%}{self._wanted})"
        return f"{self.words}: {self.hits} of {self.of}, {share}{without}"

    @property
    def _wanted(self) -> str:
        if self.least is not None:
            return f"; wanted >= {self.least * 100:.0f} %"
        if self.most is not None:
            return f"; wanted <= {self.most * 100:.0f} %" if self.most else "; wanted 0"
        return ""


def totals(judgements: Sequence[Judgement]) -> list[Total]:
    """Count what the laboratory is for."""
    return [
        *_of_findings(judgements),
        *_of_promises(judgements),
        *_of_healthy(judgements),
        *_of_fixes(judgements),
    ]


def missed(judgements: Sequence[Judgement]) -> list[str]:
    """Name the bounds that are missed."""
    found = [total.words for total in totals(judgements) if total.missed]
    figures = ((WIDTH, mean_width(judgements), MOST_WIDTH), (ERROR, median_error(judgements), MOST_ERROR))
    return [*found, *(words for words, figure, most in figures if figure is not None and figure > most)]


def median_error(judgements: Sequence[Judgement]) -> float | None:
    """Return the median of the replay model over all pairs of a job and a fix; None if no fix was run."""
    errors = [pair.log_error for one in judgements for pair in one.pairs]
    return statistics.median(errors) if errors else None


def _share(words: str, among: Sequence[Judgement], is_one: Callable[[Judgement], bool], **more: Any) -> Total:
    return Total(words, sum(is_one(one) for one in among), len(among), **more)


def _of_findings(judgements: Sequence[Judgement]) -> list[Total]:
    slow = [one for one in judgements if one.best and one.first not in ("unclear", "marginal")]
    real = [one for one in slow if one.real]

    def left(of: Sequence[Judgement]) -> dict[str, int]:
        return {why: sum(one.first == why for one in of) for why in ("unclear", "marginal")}

    def right(one: Judgement) -> bool:
        return one.first == "right"

    out, real_out = left(judgements), left([one for one in judgements if one.real])
    return [
        _share("right first finding", slow, right, least=0.85, left_out=out),
        _share("right first finding, real devices", real, right, least=0.8, left_out=real_out),
        _share("partly right first finding", slow, lambda one: one.first == "partly", left_out=out),
        _share(
            "headline within 15 % of the best fix", slow, lambda one: one.near_best, least=0.85, left_out=out
        ),
        _share(
            "the same by the medians alone, whatever runs differ by",
            slow,
            lambda one: one.near_best_by_medians,
            left_out=out,
        ),
        _share(
            "jobs whose runs leave open whether anything is to be fixed, not judged",
            judgements,
            lambda one: one.first == "unclear",
        ),
        _share(
            "jobs whose best fix gives 5 to 10 %, where to name it and to be silent are both right",
            judgements,
            lambda one: one.first == "marginal",
        ),
    ]


def _of_promises(judgements: Sequence[Judgement]) -> list[Total]:
    promised = [one for one in judgements if one.promise not in ("none", "unmeasured")]
    firm = [one for one in promised if one.firm]
    more = [one for one in promised if not one.firm]

    def is_(word: str) -> Callable[[Judgement], bool]:
        return lambda one: one.promise == word

    def left(wanted: Callable[[Judgement], bool]) -> dict[str, int]:
        return {"unmeasured": sum(one.promise == "unmeasured" and wanted(one) for one in judgements)}

    all_out = left(lambda _: True)
    return [
        _share("promise inside its range", promised, is_("inside"), least=0.9, left_out=all_out),
        _share("promise below its lower bound", promised, is_("below"), most=0.03, left_out=all_out),
        _share("promise of 1.2x or more, and not even 1.05x", promised, is_("missed"), left_out=all_out),
        _share(
            "firm promise (lower bound above 1.01x) inside its range", firm, is_("inside"),
            left_out=left(lambda one: one.firm),
        ),
        _share(
            "open promise (lower bound 1.00x) inside its range", more, is_("inside"),
            left_out=left(lambda one: not one.firm),
        ),
    ]  # fmt: skip


def _of_healthy(judgements: Sequence[Judgement]) -> list[Total]:
    healthy = [one for one in judgements if not one.best and one.first != "unclear"]
    return [
        _share(
            "false alarm where nothing is to be fixed", healthy, lambda one: one.first == "alarm", most=0.05
        ),
        _share(
            "note with a promise where nothing is to be fixed",
            healthy,
            lambda one: one.first != "alarm" and bool(one.said.notes),
        ),
    ]


def _of_fixes(judgements: Sequence[Judgement]) -> list[Total]:
    applied = [one for one in judgements if one.again is not None]
    printed = [one for one in judgements if one.typed]
    return [
        _share("fix applied as printed", printed, lambda one: one.typed == "as printed"),
        _share("fix offered again after it was applied", applied, lambda one: bool(one.again), most=0.0),
    ]


def mean_width(judgements: Sequence[Judgement]) -> float | None:
    """Return the mean of upper over lower bound of the promises that were kept, None where none was."""
    widths = [
        one.said.promise[2] / one.said.promise[0]
        for one in judgements
        if one.promise == "inside" and one.said.promise is not None
    ]
    return math.fsum(widths) / len(widths) if widths else None
