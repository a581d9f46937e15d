"""What each finding says of a session of which it is true, and that it says nothing where it is false."""

from __future__ import annotations

from tests.unit.golden.golden_file import Golden
from tests.unit.sentences.finding_cases import CASES
from tests.unit.sentences.shown_sessions import ShownSessions
from tfdarshan.findings.all_findings import NAMES
from tfdarshan.findings.finding import Finding


def test_every_finding_has_a_case():
    assert sorted(case.name for case in CASES) == sorted(NAMES)


def test_findings_say_what_they_say(shown: ShownSessions, golden: Golden):
    # GIVEN a session for each finding
    found = {case.name: shown.finding(case.true, case.name) for case in CASES}

    # THEN
    texts = {name: shown.without_place(_words(finding)) for name, finding in found.items()}
    golden("findings_by_cause.txt", texts)


def test_findings_are_silent_where_they_are_false(shown: ShownSessions):
    assert [case.name for case in CASES if shown.finding(case.false, case.name)] == []


def _words(finding: Finding | None) -> str:
    """Return all that a finding says but its figures, a line each."""
    assert finding is not None
    fix = (f"Fix: {finding.fix.what}", finding.fix.line) if finding.fix else ()
    ignored = f"Ignore this if {finding.not_worth}." if finding.fix and finding.not_worth else ""
    return "\n".join(filter(None, (finding.title, finding.what, *fix, ignored)))
