"""All findings of a session, and the verdict on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tfdarshan.analysis.calls.trace_span import TraceSpan
from tfdarshan.analysis.files.program_calls import NO_PROGRAMS, ProgramCalls
from tfdarshan.analysis.steps.step_time import StepLength, step_length
from tfdarshan.analysis.summary_data import SummaryData
from tfdarshan.findings.all_findings import CAUSES, Cause
from tfdarshan.findings.applied_fixes import AppliedFix, applied_fixes, earlier_sessions, without_tried
from tfdarshan.findings.data_set_of_fix import with_place
from tfdarshan.findings.finding import Finding, Fix, Unknown
from tfdarshan.findings.measurement import measure_leading, summary_and_measures
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.replayed import replayed
from tfdarshan.findings.step_split import StepPart, step_split
from tfdarshan.findings.verdict import Verdict, make_verdict
from tfdarshan.partials.serial import Runner
from tfdarshan.sessions.session_data import SessionData


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
        """Return the findings one by one, so that `for finding in session.findings` is right."""
        return iter(self.findings)

    def __getitem__(self, place: int) -> Finding:
        """Return one of the findings."""
        return self.findings[place]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What costs time that a fix gives back, the most seconds first; empty for a healthy job."""
        return tuple(finding for finding in self.findings if finding.kind == "problem")

    @property
    def advised(self) -> tuple[Finding, ...]:
        """All findings with a fix whose gain is known, problems and notes."""
        return tuple(finding for finding in self.findings if finding.fix and finding.gain)

    @property
    def units(self) -> int:
        """How many steps there are, 1 without: what seconds of a unit are multiplied by to be a session's."""
        return 1 if self.step is None else self.step.steps

    @property
    def named(self) -> Finding | None:
        """The finding whose fix the verdict names, None if it names none."""
        return next((one for one in self.findings if one.name == self.verdict.finding), None)


def diagnose(session: SessionData, runner: Runner | None = None) -> Diagnosis:
    """Find what makes a job slow.

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
    """Return what the summary says, of all ranks, and what was found, with the tables read once if it can be.

    Args:
        session: The session.
        top: How many of the slowest and most-read files the summary lists.
        runner: What reads the calls of several processes or ranks for the time in I/O; None: this process.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    data, measures = summary_and_measures(session, top, runner)
    return data, diagnosis_of(measures)


def diagnosis_of(measures: Measures) -> Diagnosis:
    """Find it in what was measured already, and in earlier sessions of the job what was tried in vain."""
    earlier = earlier_sessions(measures)
    tried = applied_fixes([*earlier, measures], lambda one: diagnosis_alone(one).advised) if earlier else []
    found = diagnosis_alone(measures, tried)
    for one in (*earlier, measures):
        one.kept.save()
    return found


def diagnosis_alone(measures: Measures, tried: Sequence[AppliedFix] = ()) -> Diagnosis:
    """Find it in one session; fixes that were tried in vain are not offered again."""
    results = [_of_cause(cause, measures) for cause in CAUSES]
    unknown = tuple(result for result in results if isinstance(result, Unknown))
    made = [result for result in results if isinstance(result, Finding)]
    found = replayed(without_tried(made, tried), measures)
    verdict = make_verdict(measures, found, unknown)
    summary, windows = measures.summary, measures.windows
    step = None if windows is None else step_length(windows.end_ns - windows.start_ns)
    return Diagnosis(
        verdict,
        tuple(found),
        unknown,
        summary.trace_span,
        step_split(measures),
        summary.coverage.programs,
        step,
    )


def _of_cause(cause: Cause, measures: Measures) -> Finding | Unknown | None:
    """Return what a cause's module finds, with when to ignore it and where its line stands."""
    found = cause.find(measures)
    if not isinstance(found, Finding):
        return found
    found = replace(found, not_worth=found.not_worth or cause.ABOUT.ignore, unit=measures.model.unit)
    return _in_its_language(with_place(found, measures), measures)


def _in_its_language(finding: Finding, measures: Measures) -> Finding:
    """Leave out lines of Python if a log is of a program that is none; commands stay."""
    way, fix = measures.recorded, finding.fix
    if way.started_by != "darshan" or way.is_python or fix is None or fix.line.startswith("tfdarshan "):
        return finding
    return replace(finding, fix=Fix(fix.what))
