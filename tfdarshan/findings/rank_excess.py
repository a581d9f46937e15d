"""What the rank that findings speak of does more, or slower, than the others of its job: step by step.

In synchronous training all ranks wait for the slowest one: what it takes longer, the job takes longer.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.analysis.ranks.rank_table import RankFigures, RankTable
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds

# Ranks with fewer calls on input say nothing.
FEWEST_CALLS = THRESHOLD["many"]
SLOWER = THRESHOLD["slow rank"]


@dataclass(frozen=True)
class Excess:
    """The leading rank against the median of the others, per step.

    Attributes:
        work: How many times as much it reads: of bytes or calls, whichever is more.
        slow: How many times as long it takes for the same.
        taken_s: Thread time of its calls on input.
        usual_s: The others', median.
    """

    work: float
    slow: float
    taken_s: float
    usual_s: float


def excess_over(row: RankFigures, others: Sequence[RankFigures], seconds: str = "input_s") -> Excess | None:
    """Compare a rank with others; None where either did too little to tell.

    Args:
        row: The rank.
        others: Those it is held against.
        seconds: Which of their seconds, `input_s` or `steady_s`.
    """

    def taken(one: RankFigures) -> float:
        return float(getattr(one, seconds))

    others = [other for other in others if other.input_calls >= FEWEST_CALLS and taken(other) > 0]
    if not others or row.input_calls < FEWEST_CALLS or taken(row) <= 0:
        return None

    def ratio(name: str) -> float:
        usual = statistics.median(getattr(other, name) / other.units for other in others)
        return float(getattr(row, name) / row.units / usual) if usual > 0 else 1.0

    work = max(ratio("input_bytes"), ratio("input_calls"))
    usual_s = statistics.median(taken(other) / other.units for other in others)
    taken_s = taken(row) / row.units
    return Excess(work, taken_s / usual_s / max(work, 1e-9), taken_s, usual_s)


def leading_excess(measures: Measures) -> tuple[RankTable, Excess] | None:
    """Compare the leading rank with all others."""
    table = measures.ranks
    found = None if table is None else excess_over(table.leader, table.others)
    return None if table is None or found is None else (table, found)


def wait_words(table: RankTable) -> str:
    """Word what steps of the leading rank and of the others wait; "" where that is not known."""
    waits = [row.wait_s for row in table.others if row.wait_s is not None]
    own = table.leader.wait_s
    if own is None or not waits:
        return ""
    usual = human_seconds(statistics.median(waits))
    others = (
        f"of the other {len(waits)} ranks {usual} (median)" if len(waits) > 1 else f"of the other {usual}"
    )
    return f" Steps of rank {table.leading} wait {human_seconds(own)} for input, steps {others}."
