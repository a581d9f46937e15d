"""All findings of a session, and the verdict on it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfdarshan.analysis.processor_share import others_sentence
from tfdarshan.analysis.program_calls import NO_PROGRAMS, ProgramCalls
from tfdarshan.analysis.session_files import SessionFiles
from tfdarshan.analysis.step_length import StepLength, step_length
from tfdarshan.analysis.summary_data import SummaryData, summarize
from tfdarshan.analysis.trace_span import TraceSpan
from tfdarshan.findings import (
    checkpoint_stall,
    fsync,
    input_bound,
    read_parallelism,
    shard_imbalance,
    shuffle_buffer,
    slow_node,
    slow_rank,
    small_writes,
    unsharded_input,
    validation,
)
from tfdarshan.findings.all_findings import FINDINGS
from tfdarshan.findings.best_cure import best_cure, work
from tfdarshan.findings.cure_place import with_place
from tfdarshan.findings.earlier_sessions import earlier_sessions
from tfdarshan.findings.finding import KINDS, Cure, Finding, Unknown
from tfdarshan.findings.measurement import measure, measure_leading
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.same_seconds import say_same_seconds
from tfdarshan.findings.served_once import cache_served_later
from tfdarshan.findings.step_split import StepPart, step_split
from tfdarshan.findings.tried_cures import TriedCure, tried_cures, without_tried
from tfdarshan.findings.verdict import Verdict, first_alone, is_healthy, make_verdict
from tfdarshan.partials.serial import SERIAL, Runner

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData


# What costs less is worth a note: runs of one job differ by as much. A cure is worth a trial if it gives
# clearly more than that: a job that waits 5 % of its time waits 4 % of it in the next run, and is well.
PROBLEM_SHARE, LEAST_SPEEDUP = 0.05, 1.08
# What may give nothing has to promise more to be called a problem.
LEAST_UNCERTAIN = 1.20
# A job that would be so many times as fast if it waited for nothing, and has no cure that is surer, has
# nothing better than a trial of what makes it as fast if all that is assumed is so.
WORTH_A_TRIAL = 1.1
# From this share of the time on a cure that gives little is worth a word where nothing else is to be cured.
WORTH_A_WORD = 0.03
# These are notes by their own rule where they are no more than a guess.
GUESSES = (read_parallelism.NAME,)
# What holds the loop up in these is writes, or another pipeline; in all others, its own calls on input.
OF_OTHERS = (checkpoint_stall.NAME, fsync.NAME, small_writes.NAME, validation.NAME)
# What sets one rank apart from the others.
OF_RANKS = (unsharded_input.NAME, slow_node.NAME, slow_rank.NAME, shard_imbalance.NAME)
# A cure that saves so many times as much, or makes the job so many times as fast, comes first; one that is
# more work has to give more.
FAR_BETTER, MORE_WORK = 1.2, 2.0


@dataclass(frozen=True)
class Diagnosis:
    """What was found.

    Attributes:
        verdict: The sentence that comes first.
        findings: Doubts, then problems by their seconds, then notes.
        unknown: Findings that the session cannot tell, and what to record for them.
        trace_span: The part of the session that all this speaks of, where its trace lacks calls.
        parts: Where a step's time goes; empty where that is not known.
        step: How long steps take; None where that is not known.
        left_out: Calls on programs' files, which no finding is about.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    trace_span: TraceSpan | None = None
    parts: tuple[StepPart, ...] = ()
    left_out: ProgramCalls = NO_PROGRAMS
    step: StepLength | None = None

    def __iter__(self) -> Iterator[Finding]:
        """Gives the findings one by one, so that `for finding in session.findings` is right."""
        return iter(self.findings)

    def __getitem__(self, place: int) -> Finding:
        """Gives one of the findings."""
        return self.findings[place]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What costs time that a cure gives back, the most seconds first; empty for a healthy job."""
        return tuple(finding for finding in self.findings if finding.kind == "problem")

    @property
    def named(self) -> Finding | None:
        """The finding whose cure the verdict names, None if it names none."""
        return self._finding(self.verdict.finding)

    @property
    def cause(self) -> Finding | None:
        """The finding that the verdict says costs most, None if it says none."""
        return self._finding(self.verdict.cause)

    def _finding(self, name: str) -> Finding | None:
        return next((finding for finding in self.findings if finding.name == name), None)


def diagnose(session: SessionData, runner: Runner | None = None) -> Diagnosis:
    """Finds what makes a job slow.

    Args:
        session: The session.
        runner: What reads the calls of several processes for the time in I/O; None: this process.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    return diagnosis_of(measure_leading(session, runner=runner))


