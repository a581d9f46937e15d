"""No sentence without a test: what people are shown of their data says only what some test has it say.

A template is told if a session of the tables of these tests has it said, or if a test names its words.
Errors are no claims about data, nor is what `templates.NO_SENTENCE` finds; ROOMS are those in which something
is said of a session's data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.unit.sentences.counters_only import as_log
from tests.unit.sentences.finding_cases import CASES
from tests.unit.sentences.other_sessions import mapped, ranks
from tests.unit.sentences.rows import Maker, texts_in
from tests.unit.sentences.sessions import SESSIONS
from tests.unit.sentences.shown import fleet_texts
from tests.unit.sentences.shown_sessions import ShownSessions
from tests.unit.sentences.templates import HOLE, ROOT, TAB, is_said, templates_of, texts_of
from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.diagnosis import Diagnosis
from tfdarshan.findings.whatif import questions_of
from tfdarshan.units import human_bytes, human_seconds, percent

pytestmark = pytest.mark.long
TESTS = Path(__file__).parents[2]
# What is said of a session's data.
ROOMS = (
    "findings", "comparison", "reports", "analysis", "staging", "storage_probe", "doctor", "fleet",
    "recording", "lmdb", "sessions", "checkpoint", "commands", "formats", "native", "partials", "durable",
    "terminal", ROOT, TAB,
)  # fmt: skip
# Words of a template that a test names: fewer would be named by chance.
LEAST_LITERAL = 11
# ... and in all parts together, where each of them is shorter.
LEAST_PARTS = 8
PLACE = re.compile(r"[\d,.]+")
# What only sessions of other kinds than those of the table are shown of.
OTHERS: dict[str, Maker] = {
    "mapped": mapped,
    "log": lambda folder: as_log(SESSIONS["one reader"](folder)),
    "ranks": partial(ranks, marked=True),
}
# Sessions of which most is told: the others are shown only if something is untold after these.
TELLING = (
    *OTHERS, "a trace cut short", "petabytes from memory", "unseen reads", "one slow mount",
)  # fmt: skip


@dataclass(frozen=True)
class Told:
    """All diagnoses, and what is said of each of these sessions."""

    diagnoses: list[Diagnosis]
    by_session: list[set[str]]

    @property
    def all(self) -> set[str]:
        """All of it."""
        return set().union(*self.by_session)


@pytest.fixture(scope="module")
def told(shown: ShownSessions) -> Told:
    """Return what is said of all sessions of the tables."""
    found = Told([], [])
    for maker in (*SESSIONS.values(), *(case.true for case in CASES), *(case.false for case in CASES)):
        measures = shown.measures(maker)
        found.diagnoses.append(shown.diagnosis(maker))
        said = texts_in(found.diagnoses[-1])
        with suppress(ConfigurationError):  # nothing was read
            said |= {text for question in questions_of(measures) for text in question.answer.notes}
        found.by_session.append(said)
    return found


def shown_of(shown: ShownSessions) -> Iterator[set[str]]:
    """Yield what people are shown of a fleet, and then of one session after the other."""
    yield fleet_texts(shown.top / "fleet")
    makers = OTHERS | SESSIONS
    for name in sorted(makers, key=lambda name: name not in TELLING):
        yield shown.everything(makers[name])


def named_in_tests() -> list[str]:
    """Return all texts of tests but docstrings, what a test expects or look for, and all of golden files."""
    paths = [path for path in TESTS.rglob("*.py") if path != Path(__file__)]
    texts = {text for path in paths for text in texts_of(path)}
    texts |= {path.read_text(encoding="utf-8") for path in (TESTS / "unit" / "golden").glob("*.txt")}
    return sorted({" ".join(text.split()) for text in texts})


def is_named(template: str, named: list[str]) -> bool:
    """Return whether a test has the longest part of a template, or all of a template of short parts."""
    parts = [" ".join(part.split()) for part in template.split(HOLE)]
    literal = max(parts, key=len)
    if len(literal) >= LEAST_LITERAL:
        return any(literal in text for text in named)
    return sum(map(len, parts)) >= LEAST_PARTS and is_said(template, named)


def test_every_sentence_is_told_by_a_session_or_named_by_a_test(told, shown):
    # GIVEN every template, what sessions tell, and what tests name
    templates = {text: module for room in ROOMS for text, module in templates_of(room).items()}
    named, said = named_in_tests(), told.all

    # WHEN, until none is left
    untold = {text for text in templates if not is_named(text, named) and not is_said(text, said)}
    for texts in shown_of(shown):
        if not untold:
            break
        untold = {text for text in untold if not is_said(text, texts)}

    # THEN
    left = {f"{templates[text]}: {' '.join(text.split())}" for text in untold}
    assert left == set(), "these sentences have no test: write one"


def test_no_claim_is_made_of_every_session(told):
    """What is said whatever was done is no claim: each is told of some sessions and not of others."""
    templates = templates_of("findings")

    always = {text for text in templates if all(is_said(text, said) for said in told.by_session)}

    assert always == set()


def test_evidence_says_the_figure_that_it_has(told):
    """A row's text and its value are one figure, however it is worded."""
    checked, other = 0, set()
    for diagnosis in told.diagnoses:
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


def test_gains_are_ranges_and_fixes_can_be_typed(told):
    for diagnosis in told.diagnoses:
        for finding in diagnosis.findings:
            gain = finding.gain
            if gain is not None:
                # A fix may lose, too: the lower bound may be below nothing, and is no more if not supported.
                assert gain.low_s <= gain.saved_s <= gain.high_s <= gain.before_s * (1 + 1e-9)
                assert gain.saved_s >= 0
                assert gain.supported or gain.low_s <= 0
                assert all(entry.claim for entry in gain.hangs_on)
            if finding.fix is not None:
                assert finding.fix.what.endswith(".")
                assert finding.fix.what[0].isupper()
            assert finding.title == finding.title.strip()
            assert not finding.title.endswith(".")
            assert finding.what.endswith(".")
            assert "  " not in finding.what + finding.not_worth
