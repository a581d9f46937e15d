"""Holds what the tool said of a job against what is true of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .fix_pair import FixPair
from .known_fix import FINDINGS_OF
from .run_times import Times
from .said import LEAST_GAIN, Said
from .timed_run import TimedRun
from .truth import AS_GOOD, STAGING, Truth

FirstFinding = Literal["right", "partly", "wrong", "missed", "alarm", "quiet", "marginal", "unclear"]
Promise = Literal["inside", "below", "above", "missed", "none", "unmeasured"]
# A lower bound of at most this promises nothing for certain.
OPEN = 1.01
# Who expects so much, and gets less than LEAST_GAIN, was told something wrong, whatever the range says.
MUCH = 1.2
KNOWN = {name for names in FINDINGS_OF.values() for name in names}


@dataclass(frozen=True)
class Judgement:
    """What was found of one job; gains are times faster.

    Attributes:
        best: Name of the best single fix, "" where nothing is to be fixed.
        first: What the first finding is; "unclear" where runs differ by so much that they leave open whether
            anything is to be fixed; "marginal" where the best fix gives 5 to 10 %.
        obtained: Gain of the headline's fix, as printed if it can be applied so; None where
            it was not measured.
        obtained_range: And its 90 % interval, by what runs differ by.
        lasting: The same of a longer run, as the best fix's gain is.
        near_best: That is 85 % of what the best fix gives, as far as the runs tell.
        typed: "as printed", "cannot be typed: ...", or "" where nothing is printed.
        noise: The longest run of the job over the shortest: what is not the fix's.
        again: The same fix was offered again after it was applied; None where it was not applied.
        pairs: What the replay model and the findings expect of each fix that was run.
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
    obtained_range: tuple[float, float] | None = None
    lasting: float | None = None
    near_best: bool = False
    typed: str = ""
    again: bool | None = None
    unknown_name: bool = False
    noise: float = 1.0
    disturbed: float = 0.0
    crowded: float = 0.0
    pairs: tuple[FixPair, ...] = ()

    @property
    def firm(self) -> bool:
        """Something is promised for certain."""
        return self.said.promise is not None and self.said.promise[0] > OPEN

    @property
    def near_best_by_medians(self) -> bool:
        """The same with what runs differ by left out."""
        return self.lasting is not None and self.lasting >= AS_GOOD * self.best_gain


def judge_first(said: Said, truth: Truth) -> FirstFinding:
    """Return whether the first finding is right, of a job that is slow: its best fix gives 10 % or more.

    It is if its fix gives 85 % of what the best fix of no more effort gives, as far as the runs tell, and
    saves at least half of the time that the best of all saves; partly right if its fix gives 5 % or more.
    """
    if truth.unclear:
        return "unclear"
    if truth.marginal:
        return "marginal"
    if truth.best is None:
        return "alarm" if said.problems else "quiet"
    if not said.first:
        return "missed"
    tried = truth.tried_for(said.first)
    if tried is None or tried.failure:
        return "wrong"
    gain = truth.gain(tried)
    saved, most = 1 - 1 / max(gain, 1.0), 1 - 1 / truth.best_gain
    best = truth.best_within(tried.fix.effort)
    if truth.as_good(gain, len(tried.runs), best) and saved >= most / 2 and gain >= LEAST_GAIN:
        return "right"
    return "partly" if gain >= LEAST_GAIN else "wrong"


def judge_promise(said: Said, obtained: Times | None) -> Promise:
    """Hold the range against the gain, as far as runs tell that: it is broken beyond what they differ by.

    A lower bound of 1 promises nothing: it is broken only if the fix costs 5 % or more. But a gain far above
    1 that does not come is missed, however low the range begins.
    """
    if said.promise is None:
        return "none"
    if obtained is None:
        return "unmeasured"
    low, expected, high = said.promise
    if obtained.high < (low if low > 1 else 1 / LEAST_GAIN):
        return "below"
    if expected >= MUCH and obtained.middle < LEAST_GAIN:
        return "missed"
    return "above" if obtained.low > high else "inside"


def leaves_open(said: Said, obtained: Times) -> bool:
    """Whether the medians break a promise, and by no more than what runs differ by."""
    exactly = Times(obtained.middle, obtained.middle, obtained.middle)
    return judge_promise(said, exactly) != judge_promise(said, obtained)


def judge(
    seed: int,
    words: str,
    said: Said,
    truth: Truth,
    *,
    real: bool,
    typed: str = "",
    printed_runs: Sequence[TimedRun] = (),
    again: bool | None = None,
    pairs: tuple[FixPair, ...] = (),
) -> Judgement:
    """Return the judgement of a job.

    Args:
        seed: Of the job.
        words: It.
        said: What the tool said of its first run.
        truth: What is true.
        real: It was on a real device.
        typed: How its fix could be applied.
        printed_runs: The runs with it.
        again: Whether it was offered again then.
        pairs: Of all its fixes.
    """
    by_hand = truth.tried_for(said.first) if said.first else None
    runs = printed_runs or ([] if by_hand is None or by_hand.failure else by_hand.runs)
    # What is promised is of the run as it was recorded; what is best, of a longer one.
    obtained = truth.times(runs, unit=said.unit) if runs else None
    staged = said.first == STAGING or (by_hand is not None and by_hand.fix.name == STAGING)
    lasting = truth.times(runs, staged=staged).middle if runs else None
    return Judgement(
        seed=seed,
        real=real,
        words=words,
        best=truth.best.fix.name if truth.best is not None else "",
        best_gain=truth.best_gain,
        said=said,
        first=judge_first(said, truth),
        promise=judge_promise(said, obtained),
        obtained=None if obtained is None else obtained.middle,
        obtained_range=None if obtained is None else (obtained.low, obtained.high),
        lasting=lasting,
        near_best=lasting is not None and truth.as_good(lasting, len(runs), truth.best),
        typed=typed,
        again=again,
        unknown_name=bool(said.first) and said.first not in KNOWN,
        noise=truth.noise,
        disturbed=truth.disturbed,
        crowded=truth.crowded,
        pairs=pairs,
    )
