"""Runs scenarios before and after the fix, by the wall clock, and holds both against the findings."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import tfdarshan
from tfdarshan.findings.diagnosis import Diagnosis, diagnose
from tfdarshan.findings.finding import Finding, Gain

from ..laboratory.truth import AS_GOOD
from ..machine import busy_elsewhere_s, stolen_s
from .room import Room
from .scenario import Scenario

KINDS_THAT_ALARM = ("problem", "doubt")
# A run for so much of which another virtual machine had a processor is made again, so often.
DISTURBED = 0.02
# A run for so much of which other processes had a processor says little: its threads waited for their turn.
CROWDED = 0.25
TRIES = 4
# A quick run lasts less than a second: a machine that stalls meanwhile makes another job of it.
QUICK_TRIES = 3


@dataclass(frozen=True)
class Outcome:
    """What a scenario gave.

    Attributes:
        scenario: Which.
        steps: Steps of a run before the fix and of one with it.
        found: For each recorded run before the fix, the findings in their order, as (kind, name).
        other_first: For each of these runs, whether a fix that gives more comes before the planted one's.
        verdict: The sentence of the run that the promise is taken from.
        promise: What the planted cause's finding promises; None where nothing is.
        before_s: Wall-clock seconds of the runs before.
        after_s: And of those with the fix.
        problems: What is not as it must be, one sentence each.
        disturbed: For what part of a run, at the most, another virtual machine had a processor.
        crowded: And another process; above 1 where others had several processors.
    """

    scenario: Scenario
    steps: tuple[int, int]
    found: list[list[tuple[str, str]]]
    verdict: str
    promise: Gain | None
    before_s: list[float]
    after_s: list[float]
    problems: list[str]
    other_first: list[bool] = field(default_factory=list)
    disturbed: float = 0.0
    crowded: float = 0.0

    @property
    def obtained(self) -> float | None:
        """How many times faster the fixed job was, by the medians."""
        if not self.after_s:
            return None
        return statistics.median(self.before_s) / statistics.median(self.after_s)


def run_quickly(scenario: Scenario, folder: Path, say: Callable[[str], None] = lambda line: None) -> Outcome:
    """Run a scenario once in small sizes; again, up to three times, where something is not as it must be.

    Gains are not held against what was promised, only the first finding.
    """
    for left in reversed(range(QUICK_TRIES)):
        outcome = run_scenario(scenario, folder, quick=True, repeats=1, say=say)
        if not outcome.problems or not left:
            break
        say(f"{scenario.name}: {'; '.join(outcome.problems)}; once more")
    return outcome


def run_scenario(
    scenario: Scenario,
    folder: Path,
    *,
    quick: bool,
    repeats: int,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run a scenario.

    Args:
        scenario: Which.
        folder: For its data and sessions.
        quick: Small sizes; gains are then not held against what was promised, only the first finding.
        repeats: Runs before the fix and after it, in turn.
        say: Takes a line of progress.
    """
    room = Room(folder / scenario.name.replace(" ", "-"), quick)
    room.data.mkdir(parents=True, exist_ok=True)
    scenario.prepare(room)
    diagnoses: list[Diagnosis] = []
    before_s, after_s = [], []
    before_steps = after_steps = 0
    runs: list[Run] = []
    for number in range(repeats):
        run = _undisturbed(scenario, room, scenario.job, say)
        runs.append(run)
        before_s.append(run.seconds)
        before_steps = len(run.session.steps)
        diagnoses.append(diagnose(run.session))
        planted = _planted(scenario, diagnoses[-1])
        if scenario.fixed is not None and planted is not None:
            if scenario.convert is not None:
                scenario.convert(room, planted)
            run = _undisturbed(scenario, room, partial(_fixed, scenario, planted), say)
            runs.append(run)
            after_s.append(run.seconds)
            after_steps = len(run.session.steps)
        say(f"{scenario.name}: run {number + 1} of {repeats}: {diagnoses[-1].verdict.sentence}")
    middle = before_s.index(statistics.median_low(before_s))
    chosen = _planted(scenario, diagnoses[middle])
    outcome = Outcome(
        scenario=scenario,
        steps=(before_steps, after_steps),
        found=[[(finding.kind, finding.name) for finding in one.findings] for one in diagnoses],
        verdict=diagnoses[middle].verdict.sentence,
        promise=chosen.gain if chosen is not None and scenario.fixed is not None else None,
        before_s=before_s,
        after_s=after_s,
        problems=[],
        other_first=[other_first(scenario, one) for one in diagnoses],
        disturbed=max(run.disturbed for run in runs),
        crowded=max(run.crowded for run in runs),
    )
    outcome.problems.extend(judged(outcome, quick=quick))
    return outcome


