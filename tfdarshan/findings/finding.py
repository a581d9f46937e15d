"""What a finding says: what is wrong, what shows it, what it costs, how to fix it, what that gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from tfdarshan.frameworks.words import Fix as Fix
from tfdarshan.replay.edits import Edit

# "doubt": the session itself is not to be trusted; "problem": costs time that a fix gives back;
# "note": worth knowing, nothing to fix.
Kind = Literal["doubt", "problem", "note"]
KINDS: tuple[Kind, ...] = ("doubt", "problem", "note")

# What a fix takes: to change lines, to copy some files or all of them, or to convert the data.
Work = Literal["lines", "copy some", "copy all", "convert"]


@dataclass(frozen=True)
class OpenQuestion:
    """One thing that the session leaves open, and that the range of a speedup hangs on.

    Attributes:
        claim: What may be so: the speedup is the larger the more it is.
        told_by: The command that tells; "" if there is none.
    """

    claim: str
    told_by: str = ""


@dataclass(frozen=True)
class Gain:
    """What a fix alone, applied to the run as it was recorded, saves of each unit of time.

    Attributes:
        unit: "step" or "session": what the seconds are of.
        before_s: What one took, mean of all.
        low_s: Lower bound of what is saved of it.
        saved_s: What is saved, by the replay.
        high_s: Upper bound.
        supported: Whether the replay reproduces the recorded run, and the session says what was waited for.
            If not, only the upper bound is promised.
        wait_s: What of `saved_s` is input wait.
        waited: Whether the session says what waits for the reads.
        hidden: Whether it does not because an accelerator may have computed meanwhile.
        hangs_on: What the session leaves open and the range hangs on; nothing if it is narrow.
    """

    unit: str
    before_s: float
    low_s: float
    saved_s: float
    high_s: float
    supported: bool = True
    wait_s: float = 0.0
    waited: bool = True
    hidden: bool = False
    hangs_on: tuple[OpenQuestion, ...] = ()

    @property
    def speedup(self) -> float:
        """How many times faster it is expected to be: 1.4 is 1.4x."""
        return speedup(self.before_s, self.saved_s)

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
class Finding:
    """One thing found.

    Attributes:
        name: The finding's name, one of `findings.NAMES`.
        title: A few words.
        what: What happens, in one or two sentences.
        kind: "doubt", "problem" or "note".
        evidence: The numbers that show it.
        files: The files or folders that show it best, at most five.
        unit: What `cost_s` is per: "step" or "session".
        cost_s: Seconds of a unit that the fix gives back beside the fixes of the findings before it, so that
            the costs of all findings add up to no more than what all fixes give.
        cost_share: `cost_s` as a share of the unit.
        fix: What to do; None where there is nothing to do.
        edits: The fix as edits of the replay model; empty where it has none.
        gain: What the fix alone gives, by replay; None where it is not known or there is none.
        not_worth: When to ignore it, to be read after "Ignore this if"; by default what its cause says.
        work: What the fix takes.
        one_of: Names of findings before it whose fixes give the same seconds back, or exclude this one: one
            of them will do.
        excludes: Those of `one_of` whose fixes set another number of readers than this one.
        lasts: Whether a longer run gains as much: it does not if the page cache serves its later epochs.
        caveat: When the fix gives less than `gain`, a sentence that `fix` has too; "" if that is not known.
    """

    name: str
    title: str
    what: str
    kind: Kind = "problem"
    evidence: tuple[Evidence, ...] = ()
    files: tuple[str, ...] = ()
    unit: str = "step"
    cost_s: float = 0.0
    cost_share: float = 0.0
    fix: Fix | None = None
    edits: tuple[Edit, ...] = field(default=(), compare=False, repr=False)
    gain: Gain | None = None
    not_worth: str = ""
    work: Work = "lines"
    one_of: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    lasts: bool = True
    caveat: str = ""

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
    """Return how many times faster something is that took `before_s` and takes `saved_s` less."""
    left = before_s - saved_s
    if before_s <= 0:
        return 1.0
    return before_s / left if left > 0 else math.inf
