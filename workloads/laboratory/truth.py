"""What is true of a drawn job: which of its single fixes gives how much, found by running them all."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from .known_fix import KnownFix
from .program import Program
from .program_fixes import known_fixes
from .run_times import AGREE, Spread, Times, spread_of, times
from .said import LEAST_GAIN, Unit
from .timed_run import LIMIT_S, Runner, TimedRun

# Of the best gain: what gives less in its first run is not run again, nor are more than so many.
WORTH_REPEATING = 0.85
MOST_REPEATED = 3
# A job whose best fix gives less has nothing to fix; one whose best fix gives this much or more is slow.
SLOW_GAIN = 1.10
STAGING = "staging"
# Of the best gain, what is as good.
AS_GOOD = 0.85
# A fix with which the job takes so many times longer is stopped: how bad it is no judgement needs.
NO_FIX = 1.3
# A job that trains for less shows nothing: it is made longer.
LEAST_TRAINED_S = 2.0
# One that trains for less is run so many times where the runs leave open what is asked.
SHORT_S = 6.0
MOST_RUNS = 5


class TooShortError(Exception):
    """The job trains for too few seconds to tell anything; has them."""

    def __init__(self, trained_s: float) -> None:
        super().__init__(f"it trains for {trained_s:.2f} s")
        self.trained_s = trained_s


@dataclass
class Tried:
    """A fix and its runs."""

    fix: KnownFix
    runs: list[TimedRun] = field(default_factory=list)

    @property
    def failure(self) -> str:
        return next((run.failure for run in self.runs if run.failure), "")

    @property
    def stopped(self) -> bool:
        return any(run.stopped for run in self.runs)


@dataclass
class Truth:
    """All runs of a job.

    `keeps_pages` says whether the kernel caches what its storage gives.
    """

    program: Program
    before: list[TimedRun] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    keeps_pages: bool = False

    def times(self, runs: Sequence[TimedRun], *, staged: bool = False, unit: Unit = "training") -> Times:
        """Return how many times faster runs are than the job as it was.

        Staging is for a longer run than the laboratory's: where the page cache serves later epochs, or a
        cache() of the job's own, these count, for copying takes what the first one gains. Where they gain
        more than the run as a whole, that is by chance.

        Args:
            runs: Of the job with a fix.
            staged: The fix is a copy, and what it gives a longer run is asked.
            unit: What is timed: training, that from its first step's start to its last one's end, or all of
                its session.
        """
        seconds_of: dict[Unit, Callable[[TimedRun], float]] = {
            "training": lambda run: run.trained_s,
            "step": lambda run: run.stepped_s,
            "session": lambda run: run.seconds,
        }
        whole = self._times(runs, seconds_of[unit])
        reads_once = self.keeps_pages or self.program.cache == "right"
        if not staged or not reads_once or any(run.later_s is None for run in [*self.before, *runs]):
            return whole
        later = self._times(runs, lambda run: run.later_s or 0.0)
        return min(whole, later, key=lambda one: one.middle)

    def _times(self, runs: Sequence[TimedRun], seconds: Callable[[TimedRun], float]) -> Times:
        before_s, after_s = [seconds(run) for run in self.before], [seconds(run) for run in runs]
        return times(before_s, after_s, self.spread(seconds, runs))

    def spread(
        self, seconds: Callable[[TimedRun], float] = lambda run: run.trained_s, runs: Sequence[TimedRun] = ()
    ) -> Spread:
        """Return what runs of one program differ by: of the job, of each fix, and of those given."""
        arms = [self.before, *(tried.runs for tried in self.tried)]
        if not any(arm is runs for arm in arms):
            arms.append(list(runs))
        whole = [[one for one in arm if not one.failure and not one.stopped] for arm in arms]
        return spread_of([[seconds(one) for one in arm if seconds(one) > 0] for arm in whole])

    @property
    def least_s(self) -> float:
        """Return the seconds that no fix saves: compute, as far as it is sure."""
        one = self.program
        steps = (one.count // one.batch - one.cut) * one.epochs
        return steps * one.step_s * (one.computes == "sleep")

    @property
    def leaves_room(self) -> bool:
        """Whether any fix could give what is worth it."""
        return self.before[0].trained_s >= LEAST_GAIN * self.least_s

    def gain(self, tried: Tried) -> float:
        """Return how many times faster the job is with a fix, by the medians; 0 where it cannot run."""
        measured = self.measured(tried)
        return 0.0 if measured is None else measured.middle

    def measured(self, tried: Tried) -> Times | None:
        """Return the same with its bounds; None where it cannot run."""
        if tried.failure or not tried.runs:
            return None
        return self.times(tried.runs, staged=tried.fix.name == STAGING)

    @property
    def best(self) -> Tried | None:
        """Return the fix that gives most, None where none gives anything worth it."""
        best = max(self.tried, key=self.gain, default=None)
        return best if best is not None and self.gain(best) >= LEAST_GAIN else None

    @property
    def unclear(self) -> bool:
        """Whether the runs leave open if anything is to be fixed.

        They do if the fix that gives most may give nothing, and what makes a job slow as well.
        """
        most = max(self.tried, key=self.gain, default=None)
        measured = None if most is None or not self.leaves_room else self.measured(most)
        return measured is not None and measured.low <= 1.0 and measured.high >= SLOW_GAIN

    @property
    def marginal(self) -> bool:
        """Whether its best fix gives so little that to name it and to be silent are both right."""
        return LEAST_GAIN <= self.best_gain < SLOW_GAIN

    @property
    def best_gain(self) -> float:
        return max([self.gain(one) for one in self.tried] + [1.0])

    def tried_for(self, finding: str) -> Tried | None:
        """Return the fix that gives most of those that a finding may mean."""
        return max((one for one in self.tried if finding in one.fix.findings), key=self.gain, default=None)

    def best_within(self, effort: int) -> Tried | None:
        """Return the fix that gives most of those of at most that effort."""
        return max((one for one in self.tried if one.fix.effort <= effort), key=self.gain, default=None)

    def as_good(self, gain: float, runs: int, best: Tried | None) -> bool:
        """Whether a gain that so many runs showed is 85 % of another fix's, as far as the runs tell."""
        if best is None or best.failure:
            return True
        error = self.spread().error(runs, len(best.runs))
        return gain >= AS_GOOD * math.exp(-error) * max(self.gain(best), 1.0)

    @property
    def noise(self) -> float:
        """How many times longer the longest run before was than the shortest."""
        seconds = [run.trained_s for run in self.before]
        return max(seconds) / min(seconds)

    @property
    def short(self) -> bool:
        """Whether one run more costs little."""
        return self.before[0].trained_s < SHORT_S

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
    least_s: float = 0.0,
) -> Truth:
    """Run a job and all of its fixes in turn.

    Args:
        runner: Of the job.
        program: It.
        repeats: Runs of the job, and of the fixes that are close to the best one, at most: two are enough
            where they agree. More where a short job's runs leave open whether anything is to be fixed.
        keeps_pages: The kernel caches what the storage gives.
        say: Takes a line of progress.
        wanted: Gives, for the first run, names of findings whose fixes are repeated, too.
        least_s: A job that trains for less is not fixed.

    Raises:
        TooShortError: It ends before anything can be told.
    """
    truth = Truth(program, [runner.run(program, asked=True)], [], keeps_pages)
    if truth.before[0].failure:
        return truth
    if truth.before[0].trained_s < least_s:
        raise TooShortError(truth.before[0].trained_s)
    names = wanted(truth.before[0])
    fixes = [Tried(fix) for fix in known_fixes(program)]
    truth.tried = [tried for tried in fixes if truth.leaves_room or set(names) & set(tried.fix.findings)]
    if len(truth.tried) < len(fixes):
        say(f"  {truth.least_s:.2f} s of {truth.before[0].trained_s:.2f} s are compute: nothing can be fixed")
    for tried in truth.tried:
        named = set(names) & set(tried.fix.findings)
        limit_s = LIMIT_S if named else NO_FIX * truth.before[0].trained_s
        tried.runs.append(runner.run(tried.fix.program, limit_s=limit_s))
        say(f"  {tried.fix.name}: {truth.gain(tried):.2f}x {tried.failure}".rstrip())
    again = _worth_repeating(truth, names)
    for _ in range(repeats - 1):
        _run_again(runner, truth, again)
    for _ in range(MOST_RUNS - repeats):
        if truth.unclear and truth.short:
            _run_again(runner, truth, [one for one in again if one is truth.best])
    return truth


def _run_again(runner: Runner, truth: Truth, again: Sequence[Tried]) -> None:
    """Run the job and some of its fixes once more, in turn, unless their runs agree."""
    arms: list[tuple[Program, list[TimedRun]]] = [(truth.program, truth.before)]
    arms += [(tried.fix.program, tried.runs) for tried in again]
    for arm, runs in arms:
        if not agree(runs):
            runs.append(runner.run(arm))


def _worth_repeating(truth: Truth, names: Collection[str]) -> list[Tried]:
    """Return the fixes that may be the best one, and those that are named."""
    run = [tried for tried in truth.tried if not tried.failure and not tried.stopped]
    least = max(WORTH_REPEATING * truth.best_gain, LEAST_GAIN / AGREE)
    best = sorted((tried for tried in run if truth.gain(tried) >= least), key=truth.gain)[-MOST_REPEATED:]
    return [tried for tried in run if tried in best or set(names) & set(tried.fix.findings)]


def agree(runs: Sequence[TimedRun]) -> bool:
    """Return whether runs of one program tell what it takes."""
    seconds = [run.trained_s for run in runs if not run.failure]
    return len(seconds) > 1 and max(seconds) <= AGREE * min(seconds)