def summary_and_diagnosis(
    session: SessionData, top: int, runner: Runner | None = None
) -> tuple[SummaryData, Diagnosis]:
    """Gives what the summary says, of all ranks, and what was found, with the tables read once if it can be.

    Args:
        session: The session.
        top: How many of the slowest and most-read files the summary lists.
        runner: What reads the calls of several processes or ranks for the time in I/O; None: this process.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    if session.joint is None:
        measures = measure(session, top, runner)
        return measures.summary, diagnosis_of(measures)
    files = SessionFiles(session, top)
    data = summarize(session, top, runner or SERIAL, files)
    return data, diagnosis_of(measure_leading(session, data.ranks, runner, files))


def diagnosis_of(measures: Measures) -> Diagnosis:
    """Finds it in what was measured already, and in earlier sessions of the job what was tried in vain."""
    earlier = earlier_sessions(measures)
    tried = tried_cures([*earlier, measures], lambda one: diagnosis_alone(one).problems) if earlier else []
    found = diagnosis_alone(measures, tried)
    for one in (*earlier, measures):
        one.kept.save()
    return found


def diagnosis_alone(measures: Measures, tried: Sequence[TriedCure] = ()) -> Diagnosis:
    """Finds it in one session; cures that were tried in vain are not offered again."""
    results = [rule(measures) for _, rule in FINDINGS]
    unknown = [result for result in results if isinstance(result, Unknown)]
    made = [
        _in_its_language(with_place(result, measures), measures)
        for result in results
        if isinstance(result, Finding)
    ]
    made = without_tried(made, tried)
    found, trial = _all_charged(made, measures), None
    if measures.model.certain and not any(finding.kind == "problem" for finding in found):
        found, trial = _with_trials(found, made, measures)
    best = _far_better(made, found, measures)
    if best is not None:
        # What one rank has more of than the others is a cause of its own, whatever makes all of them faster.
        others = [finding for finding in made if finding is not best]
        first = [finding for finding in others if finding.name in OF_RANKS]
        rest = [finding for finding in others if finding.name not in OF_RANKS]
        found = _all_charged([*first, best, *rest], measures)
    lost_s = measures.model.most_wait_s + measures.input_calls.within_s / measures.model.units
    found = say_same_seconds(found, lost_s, OF_OTHERS)
    cured = best_cure(_worth_naming(made, found, measures))
    little = _worth_a_word(made, found, measures)
    verdict = _of_rank(make_verdict(measures, found, unknown, cured, trial, little), measures)
    summary = measures.summary
    verdict = replace(_beside_others(verdict, summary.others_share), epochs=first_alone(measures))
    programs = summary.coverage.programs
    span, parts = summary.trace_span, step_split(measures)
    windows = measures.windows
    step = None if windows is None else step_length(windows.end_ns - windows.start_ns)
    return Diagnosis(verdict, tuple(found), tuple(unknown), span, parts, programs, step)


def _beside_others(verdict: Verdict, share: float | None) -> Verdict:
    """Adds what other programs took of the processors."""
    said = others_sentence(share)
    return replace(verdict, sentence=f"{verdict.sentence} {said}") if said else verdict


def _in_its_language(finding: Finding, measures: Measures) -> Finding:
    """Leaves out lines of Python where a log is of a program that is none; commands stay."""
    way, cure = measures.recorded, finding.cure
    if way.started_by != "darshan" or way.is_python or cure is None or cure.line.startswith("tfdarshan "):
        return finding
    return replace(finding, cure=Cure(cure.what))


def _worth_naming(made: Sequence[Finding], found: Sequence[Finding], measures: Measures) -> list[Finding]:
    """Gives the findings whose cure may be named, each as it is alone: problems, where there is one."""
    listed = {finding.name for finding in found}
    problems = any(finding.kind == "problem" for finding in found)
    if not problems and measures.model.likely:
        return []
    return [
        finding
        for finding in made
        if finding.name in listed
        and finding.kind == "problem"
        # What is a note because it promises little is not named in a problem's place, either.
        and not (problems and _promises_little(finding))
    ]


def _worth_a_word(made: Sequence[Finding], found: Sequence[Finding], measures: Measures) -> Finding | None:
    """Gives the note whose cure gives most of those that give little, None where nothing gives enough.

    A job that is not healthy is told what may give something, too, where nothing gives it for certain, or
    half as much. What is a note by its own rule is not meant to be done.
    """
    gains = {one.name: one.gain for one in made if one.kind == "problem" and one.gain is not None}
    notes = [
        one
        for one in found
        if one.kind == "note" and one.name in gains and one.cure and one.cost_share >= WORTH_A_WORD
    ]
    certain = [one for one in notes if gains[one.name].speedup_range[0] > 1]
    sure, most = (max(some, key=lambda one: one.cost_s, default=None) for some in (certain, notes))
    if is_healthy(measures) or most is None:
        return sure
    return most if sure is None or most.cost_s >= MORE_WORK * sure.cost_s else sure


def _of_rank(verdict: Verdict, measures: Measures) -> Verdict:
    """Says of which rank of a job the verdict is."""
    table = measures.ranks
    if table is None:
        return verdict
    waits = "waits longest for its input" if table.leader.wait_s is not None else "is longest in file calls"
    said = f" This is of rank {table.leading}, which {waits} of {len(table.ranks)}."
    why = verdict.why and f"{verdict.why}{said}"
    return dataclasses.replace(verdict, sentence=f"{verdict.sentence}{said}", why=why)


def _with_trials(
    found: list[Finding], made: Sequence[Finding], measures: Measures
) -> tuple[list[Finding], Finding | None]:
    """Makes a problem of what costs most of a job that has none, and waits: it is worth a trial.

    What is a note by its own rule, for it is a guess of the first epoch alone, stays one, and is named.

    Args:
        found: Its findings.
        made: The same, each as it is alone.
        measures: The session.

    Returns:
        The findings, and the note that is worth a trial, None where a problem is, or nothing.
    """
    if measures.too_short or measures.model.unit_s < WORTH_A_TRIAL * measures.model.compute_s:
        return found, None
    unsure = {
        one.name: one.kind
        for one in made
        if (one.kind == "problem" or one.name in GUESSES)
        and one.gain is not None
        and not _is_no_promise(one)
        and one.gain.speedup_if_so >= WORTH_A_TRIAL
    }
    tried = next(
        (
            one
            for one in found
            if one.name in unsure and one.cure and one.gain and one.cost_share >= PROBLEM_SHARE
        ),
        None,
    )
    first_alone = tried is not None and tried.name in GUESSES and cache_served_later(measures)
    if tried is None or unsure[tried.name] == "note" or first_alone:
        return sorted(found, key=_rank), tried
    others = [one for one in found if one is not tried]
    return sorted([dataclasses.replace(tried, kind="problem"), *others], key=_rank), None


@dataclass(frozen=True)
class _Left:
    """Seconds of a unit: what is left of the wait, and what is claimed of the loop's own calls."""

    wait_s: float
    own_claimed_s: float


