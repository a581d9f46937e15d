"""What is said first of each session, and that no more is lost than all."""

from __future__ import annotations

import pytest

from tests.scenario_sessions import SKETCHES
from tests.unit.golden.golden_file import Golden
from tests.unit.sentences.raw_figures import raw
from tests.unit.sentences.sessions import SESSIONS
from tests.unit.sentences.shown_sessions import ShownSessions
from tfdarshan.findings.kept_verdicts import kept_verdict
from tfdarshan.reports.text.findings_text import verdict_text
from tfdarshan.reports.text.list_text import why
from tfdarshan.sessions.catalogue import list_sessions

# A sentence is a line.
WIDEST = 10_000


def test_the_first_sentence_of_each_session(golden: Golden, shown: ShownSessions):
    # GIVEN all sessions of the table, and what is said of them in full and in a list
    said = {name: verdict_text(shown.diagnosis(name), WIDEST) for name in SESSIONS}
    listed = {name: _listed(shown, name) for name in SESSIONS}

    # THEN
    texts = {name: f"{listed[name]}\n\n{said[name]}" for name in SESSIONS}
    golden("verdicts.txt", {name: shown.without_place(text) for name, text in texts.items()})


def _listed(shown: ShownSessions, name: str) -> str:
    """Return what a list says of a session."""
    (listed,) = list_sessions(shown.session(name).path.parents[2])
    return why(listed, kept_verdict(shown.diagnosis(name)))


@pytest.mark.parametrize("name", SKETCHES)
def test_what_is_lost_is_no_more_than_all(name, shown):
    # GIVEN
    steps = raw(shown.session(name)).steps

    # WHEN
    found = shown.diagnosis(name)

    # THEN the costs of all findings but the wait's own, and the parts of a step, add up to it
    costs = [finding.cost_share for finding in found.findings if finding.name != "input_bound"]
    assert sum(costs) <= 1 + 1e-9
    step_s = (steps["end"].max() - steps["start"].min()) / len(steps) / 1e9 if len(steps) else 0.0
    assert sum(part.seconds for part in found.parts) == pytest.approx(step_s)
