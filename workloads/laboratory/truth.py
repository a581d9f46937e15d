"""What is true of a drawn job: which of its single cures gives how much, found by running them all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from .known_cure import KnownCure, known_cures
from .program import Program
from .timed_run import LIMIT_S, Runner, TimedRun

# Of the best gain: what gives less in its first run is not run again, nor are more than so many.
WORTH_REPEATING = 0.85
MOST_REPEATED = 3
# A job whose best cure gives less has nothing to cure.
LEAST_GAIN = 1.05
STAGING = "staging"
# Of the best gain, what is as good.
AS_GOOD = 0.85
# Runs of one program that differ by no more agree: a third one is not needed.
AGREE = 1.03
# A cure with which the job takes so many times longer is stopped: how bad it is no judgement needs.
NO_CURE = 1.3


@dataclass
class Tried:
    """A cure and its runs."""

    cure: KnownCure
    runs: list[TimedRun] = field(default_factory=list)

    @property
    def failure(self) -> str:
        return next((run.failure for run in self.runs if run.failure), "")

    @property
    def stopped(self) -> bool:
        return any(run.stopped for run in self.runs)


@dataclass(frozen=True)
class Times:
    """How many times faster a job is: by the medians of its runs, and between the runs that differ most."""

    middle: float
    low: float
    high: float


def _times(before_s: Sequence[float], after_s: Sequence[float]) -> Times:
    return Times(
        statistics.median(before_s) / statistics.median(after_s),
        min(before_s) / max(after_s),
        max(before_s) / min(after_s),
    )


@dataclass
class Truth:
    """All runs of a job.

    `keeps_pages` says whether the kernel caches what its storage gives.
    """

    program: Program
    before: list[TimedRun] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    keeps_pages: bool = False

    def times(self, runs: Sequence[TimedRun], *, staged: bool = False) -> Times:
        """Gives how many times faster runs are than the job as it was.

        Staging is for a longer run than the laboratory's: where the page cache serves later epochs, these
        count, for copying takes what the first one gains. Where they gain more than the run as a whole, that
        is by chance.
        """
        before, after = list(self.before), list(runs)
        whole = _times([run.seconds for run in before], [run.seconds for run in after])
        if not staged or not self.keeps_pages or any(run.later_s is None for run in [*before, *after]):
            return whole
        later = _times([run.later_s or 0.0 for run in before], [run.later_s or 0.0 for run in after])
        return min(whole, later, key=lambda times: times.middle)

    @property
    def least_s(self) -> float:
        """Gives the seconds that no cure saves: compute, as far as it is sure, and imports."""
        one = self.program
        steps = (one.count // one.batch - one.cut) * one.epochs
        return steps * one.step_s * (one.computes == "sleep") + self.before[0].imports_s

    @property
    def leaves_room(self) -> bool:
        """Whether any cure could give what is worth it."""
        return self.before[0].seconds >= LEAST_GAIN * self.least_s

    def gain(self, tried: Tried) -> float:
        """Gives how many times faster the job is with a cure, by the medians; 0 where it cannot run."""
        measured = self.measured(tried)
        return 0.0 if measured is None else measured.middle

    def measured(self, tried: Tried) -> Times | None:
        """Gives the same with its bounds; None where it cannot run."""
        if tried.failure or not tried.runs:
            return None
        return self.times(tried.runs, staged=tried.cure.name == STAGING)

    @property
    def best(self) -> Tried | None:
        """Gives the cure that gives most, None where none gives anything worth it."""
        best = max(self.tried, key=self.gain, default=None)
        return best if best is not None and self.gain(best) >= LEAST_GAIN else None

    @property
    def unclear(self) -> bool:
        """Whether runs of the job itself differ by as much as its best cure gives."""
        best = self.best
        measured = None if best is None else self.measured(best)
        return measured is not None and measured.low <= 1.0

    @property
    def best_gain(self) -> float:
        return max([self.gain(one) for one in self.tried] + [1.0])

    def gain_of(self, finding: str) -> float:
        """Gives the most that any cure gives which a finding may mean; 0 where there is no such cure."""
        return max([self.gain(one) for one in self.tried if finding in one.cure.findings] + [0.0])

    def tried_for(self, finding: str) -> Tried | None:
        """Gives the cure that gives most of those that a finding may mean."""
        return max((one for one in self.tried if finding in one.cure.findings), key=self.gain, default=None)

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
    *,
    keeps_pages: bool,
    say: Callable[[str], None] = lambda line: None,
    wanted: Callable[[TimedRun], Collection[str]] = lambda run: (),
) -> Truth:
    """Runs a job and all of its cures in turn.

    Args:
        runner: Of the job.
        program: It.
        repeats: Runs of the job, and of the cures that are close to the best one, at most: two are enough
            where they agree.
        keeps_pages: The kernel caches what the storage gives.
        say: Takes a line of progress.
        wanted: Gives, for the first run, names of findings whose cures are repeated, too.
    """
    truth = Truth(program, [runner.run(program, asked=True)], [], keeps_pages)
    if truth.before[0].failure:
        return truth
    names = wanted(truth.before[0])
    cures = [Tried(cure) for cure in known_cures(program)]
    truth.tried = [tried for tried in cures if truth.leaves_room or set(names) & set(tried.cure.findings)]
    if len(truth.tried) < len(cures):
        say(f"  {truth.least_s:.2f} s of {truth.before[0].seconds:.2f} s are compute: nothing can be cured")
    for tried in truth.tried:
        named = set(names) & set(tried.cure.findings)
        limit_s = LIMIT_S if named else NO_CURE * truth.before[0].seconds
        tried.runs.append(runner.run(tried.cure.program, limit_s=limit_s))
        say(f"  {tried.cure.name}: {truth.gain(tried):.2f}x {tried.failure}".rstrip())
    again = _worth_repeating(truth, names)
    for _ in range(repeats - 1):
        arms: list[tuple[Program, list[TimedRun]]] = [(program, truth.before)]
        arms += [(tried.cure.program, tried.runs) for tried in again]
        for arm, runs in arms:
            if not agree(runs):
                runs.append(runner.run(arm))
    return truth


def _worth_repeating(truth: Truth, names: Collection[str]) -> list[Tried]:
    """Gives the cures that may be the best one, and those that are named."""
    run = [tried for tried in truth.tried if not tried.failure and not tried.stopped]
    least = max(WORTH_REPEATING * truth.best_gain, LEAST_GAIN / AGREE)
    best = sorted((tried for tried in run if truth.gain(tried) >= least), key=truth.gain)[-MOST_REPEATED:]
    return [tried for tried in run if tried in best or set(names) & set(tried.cure.findings)]


def agree(runs: Sequence[TimedRun]) -> bool:
    """Says whether runs of one program tell what it takes."""
    seconds = [run.seconds for run in runs if not run.failure]
    return len(seconds) > 1 and max(seconds) <= AGREE * min(seconds)