def _rank(finding: Finding) -> tuple[int, float, float]:
    """Sorts doubts, problems and notes each by what they cost, then by what they give."""
    gives_s = finding.gain.saved_s if finding.gain is not None else 0.0
    return KINDS.index(finding.kind), -finding.cost_s, -gives_s


def _all_charged(findings: Sequence[Finding], measures: Measures) -> list[Finding]:
    """Gives the findings that cost something, each without what those before it claim; the worst first."""
    found: list[Finding] = []
    model = measures.model
    left = _Left(model.most_wait_s, 0.0)

    # What is a note by its own rule, or promises little, is too doubtful to claim anything before the others.
    def doubtful(one: Finding) -> bool:
        return one.kind == "note" or (model.likely and _promises_little(one))

    for finding in sorted(findings, key=doubtful):
        charged, left = _charged(finding, left, measures)
        if charged is not None:
            found.append(charged)
    return sorted(found, key=_rank)


def _far_better(made: Sequence[Finding], found: Sequence[Finding], measures: Measures) -> Finding | None:
    """Gives the problem whose cure gives far more than that of the one that would be named first."""
    # Where nobody knows what is waited for there are notes alone, and one of them is named all the same.
    kind = "problem" if measures.model.likely else "note"
    first = next((finding for finding in found if finding.kind == kind and finding.gain), None)
    if first is None:
        return None
    better = [
        finding
        for finding in made
        if finding.kind == "problem" and finding.name != first.name and _is_far_better(finding, first)
    ]
    if not better:
        return None
    most = max(_promised(finding, first) for finding in better)
    nearly = [finding for finding in better if _promised(finding, first) * FAR_BETTER >= most]
    return min(nearly, key=lambda finding: (work(finding), -_promised(finding, first)))


