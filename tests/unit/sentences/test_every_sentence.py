"""No sentence without a test: findings, verdict, what-if and compare say only what some test has them say.

A template is told if a session of the tables of these tests has it said, or if a test names its words.
What neither does is in `untold.txt`, which may only become shorter.
"""

from __future__ import annotations

import dataclasses
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sentences.sessions import SESSIONS
from tests.unit.sentences.templates import HOLE, is_said, templates_of, texts_of
from tests.unit.sentences.test_findings import CASES
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.diagnosis import Diagnosis, diagnosis_of
from tfdarshan.findings.measures import measure_leading
from tfdarshan.findings.whatif import questions_of
from tfdarshan.units import human_bytes, human_seconds, percent

HERE = Path(__file__).parent
TESTS = HERE.parents[1]
UNTOLD = HERE / "untold.txt"
ROOMS = ("findings", "comparison")
# Words of a template that a test names: fewer would be named by chance.
LEAST_LITERAL = 11
PLACE = re.compile(r"[\d,.]+")


def texts_in(value: Any) -> set[str]:
    """Gives the texts within data."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set().union(*map(texts_in, value.values()), set())
    return set().union(*map(texts_in, value), set()) if isinstance(value, (list, tuple)) else set()


@pytest.fixture(scope="module")
def diagnoses(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Diagnosis], set[str]]:
    """Gives all diagnoses, and all that is said of these sessions."""
    top = tmp_path_factory.mktemp("sessions")
    makers = [*SESSIONS.values(), *(case.true for case in CASES), *(case.false for case in CASES)]
    found, said = [], set()
    for place, maker in enumerate(makers):
        measures = measure_leading(maker(top / str(place)))
        found.append(diagnosis_of(measures))
        said |= texts_in(dataclasses.asdict(found[-1]))
        with suppress(ConfigurationError):  # nothing was read
            said |= {text for question in questions_of(measures) for text in question.answer.assumptions}
    return found, said


def named_in_tests() -> str:
    """Gives all texts of tests but docstrings, one a line: what a test expects, or looks for."""
    paths = [path for path in TESTS.rglob("*.py") if path != Path(__file__)]
    return "\n".join(text for path in paths for text in texts_of(path))


def test_every_sentence_is_told_by_a_session_or_named_by_a_test(diagnoses):
    # GIVEN every template, what sessions tell, and what tests name
    templates = {text: module for room in ROOMS for text, module in templates_of(room).items()}
    named = named_in_tests()

    # WHEN
    untold = {
        f"{module}: {' '.join(text.split())}"
        for text, module in templates.items()
        if not is_said(text, diagnoses[1])
        and not (len(literal := max(text.split(HOLE), key=len).strip()) >= LEAST_LITERAL and literal in named)
    }

    # THEN
    if os.environ.get("TFDARSHAN_UNTOLD"):
        UNTOLD.write_text("".join(f"{text}\n" for text in sorted(untold)), encoding="utf-8")
    known = set(UNTOLD.read_text(encoding="utf-8").splitlines())
    assert untold - known == set(), "these sentences have no test: write one"
    assert known - untold == set(), "these have a test now: take them out of untold.txt"


def test_evidence_says_the_figure_that_it_has(diagnoses):
    """A row's text and its value are one figure, however it is worded."""
    checked, other = 0, set()
    for diagnosis in diagnoses[0]:
        for finding in diagnosis.findings:
            for row in finding.evidence:
                if row.value is None:
                    continue
                value = float(row.value)
                ways = {f"{value:{form}}" for form in (",.0f", ",", ".1f", ".2f", ",.1f", "g")}
                ways |= {human_seconds(value), human_bytes(value), percent(value, 1)}
                checked += 1
                if PLACE.search(row.text) and not any(way in row.text for way in ways):
                    other.add((finding.name, row.label))
    assert other == set()
    assert checked > 300


def test_gains_are_ranges_and_cures_can_be_typed(diagnoses):
    for diagnosis in diagnoses[0]:
        for finding in diagnosis.findings:
            gain = finding.gain
            if gain is not None:
                assert 0 <= gain.low_s <= gain.expected_s <= gain.high_s <= gain.before_s * (1 + 1e-9)
                for entry in gain.assumptions:
                    assert entry.claim
                    assert entry.refuted_by
                    # What nothing shows promises nothing for certain.
                    assert entry.support or gain.low_s == 0 or not finding.name
            if finding.cure is not None:
                assert finding.cure.what.endswith(".")
                assert finding.cure.what[0].isupper()
            assert finding.title == finding.title.strip()
            assert not finding.title.endswith(".")
            assert finding.what.endswith(".")
            assert "  " not in finding.what + finding.not_worth
