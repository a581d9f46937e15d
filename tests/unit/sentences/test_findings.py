"""Each finding's sentences on a session where they are true, and their absence where they are false."""

from __future__ import annotations

import pytest

from tests.unit.sentences.finding_cases import CASES
from tests.unit.sentences.raw_figures import raw
from tfdarshan.findings.all_findings import NAMES
from tfdarshan.findings.diagnosis import Diagnosis
from tfdarshan.findings.finding import Finding


def found_of(diagnosis: Diagnosis) -> dict[str, Finding]:
    """Gives a diagnosis's findings by name."""
    return {finding.name: finding for finding in diagnosis.findings}


def test_every_finding_has_a_case():
    assert sorted(case.name for case in CASES) == sorted(NAMES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_finding_says_what_the_tables_say(case, shown):
    # GIVEN a session in which it is true
    words = case.says(raw(shown.session(case.true)))

    # WHEN
    found = found_of(shown.diagnosis(case.true))

    # THEN
    said = f"{found[case.name].title}. {found[case.name].what}"
    assert [part for part in words if part not in said] == [], said


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_finding_is_silent_where_it_is_false(case, shown):
    assert case.name not in found_of(shown.diagnosis(case.false))
