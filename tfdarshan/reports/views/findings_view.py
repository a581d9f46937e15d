"""The verdict and the findings behind it, as the Overview shows them."""

from __future__ import annotations

import dataclasses

from tfdarshan.analysis.files.session_files import SessionFiles
from tfdarshan.analysis.measured_session import MeasuredSession
from tfdarshan.analysis.ranks.rank_table import without_names
from tfdarshan.findings import input_bound
from tfdarshan.findings.diagnosis import Diagnosis, diagnosis_of
from tfdarshan.findings.finding import Finding, Fix, Gain
from tfdarshan.findings.measurement import measure_leading
from tfdarshan.findings.overlapping_fixes import fix_once, one_of_words
from tfdarshan.findings.promise_words import most_words, open_sentence, subject_words
from tfdarshan.findings.verdict import record_sentence
from tfdarshan.reports.figures.theme import STEP_PARTS
from tfdarshan.reports.text.answer_text import LEAST_SHARE
from tfdarshan.reports.text.findings_text import cost_text, gain_text
from tfdarshan.reports.text.step_text import length_words
from tfdarshan.reports.views.panel import Card, Cards, Cell, Headline, Panel, Part, Parts, Text, duration
from tfdarshan.reports.views.redaction import Redaction, redacted_files, redacted_summary
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.units import human_range, human_seconds, human_times, percent, plural

KIND_WORDS = {"doubt": "figures may be wrong", "problem": "costs time", "note": "worth knowing"}

IF_WAITED = ", if the job waited for its files"


def diagnosis_for(
    session: SessionData,
    redaction: Redaction | None = None,
    files: SessionFiles | None = None,
    measured: MeasuredSession | None = None,
) -> Diagnosis:
    """Find what makes a session slow; with a redaction in words without names.

    Args:
        session: The session.
        redaction: Replaces paths; None shows them.
        files: Its files tables, where others need them, too.
        measured: The session, if it was measured already.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    measures = measure_leading(session, files=files, measured=measured)
    if redaction is not None:
        measures = dataclasses.replace(
            measures,
            files=redacted_files(measures.files, redaction),
            summary=redacted_summary(measures.summary, redaction),
            ranks=None if measures.ranks is None else without_names(measures.ranks, redaction.folder),
            shown_path=redaction.path,
            named=measures,
        )
    return diagnosis_of(measures)


def findings_panels(diagnosis: Diagnosis) -> list[Panel]:
    """Return the verdict with its fix, a step's parts, cards of other findings, and what is not known."""
    panels: list[Panel] = [_headline(diagnosis), *_parts(diagnosis)]
    others = [
        _card(finding, diagnosis)
        for finding in diagnosis.findings
        if not said_by_headline(finding, diagnosis)
    ]
    if others:
        panels.append(Cards("findings", "", others))
    if diagnosis.unknown:
        lines = [f"{entry.why[:1].upper()}{entry.why[1:]}." for entry in diagnosis.unknown]
        panels.append(Text(lines, "What this session cannot tell", folded=True))
    if diagnosis.left_out.worth_saying:
        panels.append(Text([diagnosis.left_out.sentence], "What no finding is about", folded=True))
    return panels


def said_by_headline(finding: Finding, diagnosis: Diagnosis) -> bool:
    """Return whether the headline says all of a finding: the one that it names, and how long steps wait."""
    if finding is diagnosis.named and finding.fix is not None:
        return True
    return finding.name == input_bound.NAME and bool(diagnosis.parts)


def _headline(diagnosis: Diagnosis) -> Headline:
    verdict, named = diagnosis.verdict, diagnosis.named
    note = " ".join([*verdict.notes, *filter(None, [record_sentence(verdict)])])
    if named is None or named.fix is None:
        return Headline(verdict.sentence, verdict.state, note)
    speedup, promise = "", ""
    if verdict.gain is not None:
        bounds = human_range(*verdict.gain.speedup_range)
        who = subject_words(verdict.gain).removeprefix("the ")
        speedup, promise = human_times(verdict.gain.speedup), f"faster {who}; likely {bounds}"
        if not verdict.gain.supported:
            speedup = most_words(verdict.gain)
            unsure = ": the model does not reproduce the run" if verdict.gain.waited else IF_WAITED
            promise = f"faster {who}{unsure}"
    card, said = _card(named, diagnosis), verdict.why or verdict.sentence
    return Headline(said, verdict.state, note, speedup, promise, card)


def _parts(diagnosis: Diagnosis) -> list[Panel]:
    whole_s = sum(part.seconds for part in diagnosis.parts)
    if whole_s <= 0 or diagnosis.step is None:
        return []
    steps = diagnosis.step.steps
    items = [
        Part(
            label=part.label,
            value=duration(part.seconds * steps),
            share=part.seconds / whole_s,
            share_text=percent(part.seconds, whole_s),
            colour=STEP_PARTS[part.name],
        )
        for part in diagnosis.parts
        if part.seconds >= LEAST_SHARE * whole_s
    ]
    title = f"Where the {human_seconds(whole_s * steps)} of {plural(steps, 'step')} go"
    return [Parts("step-parts", f"{title}. A step: {length_words(diagnosis.step)}", items)]


def _label(finding: Finding, fix: Fix | None) -> str:
    """Describe what a card is about; a note's fix gives seconds back that a problem's fix gives, too."""
    if finding.kind == "note" and fix is finding.fix is not None and finding.gain is not None:
        return "another way"
    return KIND_WORDS[finding.kind]


def _speedup(gain: Gain) -> str:
    return human_times(gain.speedup) if gain.supported else most_words(gain)


def _card(finding: Finding, diagnosis: Diagnosis) -> Card:
    fix = fix_once(finding, diagnosis.findings)
    one_of = one_of_words(finding, diagnosis.findings)
    return Card(
        name=finding.name,
        tone=finding.kind,
        label=_label(finding, fix),
        title=finding.title,
        cost=Cell(cost_text(finding), f"{finding.cost_s:.9f} s") if finding.cost_s > 0 else Cell(""),
        speedup=_speedup(finding.gain) if finding.gain is not None and fix is not None else "",
        gain=gain_text(finding.gain) if finding.gain is not None else "",
        assumes=[open_sentence(entry) for entry in finding.gain.hangs_on] if finding.gain else [],
        what=finding.what,
        fix=f"{fix.what} {one_of}".strip() if fix is not None else "",
        line=fix.line if fix is not None else "",
        instead_of=fix.instead_of if fix is not None else "",
        evidence=[(entry.label, entry.text) for entry in finding.evidence],
        files=[Cell(path, path, ("file", path)) for path in finding.files],
        not_worth=f"Ignore this if {finding.not_worth}." if finding.not_worth else "",
    )
