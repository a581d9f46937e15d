"""What is true of a drawn job: which of its single cures gives how much, found by running them all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from .known_cure import KnownCure, known_cures
from .program import Program
from .timed_run import Runner, TimedRun

# Of the best gain: what gives less in its first run is not run again.
WORTH_REPEATING = 0.75
# A job whose best cure gives less has nothing to cure.
LEAST_GAIN = 1.05
# Of the best gain, what is as good.
AS_GOOD = 0.85


@dataclass
class Tried:
    """A cure and its runs."""

    cure: KnownCure
    runs: list[TimedRun] = field(default_factory=list)

    @property
    def failure(self) -> str:
        return next((run.failure for run in self.runs if run.failure), "")


@dataclass
class Truth:
    """All runs of a job."""

    program: Program
    before: list[TimedRun] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)

    @property
    def before_s(self) -> float:
        return statistics.median(run.seconds for run in self.before)

    def gain(self, tried: Tried) -> float:
        """Gives how many times faster the job is with a cure, by the medians; 0 where it cannot run."""
        if tried.failure or not tried.runs:
            return 0.0
        return self.before_s / statistics.median(run.seconds for run in tried.runs)

    @property
    def best(self) -> Tried | None:
        """Gives the cure that gives most, None where none gives anything worth it."""
        best = max(self.tried, key=self.gain, default=None)
        return best if best is not None and self.gain(best) >= LEAST_GAIN else None

    @property
    def best_gain(self) -> float:
        return max([self.gain(one) for one in self.tried] + [1.0])

    def gain_of(self, finding: str) -> float:
        """Gives the most that any cure gives which a finding may mean; 0 where there is no such cure."""
        return max([self.gain(one) for one in self.tried if finding in one.cure.findings] + [0.0])

    def best_within(self, effort: int) -> float:
        """Gives the most that cures of at most that effort give."""
        return max([self.gain(one) for one in self.tried if one.cure.effort <= effort] + [1.0])

    def effort_of(self, finding: str) -> int:
        efforts = [one.cure.effort for one in self.tried if finding in one.cure.findings]
        return min(efforts, default=1)

    @property
    def noise(self) -> float:
        """How many times longer the longest run before was than the shortest."""
        seconds = [run.seconds for run in self.before]
        return max(seconds) / min(seconds)

    @property
    def disturbed(self) -> float:
        runs = [run for one in self.tried for run in one.runs] + self.before
        return max(run.disturbed for run in runs)

    @property
    def crowded(self) -> float:
        runs = [run for one in self.tried for run in one.runs] + self.before
        return max(run.crowded for run in runs)


def find_truth(
    runner: Runner,
    program: Program,
    repeats: int,
    say: Callable[[str], None] = lambda line: None,
    wanted: Callable[[TimedRun], Collection[str]] = lambda run: (),
) -> Truth:
    """Runs a job and all of its cures in turn.

    Args:
        runner: Of the job.
        program: It.
        repeats: Runs of the job, and of the cures that are close to the best one.
        say: Takes a line of progress.
        wanted: Gives, for the first run, names of findings whose cures are repeated, too.
    """
    truth = Truth(program, [runner.run(program)], [Tried(cure) for cure in known_cures(program)])
    if truth.before[0].failure:
        return truth
    names = wanted(truth.before[0])
    for tried in truth.tried:
        tried.runs.append(runner.run(tried.cure.program))
        say(f"  {tried.cure.name}: {truth.gain(tried):.2f}x {tried.failure}".rstrip())
    least = WORTH_REPEATING * truth.best_gain
    again = [
        tried
        for tried in truth.tried
        if not tried.failure and (truth.gain(tried) >= least or set(names) & set(tried.cure.findings))
    ]
    for _ in range(repeats - 1):
        truth.before.append(runner.run(program))
        for tried in again:
            tried.runs.append(runner.run(tried.cure.program))
    return truth
