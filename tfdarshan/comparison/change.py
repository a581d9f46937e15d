"""What changed from one run to others, and by more than noise or not."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tfdarshan.comparison.condition import Condition
from tfdarshan.comparison.file_set import FileChange, FilePair
from tfdarshan.comparison.likeness import NO, Check, check_likeness, verdict_of
from tfdarshan.comparison.measured_run import Side
from tfdarshan.comparison.metric import COUNT, METRICS, MORE, Metric
from tfdarshan.comparison.noise import Noise
from tfdarshan.comparison.rank_change import RankChanges, rank_changes

SAME, NOISE, UNKNOWN = "same", "within noise", "unknown"
BETTER, WORSE, CHANGED = "better", "worse", "changed"
TOP_FILES = 5
# Less is written as no change at all.
LEAST_CHANGE = 0.0005
# Two runs of a job differ by a few calls, such as those of threads that were no longer needed at the end:
# by so few, if these are no large share of all, or by such a share of many.
FEW_CALLS, FEW_OF_ALL, SHARE_OF_MANY = 3, 0.25, 0.002


@dataclass(frozen=True)
class Change:
    """One figure before and after.

    Attributes:
        metric: Which.
        before: In the first run, None where it does not say; of several runs the median.
        after: In the later one.
        noise: Share by which it may change though nothing has: 0.5 is from 1 to 1.5, or to 1 / 1.5. 0 for
            what is counted, None where unknown.
        same_work: Whether both did the same work: if not, no change is for better or worse.
    """

    metric: Metric
    before: float | None
    after: float | None
    noise: float | None
    same_work: bool = True

    @property
    def ratio(self) -> float | None:
        """The relative change: 0.1 is a tenth more. None where it is unknown, or from nothing."""
        if self.before is None or self.after is None:
            return None
        if self.before == self.after:
            return 0.0
        return self.after / self.before - 1 if self.before else None

    @property
    def times(self) -> float:
        """How many times as large the larger figure is; infinite if only one is 0, 1 if one is unknown."""
        if self.before is None or self.after is None or self.before == self.after:
            return 1.0
        small, large = sorted((abs(self.before), abs(self.after)))
        return large / small if small else math.inf

    @property
    def _is_by_a_few_calls(self) -> bool:
        """Whether counts differ as they do between runs of one job; not if one of them is 0."""
        if self.metric.unit != COUNT or self.before is None or self.after is None:
            return False
        few = abs(self.after - self.before) <= FEW_CALLS and self.times <= 1 + FEW_OF_ALL
        return few or self.times <= 1 + SHARE_OF_MANY

    @property
    def outcome(self) -> str:
        """SAME, NOISE, BETTER, WORSE, CHANGED or UNKNOWN."""
        if self.before is None or self.after is None:
            return UNKNOWN
        if self.before == self.after:
            return SAME
        if (self.noise is not None and self.times <= 1 + self.noise) or self._is_by_a_few_calls:
            return NOISE
        # Nobody knows whether it is more than noise, or it is too little for anyone to care.
        known = self.same_work and self.noise is not None and self.times >= 1 + LEAST_CHANGE
        if self.metric.better is None or not known:
            return CHANGED
        return BETTER if (self.after > self.before) == (self.metric.better == MORE) else WORSE


@dataclass(frozen=True)
class Failure:
    """A condition that holds, or cannot be judged (`holds` None), for one later run."""

    condition: str
    run: str
    holds: bool | None
    change: Change


@dataclass(frozen=True)
class Comparison:
    """A later run against the first.

    Attributes:
        first: The first run's label.
        second: The later run's label.
        comparable: YES, WITH_CARE or NO of `likeness`.
        checks: Why.
        changes: Every metric, in the order of METRICS.
        files: The files whose time in calls changed most.
        ranks: What became of each rank, None unless both runs have ranks.
    """

    first: str
    second: str
    comparable: str
    checks: list[Check]
    changes: list[Change]
    files: list[FileChange]
    ranks: RankChanges | None = None

    def change(self, metric: Metric) -> Change:
        """Return one metric's change."""
        return next(change for change in self.changes if change.metric is metric)


def compare(first: Side, second: Side) -> Comparison:
    """Compare two sides.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    files = FilePair(first.newest.files, second.newest.files)
    checks = check_likeness(first.newest, second.newest, files.sets(), (first.label, second.label))
    comparable = verdict_of(checks)
    return Comparison(
        first=first.label,
        second=second.label,
        comparable=comparable,
        checks=checks,
        changes=changes_between(first, second, same_work=comparable != NO),
        files=files.most_changed(TOP_FILES),
        ranks=rank_changes(first.newest.summary.ranks, second.newest.summary.ranks),
    )


def changes_between(first: Side, second: Side, *, same_work: bool) -> list[Change]:
    """Return every metric's change."""
    noises = Noise(first.runs), Noise(second.runs)
    return [
        Change(metric, _median(metric, first), _median(metric, second), _together(metric, noises), same_work)
        for metric in METRICS
    ]


def judge(conditions: Sequence[Condition], comparisons: Sequence[Comparison]) -> list[Failure]:
    """List the conditions that hold, or that cannot be judged."""
    found = []
    for comparison in comparisons:
        for condition in conditions:
            change = comparison.change(condition.metric)
            holds = condition.holds(change.before, change.after)
            if holds is not False:
                found.append(Failure(condition.text, comparison.second, holds, change))
    return found


def _median(metric: Metric, side: Side) -> float | None:
    values = [metric.value(run) for run in side.runs]
    known = [value for value in values if value is not None]
    return float(statistics.median(known)) if len(known) == len(values) else None


def _together(metric: Metric, noises: tuple[Noise, Noise]) -> float | None:
    one, two = (noise.of(metric) for noise in noises)
    # The errors of two independent estimates add by squares.
    return None if one is None or two is None else float((one * one + two * two) ** 0.5)
