"""What the replay model and the findings expect of each fix that was run, beside what it gave."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfdarshan.errors import TfdarshanError
from tfdarshan.replay.calibrate import ModelledJob, calibrated
from tfdarshan.replay.promise import promise
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.session import open_session

from .fix_edits import edits_for
from .run_times import Times
from .said import Range, Said
from .truth import Tried, Truth

NO_CHANGE = (1.0, 1.0, 1.0)
# Nobody measures a larger speedup: an open upper bound is this.
MOST = 100.0


@dataclass(frozen=True)
class FixPair:
    """A job and a fix that was run.

    Attributes:
        cure: The fix.
        obtained: The speedup that it gave: lower bound, median, upper bound of what runs tell.
        replay: What the replay model promises: lower bound, expected, upper bound; None where it has no edit.
        findings: What the findings promise; None where they name no such fix.
    """

    cure: str
    obtained: Range
    replay: Range | None
    findings: Range | None

    @property
    def log_error(self) -> float:
        """Return how far the replay model is off; a fix without an edit is expected to change nothing."""
        return _log_error(self.replay, self.obtained)


def fix_pairs(truth: Truth, said: Said, say: Callable[[str], None]) -> tuple[FixPair, ...]:
    """Return all pairs of a job.

    Args:
        truth: Its runs.
        said: What is promised of it.
        say: Takes a line of progress.
    """
    run = [tried for tried in truth.tried if tried.runs and not tried.failure and not tried.stopped]
    job = _modelled(truth, say) if run else None
    findings = _of_findings(truth, said)
    pairs = []
    for tried in run:
        told, as_session = findings.get(tried.fix.name, (None, False))
        times = truth.times(tried.runs, unit="session" if as_session else "step")
        pairs.append(FixPair(tried.fix.name, _range(times), _of_replay(truth, job, tried), told))
        say(f"  {tried.fix.name}: obtained {times.middle:.2f}x, replay {_said(pairs[-1].replay)}, "
            f"findings {_said(told)}")  # fmt: skip
    return tuple(pairs)


def _modelled(truth: Truth, say: Callable[[str], None]) -> ModelledJob | None:
    try:
        job = calibrated(facts_of(open_session(truth.before[0].logdir)))
    except TfdarshanError as error:
        say(f"  no replay: {error}")
        return None
    if not job.reproduces:
        say("  the replay model does not reproduce the recorded run")
    return job


def _of_replay(truth: Truth, job: ModelledJob | None, tried: Tried) -> Range | None:
    edits = None if job is None else edits_for(tried.fix.name, truth.program, job)
    if job is None or edits is None:
        return None
    found = promise(job, *edits)
    return found.low, found.expected, found.high


def _of_findings(truth: Truth, said: Said) -> dict[str, tuple[Range, bool]]:
    """Return what findings promise for the fix that gives most of those that they may mean."""
    found: dict[str, tuple[Range, bool]] = {}
    for promised in said.promised:
        tried = truth.tried_for(promised.name)
        if tried is None or tried.fix.name in found:
            continue
        low, expected, high = promised.gain
        found[tried.fix.name] = (low, expected, min(high, MOST)), promised.unit == "session"
    return found


def told_error(pairs: Sequence[FixPair]) -> float | None:
    """Return the findings' median log error over all pairs; None without any."""
    return statistics.median(_log_error(pair.findings, pair.obtained) for pair in pairs) if pairs else None


def pair_lines(pairs: Sequence[FixPair]) -> list[str]:
    """Return the figures of both over all pairs of a draw, a line each; none without pairs."""
    if not pairs:
        return []
    return [
        _line("replay model", pairs, lambda pair: pair.replay),
        _line("findings", pairs, lambda pair: pair.findings),
    ]


def _line(words: str, pairs: Sequence[FixPair], said: Callable[[FixPair], Range | None]) -> str:
    """Word one's figures: of a fix that it says nothing about, it expects no change."""
    errors = [_log_error(said(pair), pair.obtained) for pair in pairs]
    told = [(pair.obtained, found) for pair in pairs if (found := said(pair)) is not None]
    below = sum(high < promised[0] for (_, _, high), promised in told)
    above = sum(low > promised[2] for (low, _, _), promised in told)
    widths = [math.log(promised[2] / max(promised[0], 1 / MOST)) for _, promised in told]
    width = math.exp(statistics.fmean(widths)) if widths else math.nan
    return (
        f"{words}: median |log error| {statistics.median(errors):.3f} of {len(pairs)} fixes; "
        f"of {len(told)} promised {len(told) - below - above} inside, {below} below, {above} above, "
        f"width {width:.2f}"
    )


def _log_error(promised: Range | None, obtained: Range) -> float:
    return abs(math.log((promised or NO_CHANGE)[1] / obtained[1]))


def _range(times: Times) -> Range:
    return times.low, times.middle, times.high


def _said(found: Range | None) -> str:
    return "-" if found is None else f"{found[1]:.2f}x ({found[0]:.2f}x to {found[2]:.2f}x)"