@dataclass(frozen=True)
class Run:
    """One recorded run: its wall-clock seconds, and for what part of it others had a processor."""

    seconds: float
    session: tfdarshan.Session
    disturbed: float
    crowded: float


def _undisturbed(
    scenario: Scenario, room: Room, job: Callable[[Room], None], say: Callable[[str], None]
) -> Run:
    """Record a run, again if other machines took the processors meanwhile; the last one, whatever it was."""
    for left in reversed(range(TRIES)):
        run = _recorded(scenario, room, job)
        if run.disturbed < DISTURBED or not left:
            break
        say(f"{scenario.name}: other machines took {run.disturbed:.0%} of a processor, once more")
    return run


def _recorded(scenario: Scenario, room: Room, job: Callable[[Room], None]) -> Run:
    options: dict[str, Any] = {"include": [f"{room.folder}/"], "tf_profiler": False}
    options |= scenario.options(room)
    room.make_ready()
    # What scenarios before this one left is collected now, and is no work of this one's.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    with tfdarshan.profile(room.logs, **options) as recorded:
        stolen, elsewhere, start_s = stolen_s(), busy_elsewhere_s(), time.perf_counter()
        job(room)
        seconds = time.perf_counter() - start_s
        stolen, elsewhere = stolen_s() - stolen, busy_elsewhere_s() - elsewhere
    return Run(seconds, recorded.session, stolen / seconds, max(0.0, elsewhere / seconds))


def _fixed(scenario: Scenario, finding: Finding, room: Room) -> None:
    assert scenario.fixed is not None
    scenario.fixed(room, finding)


def _planted(scenario: Scenario, diagnosis: Diagnosis) -> Finding | None:
    """Return the finding of the cause that the scenario makes; None where it was not found."""
    return next((one for one in diagnosis.findings if one.name == scenario.finding), None)


def other_first(scenario: Scenario, diagnosis: Diagnosis) -> bool:
    """Say whether a fix that gives as much comes first, and the planted cause is named with its own."""
    planted, first = _planted(scenario, diagnosis), next(iter(diagnosis.findings), None)
    if planted is None or first is None or planted.gain is None or first.gain is None:
        return False
    return first.name in planted.one_of and first.gain.speedup >= AS_GOOD * planted.gain.speedup


def judged(outcome: Outcome, *, quick: bool) -> list[str]:
    """List what is not as it must be, one sentence each."""
    scenario, problems = outcome.scenario, []
    for found, other_first in zip(outcome.found, outcome.other_first, strict=True):
        wanted = (scenario.kind, scenario.finding)
        alarms = [entry for entry in found if entry[0] in KINDS_THAT_ALARM]
        if not scenario.finding and alarms:
            problems.append(f"found {_worded(alarms)} in a healthy job")
        elif scenario.kind == "note" and (alarms or wanted not in found):
            problems.append(f"found {_worded(found)} where {scenario.finding} and only notes must be")
        elif scenario.finding and scenario.kind != "note" and found[:1] != [wanted] and not other_first:
            problems.append(f"found {_worded(found)} where {scenario.finding} must come first")
    before_steps, after_steps = outcome.steps
    # Where the number of batches is not known, asking whether there is more is a step.
    if outcome.after_s and abs(before_steps - after_steps) > 1:
        problems.append(f"the fixed job made {after_steps} steps where {before_steps} were made before")
    if scenario.fixed is None or problems or quick:
        return problems
    if outcome.promise is None or outcome.obtained is None:
        return [f"{scenario.finding} promises no gain"]
    low, high = outcome.promise.speedup_range
    if not low <= outcome.obtained <= high:
        problems.append(f"promised {low:.2f}x to {high:.2f}x, obtained {outcome.obtained:.2f}x")
    return problems


def _worded(found: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} ({kind})" for kind, name in found) or "nothing"
