"""The verdict names the fix that is worth most, and each view says the same."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

import pytest

from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.sentences.rows import Maker
from tests.unit.sentences.sessions import EDGES
from tfdarshan.findings.all_findings import FIX_NAMES, NAMES
from tfdarshan.findings.diagnosis import diagnose, diagnosis_of
from tfdarshan.findings.finding import Fix
from tfdarshan.findings.kept_verdicts import kept_verdict
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.plain import plain_diagnosis
from tfdarshan.findings.verdict import as_sentence, in_short, make_verdict
from tfdarshan.reports.notebook import session_html
from tfdarshan.reports.text.answer_text import answer_text
from tfdarshan.reports.text.brief_text import brief_text
from tfdarshan.reports.text.findings_text import findings_text
from tfdarshan.reports.text.list_text import list_text, why
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import Cards, Headline, Text
from tfdarshan.sessions.catalogue import list_sessions
from tfdarshan.terminal.paint import Paint

MADE: dict[str, Maker] = {name: partial(sketched, sketch=sketch) for name, sketch in SKETCHES.items()}
TIMES_FASTER = re.compile(r"\d+\.\d\dx")


def test_the_verdict_names_the_fix_that_is_worth_most_and_what_it_gives(tmp_path):
    # GIVEN one reader of slow storage
    found = diagnose(sketched(tmp_path, SKETCHES["one reader"]))

    # THEN
    first = found.problems[0]
    low, high = first.gain.speedup_range
    assert found.named is first
    assert found.verdict.gain == first.gain
    assert found.verdict.sentence.endswith(
        f" of the time. {as_sentence(first.title)} {in_short(first.fix.what)}: "
        f"training gets {first.gain.speedup:.2f}x faster (likely {low:.2f}x to {high:.2f}x)."
    )


def test_a_diagnosis_is_gone_through_like_a_list_of_its_findings(tmp_path):
    found = sketched(tmp_path, SKETCHES["one reader"]).findings

    assert list(found) == list(found.findings)
    assert found[0] is found.findings[0]
    assert found[-1] is found.findings[-1]


def test_a_wait_without_a_fix_is_its_own_cause(tmp_path):
    # GIVEN a wait that no finding explains
    found = diagnose(EDGES["petabytes from memory"](tmp_path))

    # THEN
    assert found.verdict.finding == "input_bound"
    assert found.verdict.gain is None


def test_each_view_says_the_same(tmp_path):
    # GIVEN
    session = sketched(tmp_path, SKETCHES["one reader"])
    found = diagnose(session)
    sentence, named = found.verdict.sentence, found.named

    # THEN the terminal and a notebook say the verdict, and the lines of the fix that it names
    text = " ".join(" ".join(answer_text(found, Paint())).split())
    assert text.startswith(sentence)
    assert all(line in text for line in named.fix.line.splitlines())
    assert sentence in session_html(session)

    # ... the headline has its card, and no other card repeats it
    panels = findings_panels(found)
    (headline,) = (panel for panel in panels if isinstance(panel, Headline))
    assert as_sentence(named.title) in headline.sentence
    assert headline.card.name == named.name
    assert headline.speedup == f"{named.gain.speedup:.2f}x"
    cards = [card.name for panel in panels if isinstance(panel, Cards) for card in panel.items]
    assert named.name not in cards

    # ... a list has its title and its gain
    kept = kept_verdict(found)
    assert (kept.title, kept.speedup) == (named.title, named.gain.speedup)
    (listed,) = list_sessions(tmp_path)
    text = list_text([[listed]], {listed.path: kept}, "logs", Paint())
    assert f"{named.gain.speedup:.2f}x  {named.title[:16]}" in text
    assert why(listed, kept) == named.title

    # ... and plain data
    plain = json.loads(json.dumps(plain_diagnosis(found)))["verdict"]
    assert plain["finding"] == named.name
    assert plain["gain"]["speedup"] == named.gain.speedup


@pytest.mark.parametrize(
    "name", ["one reader", "many small files", "fits in memory", "asked again and again", "no steps"]
)
def test_sentence_number_and_lines_are_of_one_fix_and_name_no_finding(name, tmp_path):
    # GIVEN a job that several fixes would make faster
    session = sketched(tmp_path, SKETCHES[name])
    measured = measure(session)
    found = diagnosis_of(measured)
    internal = [finding for finding in NAMES if "_" in finding]

    # THEN the only times faster of the sentence are those of the fix below it
    panels = findings_panels(found)
    (headline,) = (panel for panel in panels if isinstance(panel, Headline))
    low, high = found.named.gain.speedup_range
    given = {f"{times:.2f}x" for times in (low, found.named.gain.speedup, high)}
    assert set(TIMES_FASTER.findall(f"{found.verdict.sentence} {headline.sentence}")) <= given
    assert set(TIMES_FASTER.findall(headline.speedup)) <= given
    assert headline.card.line == found.named.fix.line

    # ... and no text that people read names a finding as programs do
    cards = [card for panel in panels if isinstance(panel, Cards) for card in panel.items]
    said = [found.verdict.sentence, findings_text(found), brief_text(measured.summary, found)]
    said += [session_html(session), *(f"{card.title} {card.what} {card.fix}" for card in cards)]
    said += [line for panel in panels if isinstance(panel, Text) for line in panel.lines]
    assert not [(finding, text) for finding in internal for text in said if finding in text]


def test_every_finding_that_may_have_a_fix_has_a_name_among_others():
    without = {"low_coverage", "truncated_trace", "full_storage", "input_bound", "page_cache"}

    assert set(NAMES) - without == set(FIX_NAMES)
    assert len(set(FIX_NAMES.values())) == len(FIX_NAMES)


def test_without_steps_it_is_said_too_and_nothing_is_promised(tmp_path):
    # GIVEN
    session = sketched(tmp_path, replace(SKETCHES["no steps"], open_ms=3.0, files=160))
    found = diagnose(session)

    # THEN
    assert found.verdict.state == "unknown"
    assert (
        f"If the job waits for its files, the cause is that {found.named.title}. "
        f"{in_short(found.named.fix.what)}: the job gets up to "
    ) in found.verdict.sentence
    assert found.verdict.sentence.endswith("x faster.")
    unsure = "The fix gives nothing if the job does not wait for its files."
    assert unsure in found.verdict.notes
    assert unsure in brief_text(measure(session).summary, found)


@pytest.mark.parametrize("name", [*SKETCHES, *EDGES])
def test_the_verdict_is_three_short_sentences_at_most_and_has_no_share_of_a_share(name, tmp_path):
    # WHEN
    sentence = diagnose({**MADE, **EDGES}[name](tmp_path)).verdict.sentence

    # THEN a full stop within a number or a name ends nothing
    assert len(re.findall(r"\.(?: |$)", sentence)) <= 3, sentence
    assert all(len(one.split()) <= 25 for one in re.split(r"(?<=[.:;]) ", sentence)), sentence
    assert "% of that" not in sentence


def test_a_fix_of_another_cause_than_the_largest_comes_first(tmp_path):
    # GIVEN two problems, the second of which costs more time and takes more work
    measures = measure(sketched(tmp_path, SKETCHES["one reader"]))
    first, *_ = diagnosis_of(measures).problems
    small = replace(first.gain, saved_s=first.gain.saved_s / 4, wait_s=first.gain.wait_s / 4)
    easy = replace(first, name="prefetch", title="small", fix=Fix("Prefetch.", "x"), gain=small)

    # WHEN
    verdict = make_verdict(measures, [easy, first], [])

    # THEN
    assert verdict.finding == "prefetch"
    assert verdict.sentence.startswith("Prefetch: ")
    assert verdict.sentence.endswith(f"Another cause is larger: {first.title}.")
    assert verdict.why in verdict.sentence
    assert "Prefetch" not in verdict.why
