"""The verdict and the findings behind it, as the Overview shows them."""

from __future__ import annotations

import dataclasses

from tfdarshan.findings.diagnosis import Diagnosis, diagnosis_of
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measures import measure
from tfdarshan.reports.text.findings_text import assumption_text, cost_text, gain_text
from tfdarshan.reports.views.panel import Card, Cards, Cell, Headline, Panel, Text
from tfdarshan.reports.views.redaction import Redaction, redacted_files, redacted_summary
from tfdarshan.sessions.session_data import SessionData

KIND_WORDS = {"doubt": "do not trust this", "problem": "costs time", "note": "worth knowing"}


def diagnosis_for(session: SessionData, redaction: Redaction | None = None) -> Diagnosis:
    """Finds what makes a session slow; with a redaction in words without names.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    measures = measure(session)
    if redaction is not None:
        measures = dataclasses.replace(
            measures,
            files=redacted_files(measures.files, redaction),
            summary=redacted_summary(measures.summary, redaction),
        )
    return diagnosis_of(measures)


def findings_panels(diagnosis: Diagnosis) -> list[Panel]:
    """Gives the verdict, a card for each finding, and what is not known."""
    verdict = diagnosis.verdict
    record = f"To know: {verdict.record}." if verdict.record else ""
    panels: list[Panel] = [Headline(verdict.sentence, verdict.state, record)]
    if diagnosis.findings:
        panels.append(Cards("findings", "", [_card(finding) for finding in diagnosis.findings]))
    if diagnosis.unknown:
        lines = [f"{entry.name}: {entry.why}." for entry in diagnosis.unknown]
        panels.append(Text(lines, "What this session cannot tell"))
    return panels


def _card(finding: Finding) -> Card:
    cure = finding.cure
    return Card(
        name=finding.name,
        tone=finding.kind,
        label=KIND_WORDS[finding.kind],
        title=finding.title,
        cost=Cell(cost_text(finding), f"{finding.cost_s:.9f} s") if finding.cost_s > 0 else Cell(""),
        gain=gain_text(finding.gain) if finding.gain is not None else "",
        assumes=[assumption_text(entry) for entry in finding.gain.assumptions] if finding.gain else [],
        what=finding.what,
        cure=cure.what if cure is not None else "",
        line=cure.line if cure is not None else "",
        instead_of=cure.instead_of if cure is not None else "",
        evidence=[(entry.label, entry.text) for entry in finding.evidence],
        files=[Cell(path, path, ("file", path)) for path in finding.files],
        not_worth=f"Do not bother {finding.not_worth}." if finding.not_worth else "",
    )
