"""How scenarios are judged, and the table of gains: with made-up outcomes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tfdarshan.errors import ConfigurationError
from tfdarshan.findings.finding import Finding, Fix, Gain
from tfdarshan.workloads.scenarios import before_after
from tfdarshan.workloads.scenarios.before_after import Outcome, judged, other_first, run_quickly
from tfdarshan.workloads.scenarios.fix_line import number_in
from tfdarshan.workloads.scenarios.gains_table import fill_page
from tfdarshan.workloads.scenarios.scenario import Scenario

PROBLEM = ("problem", "small_files")
OTHER = ("problem", "staging")
NOTE = ("note", "input_bound")
DOUBT = ("doubt", "low_coverage")


def nothing(*_arguments: object) -> None:
    """Stand for a job."""


def scenario(
    finding: str, kind: str = "problem", *, name: str = "one reader", fixed: bool = True
) -> Scenario:
    return Scenario(
        name=name, finding=finding, kind=kind, cause="c", prepare=nothing, job=nothing,
        fixed=nothing if fixed else None,
    )  # fmt: skip


def outcome(
    of: Scenario, *found: list[tuple[str, str]], after_s: float = 1.0, steps: tuple[int, int] = (10, 10)
) -> Outcome:
    # From 4 s a unit between 1 and 3 s are saved: 1.33x to 4x.
    gain = Gain("step", 4.0, 1.0, 2.0, 3.0) if of.fixed else None
    after = [after_s] if of.fixed else []
    first = [False] * len(found)
    return Outcome(of, steps, list(found), "verdict", gain, [2.0, 3.0, 2.0], after, [], first)


@pytest.mark.parametrize(
    ("of", "found", "right"),
    [
        (scenario("small_files"), [PROBLEM, OTHER, NOTE], True),
        (scenario("small_files"), [OTHER, PROBLEM], False),
        (scenario("small_files"), [], False),
        (scenario("low_coverage", "doubt", fixed=False), [DOUBT, PROBLEM], True),
        (scenario("low_coverage", "doubt", fixed=False), [PROBLEM, DOUBT], False),
        # Notes come in any order, but nothing may alarm.
        (scenario("input_bound", "note", fixed=False), [("note", "page_cache"), NOTE], True),
        (scenario("input_bound", "note", fixed=False), [PROBLEM, NOTE], False),
        (scenario("input_bound", "note", fixed=False), [("note", "page_cache")], False),
        (scenario("", fixed=False), [NOTE], True),
        (scenario("", fixed=False), [DOUBT], False),
        (scenario("", fixed=False), [PROBLEM], False),
    ],
)
def test_the_right_finding_has_to_come_first_in_every_run(of, found, right):
    assert (judged(outcome(of, found), quick=True) == []) is right
    # One run of several that finds something else is enough.
    good = {"small_files": [PROBLEM], "low_coverage": [DOUBT], "input_bound": [NOTE], "": []}[of.finding]
    assert (judged(outcome(of, good, found, good), quick=True) == []) is right


@pytest.mark.parametrize(
    ("saved_s", "one_of", "right"), [(3.0, ("staging",), True), (1.0, ("staging",), False), (3.0, (), False)]
)
def test_only_a_fix_that_gives_more_may_come_before_the_planted_one(saved_s, one_of, right):
    # GIVEN a scenario in which another finding comes before the planted one, which is named with its gain
    def finding(name: str, seconds: float, **more: Any) -> Finding:
        return Finding(name, "t", "w", gain=Gain("step", 4.0, 0.5, seconds, 3.5), **more)

    found = (finding("staging", saved_s), finding("small_files", 2.0, one_of=one_of))
    of = scenario("small_files")

    # WHEN it is judged
    made = outcome(of, [OTHER, PROBLEM])
    made.other_first[0] = other_first(of, SimpleNamespace(findings=found))

    # THEN that is right only if the other one's fix gives the same seconds, and at least as many
    assert (judged(made, quick=True) == []) is right


@pytest.mark.parametrize(("wrong_runs", "runs", "right"), [(0, 1, True), (2, 3, True), (3, 3, False)])
def test_a_quick_run_that_was_wrong_is_made_again(monkeypatch, tmp_path, wrong_runs, runs, right):
    made: list[Scenario] = []

    def run(of: Scenario, folder: object, **_options: object) -> Outcome:
        found = outcome(of, [PROBLEM if len(made) < wrong_runs else NOTE])
        found.problems.extend(judged(found, quick=True))
        made.append(found)
        return found

    monkeypatch.setattr(before_after, "run_scenario", run)

    assert (run_quickly(scenario("", fixed=False), tmp_path).problems == []) is right
    assert len(made) == runs


@pytest.mark.parametrize(
    ("after_s", "problems"),
    [
        # The median before is 2 s.
        (1.0, []),
        (0.5, []),
        (1.5, []),
        (0.4, ["promised 1.33x to 4.00x, obtained 5.00x"]),
        (1.6, ["promised 1.33x to 4.00x, obtained 1.25x"]),
    ],
)
def test_the_gain_has_to_be_what_was_promised(after_s, problems):
    made = outcome(scenario("small_files"), [PROBLEM], after_s=after_s)

    assert judged(made, quick=False) == problems
    assert judged(made, quick=True) == []


@pytest.mark.parametrize(("after", "right"), [(10, True), (11, True), (9, True), (8, False), (12, False)])
def test_the_fixed_job_has_to_do_the_same_work(after, right):
    made = outcome(scenario("small_files"), [PROBLEM], steps=(10, after))

    assert (judged(made, quick=True) == []) is right


def test_a_page_keeps_the_rows_of_what_was_not_run(tmp_path):
    # GIVEN a page with two rows
    page = tmp_path / "page.md"
    page.write_text("# Head\n<!-- gains:begin -->\n<!-- gains:end -->\ntail\n")
    fill_page(page, [outcome(scenario("small_files", name="no prefetch"), [PROBLEM])])
    fill_page(page, [outcome(scenario("small_files"), [PROBLEM], after_s=0.5)])
    # WHEN one is run again
    fill_page(page, [outcome(scenario("small_files", name="no prefetch"), [OTHER], after_s=0.8)])
    # THEN the other stays, in the scenarios' order
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")][2:]
    assert rows == [
        "| one reader | c | small_files | - | 2.00 s | 0.50 s | 2.00x (1.33x to 4.00x) | 4.00x |",
        "| no prefetch | c | staging | - | 2.00 s | 0.80 s | 2.00x (1.33x to 4.00x) | 2.50x |",
    ]
    assert page.read_text().startswith("# Head\n<!-- gains:begin -->\nMedians of 3 runs each")
    assert page.read_text().endswith("<!-- gains:end -->\ntail\n")


def test_a_page_without_marks_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Head\n")
    with pytest.raises(ConfigurationError, match="has no <!-- gains:begin -->"):
        fill_page(page, [outcome(scenario("small_files"), [PROBLEM])])


def test_numbers_are_read_from_the_line_of_a_fix():
    finding = Finding("read_parallelism", "t", "w", fix=Fix("do", "map(f, num_parallel_calls=8)"))

    assert number_in(finding, "num_parallel_calls") == 8
    with pytest.raises(ValueError, match="says no num_parallel_reads"):
        number_in(finding, "num_parallel_reads")