def _is_far_better(finding: Finding, first: Finding) -> bool:
    """Says whether a cure saves so many times the time, or leaves so little of it, that it comes first."""
    more_work = work(finding) > work(first)
    times = MORE_WORK if more_work else FAR_BETTER
    if _saved_share(finding) >= times * _saved_share(first):
        return True
    # What is less work is worth a trial, though its gain is uncertain; what is more has to be certain, too.
    if more_work:
        return _half_certain(finding) >= times * _expected(first)
    return _promised(finding, first) >= times * _promised(first, finding)


def _expected(finding: Finding) -> float:
    """Gives how many times faster a cure is expected to make the job."""
    gain = finding.gain
    return 1.0 if gain is None else gain.speedup_if_so


def _promised(finding: Finding, other: Finding) -> float:
    """Gives the same; less if only the other one's gain is certain."""
    if finding.gain is None or other.gain is None:
        return 1.0
    uncertain = finding.gain.speedup_range[0] <= 1 < other.gain.speedup_range[0]
    return _half_certain(finding) if uncertain else _expected(finding)


def _half_certain(finding: Finding) -> float:
    """Gives it halfway between what is certain and what is expected, if what is assumed is so."""
    gain = finding.gain
    return 1.0 if gain is None else math.sqrt(gain.speedup_range[0] * gain.speedup_if_so)


def _saved_share(finding: Finding) -> float:
    """Gives the share of the time that a cure saves, between what is certain and what is expected."""
    return 1 - 1 / _half_certain(finding)


def _charged(finding: Finding, left: _Left, measures: Measures) -> tuple[Finding | None, _Left]:
    """Gives a finding with the seconds that it costs beyond those before it, and what is left.

    None where its cure gives too little. A problem whose seconds others claim is a note: another way to get
    them back.
    """
    model = measures.model
    if finding.name == input_bound.NAME or finding.gain is None:
        return dataclasses.replace(finding, cost_share=finding.cost_s / model.unit_s), left
    least_s = (LEAST_SHARE if finding.stall_s > 0 else measures.least_share) * model.unit_s
    if finding.gain.saved_s < least_s:
        return None, left
    stall_s = min(finding.stall_s, finding.cost_s)
    claimed_s = min(finding.cost_s - stall_s, left.wait_s)
    own_claimed_s = left.own_claimed_s
    if finding.name not in OF_OTHERS:
        own_s = max(measures.input_calls.within_s / model.units, stall_s)
        stall_s = min(stall_s, max(0.0, own_s - own_claimed_s))
        own_claimed_s += stall_s
    cost_s = claimed_s + stall_s
    share = cost_s / model.unit_s
    kind = finding.kind
    little = cost_s < PROBLEM_SHARE * model.unit_s or _promises_little(finding)
    if kind == "problem" and (measures.too_short or little):
        kind = "note"
    if kind == "problem" and (cost_s < least_s or (not model.likely and stall_s < claimed_s)):
        kind = "note"
    # A run waits for its first batch once, however long it is, and the next run for longer or less; but not
    # for one behind a buffer that each epoch fills.
    again_s = model.most_wait_s - model.first_wait_s + stall_s
    once = kind == "problem" and model.certain and again_s < PROBLEM_SHARE * model.unit_s
    once = once and not shuffle_buffer.fills_each_epoch(measures)
    # A note promises what another cure gives, too, or nothing.
    gain = None if once or (kind == "note" and _is_no_promise(finding)) else finding.gain
    kind = "note" if once else kind
    return (
        dataclasses.replace(finding, kind=kind, cost_s=cost_s, stall_s=stall_s, cost_share=share, gain=gain),
        _Left(left.wait_s - claimed_s, own_claimed_s),
    )


def _is_no_promise(finding: Finding) -> bool:
    """Says whether what a cure gives is lost in what runs differ by; of a guess, whether half of it is."""
    gain = finding.gain
    if gain is None:
        return True
    if finding.kind == "note" and finding.name in GUESSES:
        return gain.before_s < LEAST_SPEEDUP * (gain.before_s - UNSHOWN * gain.if_so_s)
    return gain.speedup < LEAST_SPEEDUP


def _promises_little(finding: Finding) -> bool:
    """Says whether a cure promises too little for a problem: more is asked of a gain that is not certain."""
    if finding.gain is None:
        return False
    certain = finding.gain.speedup_range[0] > 1
    return finding.gain.speedup < (LEAST_SPEEDUP if certain else LEAST_UNCERTAIN)
