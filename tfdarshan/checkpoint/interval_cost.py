"""What saving every so many steps costs, from what the checkpoints of a ledger cost."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.checkpoint.ledger import CheckpointRow
from tfdarshan.units import percent

FACTORS = (0.5, 1.0, 2.5, 5.0)


@dataclass(frozen=True)
class _Gap:
    """From one checkpoint to the next: steps, seconds, and seconds of these that the first one blocked."""

    steps: int
    apart_s: float
    blocked_s: float


@dataclass(frozen=True)
class IntervalCost:
    """What one interval costs.

    Attributes:
        interval_steps: Steps between checkpoints.
        cost_ratio: The share of run time that training waits for checkpoints: 0.15 is 15 %.
        measured: Whether this is the interval that the job had.
    """

    interval_steps: int
    cost_ratio: float
    measured: bool


def interval_costs(rows: Sequence[CheckpointRow], factors: Sequence[float] = FACTORS) -> list[IntervalCost]:
    """Return the cost of the job's interval and of multiples of it.

    The medians of what a save blocked and of a step's own time are taken to hold for other intervals. Fewer
    than three checkpoints with a step give [].
    """
    gaps = [gap for pair in itertools.pairwise(rows) if (gap := _gap(*pair)) is not None]
    if len(gaps) < 2:
        return []
    return costs_of_intervals(
        round(statistics.median(gap.steps for gap in gaps)),
        step_s=statistics.median(max(gap.apart_s - gap.blocked_s, 0.0) / gap.steps for gap in gaps),
        blocked_s=statistics.median(gap.blocked_s for gap in gaps),
        factors=factors,
    )


def costs_of_intervals(
    interval: int, *, step_s: float, blocked_s: float, factors: Sequence[float] = FACTORS
) -> list[IntervalCost]:
    """Return the cost of an interval of so many steps, and of multiples of it.

    Args:
        interval: Steps between checkpoints.
        step_s: What a step takes by itself.
        blocked_s: What training waits for one checkpoint.
        factors: The multiples.
    """
    chosen = sorted({max(1, round(interval * factor)) for factor in factors})
    return [
        IntervalCost(steps, blocked_s / (steps * step_s + blocked_s) if blocked_s else 0.0, steps == interval)
        for steps in chosen
    ]


def interval_sentence(costs: Sequence[IntervalCost]) -> str:
    """Word it: "every 20 steps costs 15.0 % of run time; every 50, 6.6 %"; "" without figures."""
    measured = [cost for cost in costs if cost.measured]
    if not measured:
        return ""
    others = [cost for cost in costs if not cost.measured]
    steps = measured[0].interval_steps
    often = "step" if steps == 1 else f"{steps:,} steps"
    first = f"every {often} costs {percent(measured[0].cost_ratio, 1)} of run time"
    rest = [f"every {cost.interval_steps:,}, {percent(cost.cost_ratio, 1)}" for cost in others]
    return "; ".join([first, *rest])


def _gap(earlier: CheckpointRow, later: CheckpointRow) -> _Gap | None:
    if earlier.step is None or later.step is None or later.step <= earlier.step:
        return None
    if earlier.saved_at is None or later.saved_at is None or earlier.blocked_s is None:
        return None
    return _Gap(later.step - earlier.step, later.saved_at - earlier.saved_at, earlier.blocked_s)
