"""A cure that promises little is a note, and no problem's cure gives way to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.scenario_sessions import KB, SKETCHES, sketched
from tests.unit.findings.made_up_training import training
from tests.unit.findings.test_best_cure import finding
from tfdarshan.findings import diagnosis
from tfdarshan.findings.diagnosis import diagnose

LARGER, LESS_WORK = "small_files", "random_access"


@pytest.mark.parametrize(
    ("times", "certain", "named"),
    [
        (1.07, True, LARGER),  # less than LEAST_SPEEDUP, though 0.78 of the time that the other one saves
        (1.085, True, LESS_WORK),
        (1.19, False, LARGER),  # less than LEAST_UNCERTAIN
        (1.205, False, LESS_WORK),
    ],
)
def test_a_cure_of_a_note_is_not_named_in_place_of_a_problems(tmp_path, monkeypatch, times, certain, named):
    # GIVEN a conversion, and some lines that give nearly as much, or too little for a problem
    larger = 1.09 if certain else 1.21
    both = [
        replace(one, cost_s=one.gain.saved_s)
        for one in (finding(LARGER, larger, certain=certain), finding(LESS_WORK, times, certain=certain))
    ]
    rules = [(one.name, lambda measures, one=one: one) for one in both]
    monkeypatch.setattr(diagnosis, "FINDINGS", rules)

    # WHEN
    found = diagnose(sketched(tmp_path, SKETCHES["one reader"]))

    # THEN
    assert found.verdict.finding == named


@pytest.mark.parametrize(
    ("times", "if_so", "kind"), [(1.09, 1.09, "note"), (1.09, 1.2, "problem"), (1.07, 1.2, "note")]
)
def test_a_trial_of_what_may_give_nothing_may_give_a_tenth(tmp_path, monkeypatch, times, if_so, kind):
    # GIVEN a job that waits for most of its time, and one cure, of which nothing is certain
    one = finding(LESS_WORK, times, certain=False)
    gain = replace(one.gain, if_so_s=0.1 * (1 - 1 / if_so))
    one = replace(one, cost_s=gain.saved_s, gain=gain)
    monkeypatch.setattr(diagnosis, "FINDINGS", [(one.name, lambda measures: one)])

    # WHEN
    found = diagnose(sketched(tmp_path, SKETCHES["one reader"]))

    # THEN a cure that is certain is a problem's from 1.08x on, and this one is not
    assert [(two.name, two.kind) for two in found] == [(LESS_WORK, kind)]


def reopened(logdir, *, opens, reads=4):
    """Gives ten files that are opened so many times, and read whole so many times, by one thread."""
    at = 0.0
    calls: list[tuple] = []
    steps: list[tuple[float, float, float]] = []
    for turn in range(max(opens, reads)):
        for file in range(10):
            begin = at
            if turn < opens:
                calls.append((at, at + 7, 1, "open", file, 0))
                at += 7
            if turn < reads:
                calls.append((at, at + 2, 1, "pread", file, 100 * KB, 0))
                at += 2
            steps.append((begin, at + 5, at - begin))
            at += 5
    paths = [f"/data/{number}" for number in range(10)]
    return training(logdir, calls, steps, paths=paths, sizes=[100 * KB] * 10)


@pytest.mark.parametrize(("opens", "kind"), [(4, "note"), (5, "problem"), (12, "problem")])
def test_files_that_are_opened_once_for_each_time_that_they_are_read_are_no_problem(tmp_path, opens, kind):
    (one,) = (one for one in diagnose(reopened(tmp_path, opens=opens)).findings if one.name == "reopening")

    assert one.kind == kind
    assert one.title == f"files are opened {opens} times each"


def test_each_file_is_opened_once_for_each_of_its_own_passes(tmp_path):
    # GIVEN large files that are read once beside small ones that are read three times, each opened as often
    at = 0.0
    calls: list[tuple] = []
    steps: list[tuple[float, float, float]] = []
    for turn in range(3):
        for file in range(20):
            large = file >= 10
            if large and turn:
                continue
            length = 10_000 * KB if large else 100 * KB
            calls += [(at, at + 7, 1, "open", file, 0), (at + 7, at + 9, 1, "pread", file, length, 0)]
            steps.append((at, at + 14, 9.0))
            at += 14
    sizes = [100 * KB] * 10 + [10_000 * KB] * 10
    session = training(tmp_path, calls, steps, paths=[f"/data/{n}" for n in range(20)], sizes=sizes)

    # THEN the mean pass of all bytes, 1.02, does not make three opens too many
    (one,) = (one for one in diagnose(session).findings if one.name == "reopening")
    assert one.kind == "note"
