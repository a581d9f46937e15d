"""What a finding says: what is wrong, what shows it, what it costs, how to cure it, what that gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

# "doubt": the session itself is not to be trusted; "problem": costs time that a cure gives back;
# "note": worth knowing, nothing to cure.
Kind = Literal["doubt", "problem", "note"]
KINDS: tuple[Kind, ...] = ("doubt", "problem", "note")


@dataclass(frozen=True)
class Assumption:
    """One thing that the lower bound of a gain rests on.

    Attributes:
        claim: What is taken to be so.
        support: What of the session shows it, with a figure; "" if nothing does.
        refuted_by: What would show that it is not so, to be read after "wrong if".
        told_by: The command that tells whether it is so; "" if there is none.
    """

    claim: str
    support: str
    refuted_by: str
    told_by: str = ""


@dataclass(frozen=True)
class Gain:
    """What a cure alone, applied to the run as it was recorded, saves of each unit of time.

    Nothing is saved for certain if one of the assumptions has no support, or if none is named.

    Attributes:
        unit: "step" or "session": what the seconds are of.
        before_s: What one took, mean of all.
        low_s: Lower bound of what is saved of it.
        saved_s: What is saved, by the model.
        high_s: Upper bound.
        assumptions: What the lower bound rests on.
        if_so_s: What is saved if all that is assumed is so; `saved_s` where nothing of that is in doubt.
    """

    unit: str
    before_s: float
    low_s: float
    saved_s: float
    high_s: float
    assumptions: tuple[Assumption, ...] = ()
    if_so_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.supported:
            object.__setattr__(self, "low_s", min(self.low_s, 0.0))
        object.__setattr__(self, "if_so_s", max(self.if_so_s, self.saved_s))

    @property
    def supported(self) -> bool:
        """Whether the session supports all that is assumed."""
        return bool(self.assumptions) and all(entry.support for entry in self.assumptions)

    @property
    def doubts(self) -> tuple[Assumption, ...]:
        """What it assumes that nothing of the session shows."""
        return tuple(entry for entry in self.assumptions if not entry.support)

    @property
    def speedup(self) -> float:
        """How many times faster it is expected to be: 1.4 is 1.4x."""
        return speedup(self.before_s, self.saved_s)

    @property
    def speedup_if_so(self) -> float:
        """How many times faster it is if all that is assumed is so."""
        return speedup(self.before_s, self.if_so_s)

    @property
    def worth(self) -> float:
        """How many times faster it counts as, for comparison with others.

        A gain of which nothing is certain counts as the square root of what it is if all that it assumes is
        so: halfway, by ratio, between none and that.
        """
        return self.speedup if self.speedup_range[0] > 1 else math.sqrt(self.speedup_if_so)

    @property
    def speedup_range(self) -> tuple[float, float]:
        """The bounds of `speedup`."""
        return speedup(self.before_s, self.low_s), speedup(self.before_s, self.high_s)


@dataclass(frozen=True)
class Evidence:
    """One number that shows it, worded, and as it is."""

    label: str
    text: str
    value: float | None = None


@dataclass(frozen=True)
class Cure:
    """What to do: a sentence, and the line to change as it would be before and after; that may be several."""

    what: str
    line: str = ""
    instead_of: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing found.

    Attributes:
        name: The finding's name, one of `findings.NAMES`.
        kind: "doubt", "problem" or "note".
        title: A few words.
        what: What happens, in one or two sentences.
        evidence: The numbers that show it.
        files: The files or folders that show it best, at most five.
        unit: What `cost_s` is per: "step" or "session".
        cost_s: Seconds of a unit that this costs and no finding before it in FINDINGS already claims, so
            that the costs of all findings add up to no more than what is lost.
        stall_s: Of `cost_s`, what the training loop itself stood still for, outside of its wait for input.
        cost_share: `cost_s` as a share of the unit.
        cure: What to do; None where there is nothing to do.
        gain: What the cure alone gives; None where it is not known or there is none.
        not_worth: When not to bother.
        copied_bytes: What the cure copies or converts, 0 if nothing.
        one_of: Names of findings whose cures give the same seconds back: one of them will do.
    """

    name: str
    kind: Kind
    title: str
    what: str
    evidence: tuple[Evidence, ...] = ()
    files: tuple[str, ...] = ()
    unit: str = "step"
    cost_s: float = 0.0
    stall_s: float = 0.0
    cost_share: float = 0.0
    cure: Cure | None = None
    gain: Gain | None = None
    not_worth: str = ""
    copied_bytes: float = 0.0
    one_of: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


@dataclass(frozen=True)
class Unknown:
    """A finding that the session cannot tell: why not, and what to record."""

    name: str
    why: str
    record: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def speedup(before_s: float, saved_s: float) -> float:
    """Gives how many times faster something is that took `before_s` and takes `saved_s` less."""
    left = before_s - saved_s
    if before_s <= 0:
        return 1.0
    return before_s / left if left > 0 else math.inf
