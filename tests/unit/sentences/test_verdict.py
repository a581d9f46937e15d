"""Each form of the first sentence, on sessions where it is true, against figures from the raw tables."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.scenario_sessions import SKETCHES
from tests.unit.findings.made_up_training import LOOP
from tests.unit.sentences.raw_figures import Raw, raw
from tfdarshan.findings.kept_verdicts import kept_verdict
from tfdarshan.findings.verdict import as_sentence
from tfdarshan.reports.text.list_text import why
from tfdarshan.sessions.catalogue import list_sessions
from tfdarshan.units import human_seconds, percent


def _own_share(found: Raw) -> str:
    own = found.events[found.events["tid"] == LOOP]
    return percent((own["end_ns"] - own["start_ns"]).sum(), (found.steps["end"] - found.steps["start"]).sum())


def _in_calls(found: Raw) -> str:
    # One reader, and it works in the waits alone.
    whole_s = (found.steps["end"].max() - found.steps["start"].min()) / 1e9
    return percent(min(found.union_s(found.events), found.steps["wait"].sum() / 1e9), whole_s)


def _running(found: Raw) -> str:
    whole_s = (found.events["end_ns"].max() - found.events["start_ns"].min()) / 1e9
    return f"file calls were running {percent(found.union_s(found.events), whole_s)} of the time"


FORMS: dict[str, tuple[str, Callable[[Raw], str]]] = {
    "one step": (r"^Too short to tell: 1 step in ", lambda found: _length(found)),
    "small writes": (r"^Too short to tell: all steps together took ", lambda found: _length(found)),
    "a warm cache": (r"^Healthy: ", lambda found: percent(found.wait_share, 1)),
    "one write": (r"^The training loop's own file calls take ", _own_share),
    "petabytes from memory": (r"is waiting for file calls that the page cache served", _in_calls),
    "no steps": (r"^No step was recorded, .* If something did, it is because reads reach only", _running),
    "no call": (r"^No step was recorded, .* file calls were running 0.0 % of the time", lambda _: "0.0 %"),
    "much not seen": (r"^\S+ % of the bytes read were not seen\. ", lambda _: percent(47, 67)),
    "a trace cut short": (r"^The trace lacks \S+ % of the calls\. ", lambda _: percent(300, 640)),
}


def _length(found: Raw) -> str:
    return human_seconds((found.steps["end"].max() - found.steps["start"].min()) / 1e9)


@pytest.fixture(scope="module")
def verdicts(shown) -> dict[str, tuple[str, Raw]]:
    """Gives what is said first of each session, with why not to trust it, and its raw tables."""
    found = {name: shown.diagnosis(name) for name in FORMS}
    doubts = {
        name: [as_sentence(one.title) for one in found[name].findings if one.kind == "doubt"]
        for name in FORMS
    }
    assert all(set(doubts[name]) <= set(found[name].verdict.notes) for name in FORMS)
    return {
        name: (" ".join((*doubts[name], found[name].verdict.sentence)), raw(shown.session(name)))
        for name in FORMS
    }


@pytest.mark.parametrize("name", FORMS)
def test_the_first_sentence_is_of_the_tables(name, verdicts):
    form, figure = FORMS[name]
    sentence, found = verdicts[name]

    assert re.search(form, sentence), sentence
    assert figure(found) in sentence, sentence


@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_it_is_not_said_of_others(name, verdicts):
    form, _ = FORMS[name]

    said = {other: sentence for other, (sentence, _) in verdicts.items() if other != name}

    assert [other for other, sentence in said.items() if re.search(form, sentence)] == []


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


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("one step", "too short to tell"),
        ("petabytes from memory", "no fix is known"),
        ("one write", "no fix is known"),
        ("only writes", "cannot tell; what stands out: the main thread makes 100 writes of 1.0 kB"),
    ],
)
def test_a_list_says_it_in_a_few_words(name, words, shown):
    # GIVEN
    (listed,) = list_sessions(shown.session(name).path.parents[2])

    # THEN
    assert why(listed, kept_verdict(shown.diagnosis(name), 1.0)) == words
