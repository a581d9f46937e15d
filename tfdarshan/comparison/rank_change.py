"""What changed for each rank of a job, from one run of it to another."""

from __future__ import annotations

from dataclasses import dataclass

from tfdarshan.analysis.ranks.rank_table import RankFigures, RankTable

WAIT, CALLS = "wait for input, a step", "calls on input, a step"
CALLS_WITHOUT_STEPS = "calls on input"


@dataclass(frozen=True)
class RankChange:
    """One rank before and after: seconds a step, or in all without steps. `host` is the later run's."""

    rank: int
    host: str
    before_s: float
    after_s: float

    @property
    def difference_s(self) -> float:
        """After less before."""
        return self.after_s - self.before_s


@dataclass(frozen=True)
class RankChanges:
    """What became of the ranks of two runs.

    Attributes:
        measure: WAIT, CALLS or CALLS_WITHOUT_STEPS: what the seconds are of.
        changes: The ranks that both runs have, those first whose seconds changed most.
        only_first: Ranks that only the first run has.
        only_second: Ranks that only the later one has.
    """

    measure: str
    changes: tuple[RankChange, ...]
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]


def rank_changes(first: RankTable | None, second: RankTable | None) -> RankChanges | None:
    """Compare the ranks of two runs; None unless both have ranks."""
    if first is None or second is None:
        return None
    one, two = ({row.rank: row for row in table.ranks} for table in (first, second))
    measure = _measure([*one.values(), *two.values()])
    both = sorted(one.keys() & two.keys())
    changes = [
        RankChange(rank, two[rank].host, _seconds(one[rank], measure), _seconds(two[rank], measure))
        for rank in both
    ]
    changes.sort(key=lambda change: -abs(change.difference_s))
    return RankChanges(
        measure,
        tuple(changes),
        tuple(sorted(one.keys() - two.keys())),
        tuple(sorted(two.keys() - one.keys())),
    )


def _measure(rows: list[RankFigures]) -> str:
    """Choose what all ranks of both runs say."""
    if all(row.wait_s is not None for row in rows):
        return WAIT
    return CALLS if all(row.steps for row in rows) else CALLS_WITHOUT_STEPS


def _seconds(row: RankFigures, measure: str) -> float:
    if measure == WAIT:
        return row.wait_s or 0.0
    return row.input_s / row.units if measure == CALLS else row.input_s
