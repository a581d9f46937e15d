"""The verdict says what costs most and what cures it best, though these be of two findings, in each view."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.findings.test_assumptions import MAKERS
from tests.unit.sentences.sessions import EDGES
from tfdarshan.findings.all_findings import NAMES
from tfdarshan.findings.best_cure import LARGE_BYTES
from tfdarshan.findings.cure_names import CURE_NAMES
from tfdarshan.findings.diagnosis import diagnose, diagnosis_of
from tfdarshan.findings.kept_verdicts import kept_verdict
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.plain import plain_diagnosis
from tfdarshan.findings.same_seconds import one_of_words
from tfdarshan.reports.notebook import session_html
from tfdarshan.reports.text.answer_text import answer_text
from tfdarshan.reports.text.brief_text import brief_text
from tfdarshan.reports.text.findings_text import findings_text
from tfdarshan.reports.text.list_text import list_text, why
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import Cards, Headline, Text
from tfdarshan.sessions.catalogue import list_sessions
from tfdarshan.terminal.paint import Paint
from tfdarshan.workloads.laboratory.contradiction import asked, contradictions_in

TIMES_FASTER = re.compile(r"\d+\.\d\dx")


def test_the_verdict_says_which_cause_which_cure_and_what_that_one_promises(tmp_path):
    # GIVEN one reader of slow storage: more readers would do, a copy does for certain
    found = diagnose(sketched(tmp_path, SKETCHES["one reader"]))

    # THEN
    assert found.cause is found.problems[0]
    assert (found.cause.name, found.named.name) == ("read_parallelism", "staging")
    other = found.named.gain
    assert found.verdict.gain == other
    assert found.verdict.sentence.endswith(
        f"because {found.cause.title}. "
        f"Another cause has a cure that is more certain: {found.named.title}. {found.named.cure.what} "
        f"Expected: {other.speedup:.2f}x ({other.speedup_range[0]:.2f}x to {other.speedup_range[1]:.2f}x)."
    )


def test_a_diagnosis_is_gone_through_like_a_list_of_its_findings(tmp_path):
    found = sketched(tmp_path, SKETCHES["one reader"]).findings

    assert list(found) == list(found.findings)
    assert found[0] is found.findings[0]
    assert found[-1] is found.findings[-1]


def test_nothing_is_said_of_another_cause_if_the_cure_is_of_what_costs_most(tmp_path):
    found = diagnose(sketched(tmp_path, SKETCHES["slow storage"]))

    assert found.cause is found.named
    assert "Another cause" not in found.verdict.sentence
    assert kept_verdict(found, 1.0).cured == ""


def test_a_wait_without_a_cure_is_its_own_cause(tmp_path):
    # GIVEN a wait that no finding explains
    measures = measure(EDGES["petabytes from memory"](tmp_path))

    # THEN
    found = diagnosis_of(measures)
    assert found.verdict.cause == found.verdict.finding == "input_bound"
    assert contradictions_in(asked(measures)) == []


def test_each_view_says_both(tmp_path):
    # GIVEN
    session = sketched(tmp_path, SKETCHES["one reader"])
    found = diagnose(session)
    sentence, cause, cured = found.verdict.sentence, found.cause, found.named
    overlap = one_of_words(cured)

    # THEN the terminal and a notebook say the verdict, and the lines of the cure that it names
    text = " ".join(" ".join(answer_text(found, Paint())).split())
    assert text.startswith(sentence)
    assert all(line in text for line in cured.cure.line.splitlines())
    assert overlap in " ".join(findings_text(found).split())
    assert (
        overlap == "Choose one: this cure, more reads at a time, batches prepared ahead or samples in shards."
    )
    assert sentence in session_html(session)

    # ... the headline says the cause, and then cure and gain of the other finding; the cause has a card
    panels = findings_panels(found)
    (headline,) = (panel for panel in panels if isinstance(panel, Headline))
    assert cause.title in headline.sentence
    assert headline.sentence.endswith(f"Another cause has a cure that is more certain: {cured.title}.")
    assert (headline.card.name, headline.card.cure) == (cured.name, f"{cured.cure.what} {overlap}")
    assert headline.speedup == f"{cured.gain.speedup:.2f}x"
    cards = [card.name for panel in panels if isinstance(panel, Cards) for card in panel.items]
    assert cause.name in cards
    assert cured.name not in cards

    # ... a list says that the gain is not of what costs most
    kept = kept_verdict(found, 10.0)
    assert (kept.title, kept.cured, kept.speedup) == (cause.title, cured.title, cured.gain.speedup)
    (listed,) = list_sessions(tmp_path)
    text = list_text([[listed]], {listed.path: kept}, "logs", Paint())
    assert f"{cured.gain.speedup:.2f}x  {cause.title[:16]}" in text
    assert f"\n  the gain is that of curing something else: {cured.title}\n" in text
    assert why(listed, kept) == f"{cause.title}; the gain is that of curing something else: {cured.title}"

    # ... and plain data has both names
    plain = json.loads(json.dumps(plain_diagnosis(found)))["verdict"]
    assert (plain["cause"], plain["finding"]) == (cause.name, cured.name)
    assert plain["gain"]["speedup"] == cured.gain.speedup


@pytest.mark.parametrize(
    "name", ["one reader", "many small files", "fits in memory", "asked again and again", "no steps"]
)
def test_sentence_number_and_lines_are_of_one_cure_and_name_no_finding(name, tmp_path):
    # GIVEN a job that several cures would make faster
    session = sketched(tmp_path, SKETCHES[name])
    measured = measure(session)
    found = diagnosis_of(measured)
    internal = [finding for finding in NAMES if "_" in finding]

    # THEN the only times faster of the sentence are those of the cure below it
    panels = findings_panels(found)
    (headline,) = (panel for panel in panels if isinstance(panel, Headline))
    low, high = found.named.gain.speedup_range
    given = {f"{times:.2f}x" for times in (low, found.named.gain.speedup, high)}
    assert set(TIMES_FASTER.findall(f"{found.verdict.sentence} {headline.sentence}")) <= given
    assert set(TIMES_FASTER.findall(headline.speedup)) <= given
    assert headline.card.line == found.named.cure.line

    # ... and no text that people read names a finding as programs do
    cards = [card for panel in panels if isinstance(panel, Cards) for card in panel.items]
    said = [found.verdict.sentence, findings_text(found), brief_text(measured.summary, found)]
    said += [session_html(session), *(f"{card.title} {card.what} {card.cure}" for card in cards)]
    said += [line for panel in panels if isinstance(panel, Text) for line in panel.lines]
    assert not [(finding, text) for finding in internal for text in said if finding in text]


# As a list of cures has them: "Choose one: this cure, larger reads or copies on a local disk."
CALLED = {
    "unsharded_input": "a shard for each rank",
    "shard_imbalance": "shards of one size",
    "slow_node": "another node",
    "slow_rank": "another place for the slow rank",
    "straggler": "a quicker place for the slow files",
    "stat_storm": "fewer stat() calls",
    "eof_probes": "no reads at the end of files",
    "reopening": "files kept open",
    "random_access": "reads in order",
    "mapped_random": "page faults without read-ahead",
    "too_many_threads": "fewer reads at a time",
    "small_reads": "larger reads",
    "shuffle_buffer": "a smaller shuffle buffer",
    "validation": "a quicker validation set",
    "mapped_wait": "mapped files read ahead",
    "mapped_window": "a larger read-ahead",
    "mapped_cached": "records without a generator",
    "prefetch": "batches prepared ahead",
    "fits_in_memory": "input kept in memory",
    "read_parallelism": "more reads at a time",
    "small_files": "samples in shards",
    "staging": "copies on a local disk",
    "decode_bound": "quicker decoding",
    "fsync": "syncs in the background",
    "small_writes": "larger writes",
    "checkpoint_stall": "saves in the background",
}


def test_every_cure_with_a_gain_has_a_name_among_others():
    # GIVEN what only says that something is not known, or is not to be cured
    without = {"low_coverage", "truncated_trace", "full_storage", "input_bound", "page_cache"}

    # THEN all others have one, and the page that lists them says it
    assert set(NAMES) - without == set(CALLED)
    assert CURE_NAMES == CALLED
    page = (Path(__file__).parents[3] / "docs" / "findings.md").read_text(encoding="utf-8")
    assert all(f"| `{finding}` | {words} |" in page for finding, words in CURE_NAMES.items())


def test_without_steps_it_is_said_too_and_nothing_is_promised(tmp_path):
    # GIVEN
    found = diagnose(sketched(tmp_path, replace(SKETCHES["no steps"], open_ms=3.0, files=160)))

    # THEN
    assert (found.verdict.state, found.cause.name, found.named.name) == (
        "unknown", "small_files", "staging",
    )  # fmt: skip
    assert (
        f"If something did, it is because {found.cause.title}. Another cause has a cure that promises more: "
        f"{found.named.title}. {found.named.cure.what} That could give up to "
    ) in found.verdict.sentence


@pytest.mark.parametrize("name", ["crowded", "a buffer to be filled"])
def test_files_that_are_large_are_copied_as_a_whole_however_little_was_read(name, tmp_path):
    # GIVEN a little read of files of more than 20 GB
    found = diagnose(MAKERS[name](tmp_path))
    (copy,) = (one for one in found.findings if one.name == "staging")

    # THEN what would be copied counts, not what was read
    assert copy.copied_bytes > LARGE_BYTES
    assert found.named is found.cause is not copy
