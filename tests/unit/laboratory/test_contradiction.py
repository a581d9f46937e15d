"""Findings, advice and what-if do not contradict each other, and each contradiction would be seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.findings.test_assumptions import MAKERS
from tests.unit.laboratory.test_judgement import said, truth
from tfdarshan.findings.finding import Assumption, Cure, Finding, Gain
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.verdict import Verdict
from tfdarshan.workloads.laboratory.contradiction import (
    RULES,
    Answers,
    asked,
    contradictions,
    contradictions_in,
)
from tfdarshan.workloads.laboratory.judgement import judge
from tfdarshan.workloads.laboratory.laboratory_table import as_text, job_line
from tfdarshan.workloads.laboratory.trial import contradictions_of

SEEN = Assumption("steps wait", "60 ms of 100 ms", "they do not")


@pytest.mark.parametrize("name", MAKERS)
def test_no_session_of_the_tests_is_contradicted(name, tmp_path):
    assert contradictions(MAKERS[name](tmp_path)) == []


def test_they_are_asked_of_what_is_found(tmp_path):
    # GIVEN one reader of slow storage
    answers = asked(measure(sketched(tmp_path, SKETCHES["one reader"])))

    # THEN there is something to compare
    assert {"read_parallelism", "staging"} <= {finding.name for finding in answers.findings}
    assert answers.staged is not None
    assert answers.staged_what_if is not None
    assert sorted(answers.threads) == [1, 8]


def finding(name: str, *, low=1.1, expected=1.5, high=1.8, kind="problem", cure="", seen=True, stall_s=0.0):
    """Gives a finding on steps of 100 ms, by how many times faster its cure makes them."""
    saved = [0.1 * (1 - 1 / times) for times in (low, expected, high)]
    assumed = SEEN if seen else replace(SEEN, support="")
    gain = Gain("step", 0.1, saved[0], saved[1], saved[2], (assumed,))
    return Finding(name, kind, name, name, cost_s=gain.saved_s, stall_s=stall_s, gain=gain, cure=Cure(cure))


MORE = finding("read_parallelism", cure="Read with 8 calls at a time.")
FEWER = finding("too_many_threads", cure="Read with 1 call at a time.")
STAGED = finding("staging")
FULL = replace(finding("full_storage", kind="note"), gain=None)
CACHED = replace(finding("page_cache", kind="note"), gain=None)
ANOTHER_WAY = finding("staging", kind="note")


def answers(*findings: Finding, state: str = "slow", first: Finding | None = None, **more) -> Answers:
    """Gives answers to steps of 100 ms that wait 60, which agree with each other."""
    first = first or next((one for one in findings if one.kind == "problem"), None)
    cause = next((one.name for one in findings if one.kind == "problem"), "")
    verdict = Verdict(
        "-", state, 0.6, first.name if first else "", first.gain if first else None, cause=cause
    )
    given: dict[str, object] = {"staged": (1.1, 1.5, 1.8), "staged_what_if": (1.1, 1.5, 1.8)}
    given |= {"staged_bytes": 1e9, "not_worth": "", "threads": {1: (1.0, 1.4, 1.7), 8: (1.0, 1.4, 1.7)}}
    return Answers(findings=findings, verdict=verdict, unit_s=0.1, wait_s=0.06, own_s=0.0, **(given | more))


KEPT = replace(finding("fits_in_memory"), title="input that fits into memory is read 3.0 times")


@pytest.mark.parametrize("findings", [(MORE, STAGED), (FEWER, STAGED), (STAGED, FULL)])
def test_what_agrees_is_no_contradiction(findings):
    assert contradictions_in(answers(*findings)) == []


@pytest.mark.parametrize("findings", [(CACHED,), (KEPT, CACHED), (MORE,), ()])
def test_what_advise_does_not_stage_need_not_be_found(findings):
    assert contradictions_in(answers(*findings, not_worth="page_cache")) == []


def test_databases_are_copied_by_hand_and_not_by_advise():
    copied = replace(STAGED, cure=Cure("Copy it.", 'sqlite3.connect(shutil.copy("a.db", "DIR"))'))

    assert contradictions_in(answers(copied, staged=None, not_worth="no_files")) == []


@pytest.mark.parametrize(("expected", "agree"), [(1.64, True), (1.66, False)])
def test_a_few_files_may_give_a_little_less_than_all(expected, agree):
    # GIVEN what-if's lower bound for all files above the 1.5x of those that are staged, by a tenth or more
    given = answers(STAGED, staged_what_if=(expected, expected, 1.8))
    assert (contradictions_in(given) == []) == agree


def test_a_copy_that_does_not_pay_is_said_by_both():
    says = replace(STAGED, not_worth="for a single epoch")

    assert contradictions_in(answers(says, not_worth="copy")) == []


def test_another_cure_than_that_of_the_cause_is_no_contradiction():
    assert contradictions_in(answers(MORE, ANOTHER_WAY, first=ANOTHER_WAY)) == []


def test_what_the_verdict_does_not_name_need_not_pay():
    assert contradictions_in(answers(MORE, ANOTHER_WAY, not_worth="copy")) == []


def test_a_disk_that_nobody_measured_may_promise_less():
    assert contradictions_in(answers(finding("staging", seen=False))) == []


CONTRADICTED = {
    "staging, advise": (answers(STAGED, staged=(1.1, 1.9, 2.0)), "by findings and 1.90x"),
    "staging, lower bound": (answers(STAGED, staged=(1.0, 1.5, 1.8)), "by advise"),
    "staging, what-if": (answers(STAGED, staged_what_if=(1.7, 1.75, 2.2)), "by whatif --fast"),
    "staging, no answer": (answers(STAGED, staged_what_if=None), "whatif --fast has no answer"),
    "more readers": (answers(MORE, threads={8: (1.0, 1.1, 1.2)}), "whatif --threads 8 1.10x"),
    "more readers, for certain": (answers(MORE, threads={8: (1.9, 2.0, 2.1)}), "whatif --threads 8"),
    "fewer readers": (answers(FEWER, threads={1: (0.2, 0.9, 1.0)}), "whatif --threads 1 0.90x"),
    "no number": (answers(finding("too_many_threads", cure="Read with fewer.")), "names no number"),
    "more and fewer": (answers(MORE, FEWER), "more and fewer readers"),
    "full storage": (answers(MORE, FULL), "gives the same however many read"),
    "page cache": (answers(STAGED, CACHED), "the page cache served the input, and staging"),
    "page cache, memory": (
        answers(replace(finding("fits_in_memory"), title="input is read from storage 3.0 times"), CACHED),
        "and fits_in_memory says that storage did",
    ),
    "more than the wait": (answers(finding("small_files", expected=4.0, high=5.0)), "more than the wait"),
    "verdict": (answers(MORE, first=finding("read_parallelism", expected=1.6)), "the verdict's read_para"),
    "verdict of nothing": (answers(MORE, first=STAGED), "the verdict's staging"),
    "not named": (answers(MORE), "findings do not name it"),
    "a copy that does not pay": (answers(STAGED, not_worth="copy"), "not worth it (copy)"),
    "not worth it": (answers(STAGED, not_worth="little"), "not worth it (little)"),
    "a copy that is another way, and does not pay": (
        answers(MORE, ANOTHER_WAY, first=ANOTHER_WAY, not_worth="copy"), "not worth it (copy)",
    ),
    "another way, from memory": (answers(MORE, ANOTHER_WAY, CACHED, first=ANOTHER_WAY), "staging is advised"),
    "the cause is no problem": (
        replace(answers(MORE), verdict=Verdict("-", "slow", 0.6, MORE.name, MORE.gain, cause="staging")),
        "staging costs most, and that is no problem",
    ),
    "no cause": (
        replace(answers(MORE), verdict=Verdict("-", "slow", 0.6, MORE.name, MORE.gain)), "nothing costs most",
    ),
    "another cure that is none": (
        answers(MORE, replace(STAGED, cure=None), first=replace(STAGED, cure=None)), "and staging has none",
    ),
    "healthy": (answers(state="healthy"), "healthy, and advise gives 1.50x"),
    "healthy, a problem": (
        replace(answers(MORE), verdict=Verdict("-", "healthy", 0.01, "", None)), "there is a problem",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTED)
def test_each_contradiction_is_seen(name):
    # GIVEN answers of which one is another than it was
    given, words = CONTRADICTED[name]

    # THEN it is said
    assert any(words in sentence for sentence in contradictions_in(given))


def test_each_rule_has_its_contradiction():
    for rule in RULES:
        assert any(list(rule(given)) for given, _ in CONTRADICTED.values()), rule.__name__


def test_a_stall_may_give_more_than_the_wait():
    # GIVEN a checkpoint of 30 ms a step, and a wait of 60
    stalled = finding("checkpoint_stall", expected=1 / 0.2, high=10.0, stall_s=0.03)

    assert contradictions_in(answers(stalled, STAGED)) == []


def test_the_laboratory_tells_and_counts_them(tmp_path: Path, monkeypatch):
    # GIVEN a job of two runs, one of which is contradicted, and one that failed
    for place, name in enumerate(("one reader", "healthy, an SSD")):
        sketched(tmp_path / f"{place:03}" / "logs", SKETCHES[name])
    (tmp_path / "002" / "logs").mkdir(parents=True)
    given = iter([["storage is full and is not"], []])
    monkeypatch.setattr("tfdarshan.workloads.laboratory.trial.contradictions", lambda _session: next(given))
    heard: list[str] = []

    # WHEN
    found = contradictions_of(tmp_path, heard.append)
    first = said("read_parallelism")
    good, bad = (
        judge(7, "a job", first, truth(parallel=4.0), real=False, contradictions=tuple(one))
        for one in ((), found)
    )

    # THEN
    assert found == ["run 000: storage is full and is not"]
    assert heard == ["  contradiction in run 000: storage is full and is not"]
    assert "1 contradiction" in job_line(bad)
    assert "contradiction" not in job_line(good)
    assert "contradict each other: 1 of 2" in as_text([good, bad])
