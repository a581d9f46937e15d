"""Chooses between ways to fix one cause, by what the replay model says of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfdarshan.findings.finding import Fix, Work
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.edits import Edit, Prefetch, Readers
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.promise import promise
from tfdarshan.thresholds import THRESHOLD

# Numbers of readers that are tried, the least first: powers of two.
COUNTS = tuple(1 << place for place in range(1, int(SETTING["readers"]).bit_length()))
# What a fix has to give beyond one that changes lines, as the logarithm of a speedup.
PRICE: Mapping[Work, float] = {
    "lines": 0.0,
    "copy some": THRESHOLD["copy some"],
    "copy all": THRESHOLD["copy all"],
    "convert": THRESHOLD["convert"],
}


@dataclass(frozen=True)
class ModelledFix:
    """One way to fix a cause, and what the replay model makes of it.

    Attributes:
        fix: What to do, in words.
        edits: The fix as edits of the replay model.
        work: What the fix takes.
    """

    fix: Fix
    edits: tuple[Edit, ...]
    work: Work = "lines"


def best_fix(measures: Measures, fixes: Sequence[ModelledFix]) -> ModelledFix:
    """Return the fix that is worth most, as `replayed.worth` has it; the first if nothing tells."""
    job = measures.job
    if len(fixes) == 1:
        return fixes[0]

    def worth(fix: ModelledFix) -> float:
        found = promise(job, *fix.edits)
        return (math.log(found.low) + math.log(found.expected)) / 2 - PRICE[fix.work]

    return max(fixes, key=worth)


def enough_readers(measures: Measures, counts: Sequence[int]) -> int:
    """Return the least number of readers that gives nearly as much as the largest one of some numbers."""
    job = measures.job
    gains = [math.log(promise(job, Readers(count)).expected) for count in counts]
    enough = THRESHOLD["nearly"] * max(*gains, 0.0)
    return next((count for count, gain in zip(counts, gains, strict=True) if gain >= enough), counts[-1])


def ahead_is_enough(measures: Measures, count: int) -> bool:
    """Say whether the readers there are, if they prepare batches ahead, give nearly as much as so many."""
    alone, together = (
        math.log(promise(measures.job, edit).expected) for edit in (Prefetch(), Readers(count))
    )
    return alone >= THRESHOLD["nearly"] * together
