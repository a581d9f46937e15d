"""Holds what the tool said of a job against what is true of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tfdarshan.findings.diagnosis import Diagnosis

from .known_cure import FINDINGS_OF, REMARKS
from .truth import AS_GOOD, LEAST_GAIN, Truth

FirstFinding = Literal["right", "partly", "wrong", "missed", "alarm", "quiet"]
Promise = Literal["inside", "below", "above", "none", "unmeasured"]
Z_95 = 1.959964
KNOWN = {name for names in FINDINGS_OF.values() for name in names}


@dataclass(frozen=True)
class Said:
    """What the tool says first.

    Attributes:
        state: "slow", "healthy" or "unknown".
        first: The headline's finding, "" where it names none.
        promise: Its gain: lower bound, expected, upper bound; None where it promises none.
        problems: Names of all problems.
        line: What its cure says to write.
        instead_of: And to take out.
    """

    state: str
    sentence: str
    first: str
    promise: tuple[float, float, float] | None
    problems: tuple[str, ...]
    line: str = ""
    instead_of: str = ""


@dataclass(frozen=True)
class Judgement:
    """What was found of one job; gains are times faster.

    Attributes:
        best: Name of the best single cure, "" where nothing is to be cured.
        obtained: Gain of the headline's cure, as printed if it can be applied so; None where
            it was not measured.
        typed: "as printed", "cannot be typed: ...", or "" where nothing is printed.
        again: The same cure was offered again after it was applied; None where it was not applied.
    """

    seed: int
    real: bool
    words: str
    best: str
    best_gain: float
    said: Said
    first: FirstFinding
    promise: Promise
    obtained: float | None
    typed: str = ""
    again: bool | None = None
    unknown_name: bool = False
    disturbed: float = 0.0
    crowded: float = 0.0

    @property
    def near_best(self) -> bool:
        """The headline's cure gives 85 % of what the best one gives."""
        return self.obtained is not None and self.obtained >= AS_GOOD * self.best_gain


def said_in(diagnosis: Diagnosis) -> Said:
    """Takes from a diagnosis what is judged."""
    verdict = diagnosis.verdict
    first = verdict.finding if verdict.finding not in REMARKS else ""
    finding = next((one for one in diagnosis.findings if one.name == first), None)
    cure = finding.cure if finding is not None else None
    gain = verdict.gain if first else None
    promise = None
    if gain is not None:
        low, high = gain.speedup_range
        promise = (low, gain.speedup, min(high, 1e9))
    return Said(
        verdict.state,
        verdict.sentence,
        first,
        promise,
        tuple(one.name for one in diagnosis.problems),
        cure.line if cure else "",
        cure.instead_of if cure else "",
    )


def judge_first(said: Said, truth: Truth) -> FirstFinding:
    """Says whether the first finding is right.

    It is if its cure gives 85 % of what the best cure of no more effort gives, and saves at least half of the
    time that the best of all saves; partly right if its cure gives 5 % or more.
    """
    if truth.best is None:
        return "alarm" if said.problems else "quiet"
    if not said.first:
        return "missed"
    gain = truth.gain_of(said.first)
    saved, most = 1 - 1 / max(gain, 1.0), 1 - 1 / truth.best_gain
    if gain >= AS_GOOD * truth.best_within(truth.effort_of(said.first)) and saved >= most / 2:
        return "right"
    return "partly" if gain >= LEAST_GAIN else "wrong"


def judge_promise(said: Said, obtained: float | None) -> Promise:
    """Holds the range against the gain."""
    if said.promise is None:
        return "none"
    if obtained is None:
        return "unmeasured"
    low, _, high = said.promise
    if obtained < low:
        return "below"
    return "above" if obtained > high else "inside"


def judge(
    seed: int,
    words: str,
    said: Said,
    truth: Truth,
    *,
    real: bool,
    typed: str = "",
    typed_gain: float | None = None,
    again: bool | None = None,
) -> Judgement:
    """Gives the judgement of a job.

    Args:
        seed: Of the job.
        words: It.
        said: What the tool said of its first run.
        truth: What is true.
        real: It was on a real device.
        typed: How its cure could be applied.
        typed_gain: What that gave.
        again: Whether it was offered again then.
    """
    by_hand = truth.gain_of(said.first) if said.first else 0.0
    obtained = typed_gain if typed_gain is not None else by_hand or None
    return Judgement(
        seed=seed,
        real=real,
        words=words,
        best=truth.best.cure.name if truth.best is not None else "",
        best_gain=truth.best_gain,
        said=said,
        first=judge_first(said, truth),
        promise=judge_promise(said, obtained),
        obtained=obtained,
        typed=typed,
        again=again,
        unknown_name=bool(said.first) and said.first not in KNOWN,
        disturbed=truth.disturbed,
        crowded=truth.crowded,
    )


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
    slow = [one for one in judgements if one.best]
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
            "false alarm where nothing is to be cured",
            healthy,
            [one.first == "alarm" for one in healthy],
            "0",
        ),
        count("cure applied as printed", printed, [one.typed == "as printed" for one in printed]),
        count("cure offered again after it was applied", applied, [bool(one.again) for one in applied], "0"),
    ]


def mean_width(judgements: Sequence[Judgement]) -> float | None:
    """Gives the mean of upper over lower bound of the promises that were kept, None where none was."""
    widths = [
        one.said.promise[2] / one.said.promise[0]
        for one in judgements
        if one.promise == "inside" and one.said.promise is not None
    ]
    return math.fsum(widths) / len(widths) if widths else None
