"""Which of several cures comes first: each rule, on both sides of its limit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfdarshan.findings.best_cure import best_cure, promise, why_better, work
from tfdarshan.findings.finding import Assumption, Cure, Finding, Gain

GB = 1e9
LINES, SOME_FILES, COPY, CONVERSION = "prefetch", "straggler", "staging", "small_files"


def finding(name: str, expected: float, *, certain: bool = True, copied: float = 0.0) -> Finding:
    """Gives a finding whose cure makes a step of 100 ms so many times faster."""
    saved_s = 0.1 * (1 - 1 / expected)
    seen = Assumption("steps wait", "60 ms of 100 ms" if certain else "", "they do not")
    gain = Gain("step", 0.1, saved_s / 2, saved_s, saved_s, (seen,))
    return Finding(name, "problem", name, name, cure=Cure(f"{name}."), gain=gain, copied_bytes=copied)


def named(*findings: Finding) -> str:
    chosen = best_cure(findings)
    return "" if chosen is None else chosen.name


@pytest.mark.parametrize(
    ("least_work", "most", "chosen"),
    [
        (1.80, 2.0, LINES),  # 0.9 times as fast, 0.89 of the time
        (1.71, 2.0, LINES),  # 0.855, 0.83
        (1.69, 2.0, COPY),  # 0.845: less than AS_GOOD
        (1.15, 1.25, LINES),  # 0.92, 0.65 of the time
        (1.13, 1.25, COPY),  # 0.904, 0.575 of the time: less than MOST_SAVED
        (8.60, 10.0, LINES),  # of much, what is left of the time counts
        (8.40, 10.0, COPY),
    ],
)
def test_less_work_comes_first_if_it_promises_nearly_as_much(least_work, most, chosen):
    findings = finding(LINES, least_work), finding(COPY, most)

    assert named(*findings) == named(*reversed(findings)) == chosen


def test_of_as_much_work_what_promises_most_comes_first():
    assert named(finding(LINES, 1.9), finding("read_parallelism", 2.0)) == "read_parallelism"
    assert named(finding("read_parallelism", 1.9), finding(LINES, 2.0)) == LINES


def test_of_as_much_work_that_promises_as_much_the_more_certain_one_comes_first():
    # GIVEN gains that are printed alike, of which one begins higher: at 1.65x, and the others at 1.34x
    sure, unsure = finding("fsync", 1.81), finding("random_access", 1.811)
    sure = replace(sure, gain=replace(sure.gain, low_s=0.88 * sure.gain.saved_s))

    assert named(sure, unsure) == named(unsure, sure) == "fsync"
    # ... what is certain counts as much as what is expected: 2.10x from 1.35x on is less, 2.12x from 1.42x on
    assert named(sure, finding("random_access", 2.10)) == "fsync"
    more = finding("random_access", 2.12)
    assert named(sure, replace(more, gain=replace(more.gain, low_s=0.56 * more.gain.saved_s))) == more.name
    # ... and that it is more certain is why it is named
    assert why_better(sure, finding("random_access", 1.82)) == "is more certain"


def test_lines_are_less_work_than_copies_and_these_less_than_a_conversion():
    # GIVEN cures that promise the same, the most work first
    order = [CONVERSION, COPY, SOME_FILES, LINES]
    for place in range(len(order)):
        assert named(*(finding(name, 2.0) for name in order[: place + 1])) == order[place]
    # ... and to leave out a node or a rank is as much work as to move some files
    assert {work(finding(name, 2.0)) for name in ("slow_rank", "slow_node", SOME_FILES)} == {1}


def test_what_is_uncertain_counts_as_its_square_root():
    assert promise(finding(LINES, 4.0, certain=False)) == pytest.approx(2.0)
    assert promise(finding(LINES, 4.0)) == pytest.approx(4.0)
    # THEN 4x that nothing shows stands behind 2.4x that is certain, and before 1.6x
    assert named(finding(LINES, 4.0, certain=False), finding(COPY, 2.4)) == COPY
    assert named(finding(LINES, 4.0, certain=False), finding(COPY, 1.6)) == LINES
    # ... and more work has to be as much better
    assert named(finding(COPY, 4.0, certain=False), finding(LINES, 1.8)) == LINES


def test_what_is_uncertain_is_doubted_once():
    # GIVEN a cure that makes a step of 100 ms 4 times as fast or does nothing, of which half is expected
    half = finding(LINES, 4.0, certain=False)
    half = replace(half, gain=replace(half.gain, saved_s=0.5 * half.gain.saved_s))
    assert (half.gain.speedup, half.gain.speedup_if_so) == (pytest.approx(1.6), pytest.approx(4.0))

    # THEN it counts as if nobody had halved it
    assert promise(half) == promise(finding(LINES, 4.0, certain=False)) == pytest.approx(2.0)
    assert named(half, finding(COPY, 1.6)) == LINES


@pytest.mark.parametrize(("least_work", "chosen"), [(1.71, LINES), (1.69, COPY), (1.50, COPY)])
def test_of_two_that_nothing_shows_neither_is_doubted_more(least_work, chosen):
    # GIVEN lines and a copy of which nothing is certain, whose square roots are 0.85 of each other or more
    lines, copy = finding(LINES, least_work, certain=False), finding(COPY, 2.0, certain=False)
    assert promise(lines) > 0.85 * promise(copy)

    # THEN less work has to give as much of the better one as of two that are certain
    assert named(lines, copy) == named(copy, lines) == chosen
    assert named(finding(LINES, least_work), finding(COPY, 2.0)) == chosen
    # ... by what it gives if all is so, whatever its expectation was made less by
    halved = replace(lines, gain=replace(lines.gain, saved_s=0.5 * lines.gain.saved_s))
    assert named(halved, copy) == chosen
    # ... and one that is certain is held against what is doubted
    assert named(finding(LINES, 1.3), copy) == LINES


def test_much_to_copy_has_to_make_it_twice_as_fast():
    # GIVEN lines that make it 2 times as fast, and a copy that makes it 3 times
    lines = finding(LINES, 2.0)

    # THEN it depends on how much that is; a conversion is a copy, too
    assert named(lines, finding(COPY, 3.0, copied=20 * GB)) == COPY
    assert named(lines, finding(COPY, 3.0, copied=20.1 * GB)) == LINES
    assert named(lines, finding(COPY, 5.0, copied=20.1 * GB)) == COPY
    assert named(lines, finding(CONVERSION, 3.0, copied=20.1 * GB)) == LINES
    # ... and no gain is worth less than none
    assert promise(finding(COPY, 1.5, copied=1000 * GB)) == 1.0


def test_no_cure_is_named_without_a_gain():
    without = replace(finding(LINES, 9.0), gain=None)
    not_cured = replace(finding(COPY, 9.0), cure=None)

    assert named() == named(without, not_cured) == ""
    assert named(without, not_cured, finding("read_parallelism", 1.1)) == "read_parallelism"


def test_it_is_said_why_another_cure_is_named():
    assert why_better(finding(COPY, 3.0), finding(LINES, 2.0)) == "promises more"
    assert why_better(finding(LINES, 1.9), finding(COPY, 2.0)) == "is less work"
    assert why_better(finding(COPY, 1.9), finding(LINES, 2.0, certain=False)) == "is more certain"
    assert why_better(finding(COPY, 1.9), replace(finding(LINES, 2.0), cure=None)) == "promises more"
