"""How the laboratory judges, with made-up runs: seconds by hand, nothing is run."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from tests.unit.laboratory.made_up_outcomes import LOGS, PROGRAM, outcomes, runs, said, truth
from tfdarshan.errors import ConfigurationError
from tfdarshan.workloads.laboratory.fix_pair import FixPair
from tfdarshan.workloads.laboratory.judgement import judge, judge_first, judge_promise
from tfdarshan.workloads.laboratory.known_fix import KnownFix
from tfdarshan.workloads.laboratory.laboratory_table import as_text, fill_beside, fill_page, job_line
from tfdarshan.workloads.laboratory.laboratory_totals import (
    ERROR,
    Total,
    mean_width,
    median_error,
    missed,
    totals,
    wilson,
)
from tfdarshan.workloads.laboratory.program_fixes import known_fixes
from tfdarshan.workloads.laboratory.run_times import Times
from tfdarshan.workloads.laboratory.said import Promised, read_said
from tfdarshan.workloads.laboratory.timed_run import TimedRun
from tfdarshan.workloads.laboratory.truth import TooShortError, Tried, Truth, find_truth

# A job whose steps cannot be told from its input: no fix is left out beforehand.
SERIAL = dataclasses.replace(PROGRAM, computes="numpy")


@pytest.mark.parametrize(
    ("first", "of", "judged"),
    [
        ("read_parallelism", truth(parallel=2.0, staging=2.1), "right"),
        # 85 % of the best is as good.
        ("read_parallelism", truth(parallel=2.3, staging=2.0), "right"),
        ("staging", truth(parallel=5.0, staging=2.0), "right"),
        # Less effort may come first where it saves at least half of what can be saved.
        ("read_parallelism", truth(parallel=4.0, staging=2.0), "right"),
        ("read_parallelism", truth(parallel=8.0, staging=2.0), "partly"),
        # The same effort gives much more.
        ("prefetch", truth(parallel=2.0, prefetch=8.0), "partly"),
        ("prefetch", truth(parallel=2.0, prefetch=9.9), "wrong"),
        # It costs more and gives less.
        ("staging", truth(parallel=2.0, staging=4.0), "partly"),
        # There is no such fix for this job, or none is named.
        ("straggler", truth(parallel=2.0), "wrong"),
        ("", truth(parallel=2.0), "missed"),
        # Nothing can be fixed.
        ("", truth(parallel=9.8), "quiet"),
        ("read_parallelism", truth(parallel=9.8), "alarm"),
    ],
)
def test_the_first_finding(first, of, judged):
    assert judge_first(said(first), of) == judged


def test_a_fix_that_cannot_run_gives_nothing():
    of = truth(parallel=2.0)
    of.tried[0].runs = runs(0.1, failure="ValueError")
    assert of.best is None
    assert of.best_gain == 1.0


@pytest.mark.parametrize(
    ("obtained", "judged"),
    [(1.49, "below"), (1.5, "inside"), (3.0, "inside"), (3.01, "above"), (None, "unmeasured")],
)
def test_the_promise(obtained, judged):
    exactly = None if obtained is None else Times(obtained, obtained, obtained)
    assert judge_promise(said("staging"), exactly) == judged
    assert judge_promise(said(""), obtained) == "none"


@pytest.mark.parametrize(("obtained", "judged"), [(0.97, "inside"), (0.94, "below"), (1.2, "above")])
def test_a_lower_bound_of_one_promises_nothing(obtained, judged):
    exactly = Times(obtained, obtained, obtained)
    assert judge_promise(said("staging", promise=(1.0, 1.05, 1.1)), exactly) == judged


@pytest.mark.parametrize(
    ("expected", "obtained", "judged"),
    [(1.9, 1.04, "missed"), (1.9, 1.05, "inside"), (1.19, 1.04, "inside"), (1.9, 0.94, "below")],
)
def test_a_gain_far_above_one_that_does_not_come_is_missed(expected, obtained, judged):
    exactly = Times(obtained, obtained, obtained)
    assert judge_promise(said("staging", promise=(1.0, expected, 2.5)), exactly) == judged


def test_a_promise_is_broken_beyond_what_runs_differ_by():
    # GIVEN a promise of 1.5x to 3x, and runs that differ by a tenth
    def judged(middle: float) -> str:
        return judge_promise(said("staging"), Times(middle, 0.9 * middle, 1.1 * middle))

    # THEN
    assert [judged(times) for times in (1.35, 1.4, 3.3, 3.4)] == ["below", "inside", "inside", "above"]


def test_a_best_fix_within_what_runs_differ_by_is_not_judged():
    # GIVEN a job of 9 to 11 s, and a fix with which it takes 9.4 s, or 5
    unclear, clear = (truth((9.0, 10.0, 11.0), parallel=one) for one in (9.4, 5.0))

    # THEN
    assert (unclear.unclear, clear.unclear) == (True, False)
    for first in ("read_parallelism", "prefetch", ""):
        assert judge_first(said(first), unclear) == "unclear"
    assert judge_first(said("read_parallelism"), clear) == "right"
    one = judge(1, "w", said("prefetch"), unclear, real=True)
    assert "not judged: 1 of 1" in as_text([one])
    assert "right first finding: none to count" in as_text([one])
    assert "nothing is to be fixed: none to count" in as_text([one])


def test_staging_counts_for_later_epochs_where_memory_has_them():
    # GIVEN 10 s, of which later epochs take 1 each, and a copy with which all take 1
    before, staged = TimedRun(10.0, LOGS, 1.0), TimedRun(3.0, LOGS, 1.0)
    tried = Tried(KnownFix("staging", 2, PROGRAM), [staged])

    # THEN it gives nothing where the page cache keeps the data, and all of it where it does not
    assert Truth(PROGRAM, [before], [tried], keeps_pages=True).gain(tried) == 1.0
    assert Truth(PROGRAM, [before], [tried], keeps_pages=False).gain(tried) == pytest.approx(10 / 3)
    # ... nor where the job keeps what it read itself
    cached = dataclasses.replace(PROGRAM, cache="right")
    assert Truth(cached, [before], [tried], keeps_pages=False).gain(tried) == 1.0
    # ... nor is it a fix where later epochs differ and the run does not
    by_chance = Tried(tried.fix, [TimedRun(9.9, LOGS, 0.7)])
    assert Truth(PROGRAM, [before], [by_chance], keeps_pages=True).best is None
    # and other fixes count for the whole run
    moved = Tried(KnownFix("parallel", 1, PROGRAM), [staged])
    assert Truth(PROGRAM, [before], [moved], keeps_pages=True).gain(moved) == pytest.approx(10 / 3)


def test_what_the_fix_gave_as_printed_counts_before_what_it_gives_by_hand():
    of = truth(parallel=2.0)
    by_hand = judge(1, "w", said("read_parallelism"), of, real=True)
    assert (by_hand.obtained, by_hand.promise, by_hand.near_best) == (5.0, "above", True)
    typed = judge(
        1,
        "w",
        said("read_parallelism"),
        of,
        real=True,
        typed="as printed",
        printed_runs=runs(9.8, 10.0, 9.9),
        again=True,
    )
    assert typed.obtained == pytest.approx(10 / 9.9)
    assert (typed.promise, typed.near_best, typed.first) == ("below", False, "right")


def test_a_promise_is_of_the_run_as_recorded_and_the_best_fix_of_a_longer_one():
    # GIVEN 10 s, of which later epochs take 1 each from the page cache, and a copy with which all take 1
    before, staged = TimedRun(10.0, LOGS, 1.0), TimedRun(5.0, LOGS, 1.0)
    of = Truth(PROGRAM, [before], [Tried(KnownFix("staging", 2, PROGRAM), [staged])], keeps_pages=True)

    # THEN what was promised came, and it is the best fix of nothing
    one = judge(1, "w", said("staging"), of, real=True)
    assert (one.obtained, one.promise, one.lasting, one.best) == (2.0, "inside", 1.0, "")
    # ... whichever finding says to copy
    assert judge(1, "w", said("full_storage"), of, real=True).lasting == 1.0


def test_a_finding_without_a_fix_is_not_measured_and_a_new_name_is_reported():
    one = judge(1, "w", said("straggler"), truth(parallel=2.0), real=True)
    assert (one.obtained, one.promise, one.unknown_name) == (None, "unmeasured", False)
    assert judge(1, "w", said("brand_new"), truth(parallel=2.0), real=True).unknown_name


def test_a_fix_is_offered_again_if_it_is_named_or_among_the_problems():
    # GIVEN a fix that was applied
    applied = dataclasses.replace(said("staging"), line="stage")

    # THEN it is offered again as the verdict's, though others cost more, or as that of a problem
    another_way = dataclasses.replace(applied, problems=("prefetch",), cures=("ahead",))
    a_problem = dataclasses.replace(said("prefetch"), problems=("staging",), cures=("stage",))
    assert another_way.offers(applied)
    assert a_problem.offers(applied)
    # ... and not if its lines are others, or nothing was applied
    assert not dataclasses.replace(another_way, line="stage more").offers(applied)
    # ... but other numbers are no other fix
    eight = dataclasses.replace(said("read_parallelism"), line="ds.map(load2, num_parallel_calls=8)")
    sixteen = dataclasses.replace(eight, line="ds.map(load2, num_parallel_calls=16)")
    assert sixteen.offers(eight)
    assert not dataclasses.replace(eight, line="ds.map(load3, num_parallel_calls=8)").offers(eight)
    assert not said("").offers(said(""))


def test_only_what_is_close_to_the_best_or_asked_for_runs_again():
    made: list[object] = []

    class Counted:
        def run(self, program, **_how):
            made.append(program)
            # The job itself, then its fixes in order: the third is good, the others give nothing, no two
            # agree.
            return TimedRun({3: 1.0}.get(len(made) - 1, 10.0) + len(made), LOGS)

    of = find_truth(Counted(), SERIAL, 3, keeps_pages=False, wanted=lambda run: ("staging",))

    counted = {tried.fix.name: len(tried.runs) for tried in of.tried}
    assert len(of.before) == 3
    assert counted.pop("staging") == 3
    assert counted.pop(of.tried[2].fix.name, 3) == 3
    assert set(counted.values()) == {1}


def test_a_job_that_is_unclear_counts_neither_as_slow_nor_as_healthy():
    # GIVEN a fix that may give nothing, and a tenth as well, by runs that differ by a tenth
    unclear = truth((9.0, 10.0, 11.0), parallel=9.7)
    assert unclear.best is None
    assert judge_first(said(""), unclear) == judge_first(said("prefetch"), unclear) == "unclear"
    # ... and where compute leaves no room for a twentieth, nothing is to be fixed whatever runs differ by
    sleeping = dataclasses.replace(SERIAL, computes="sleep", count=160, batch=16, epochs=1, step_s=0.99)
    of = dataclasses.replace(unclear, program=sleeping)
    assert judge_first(said(""), of) == "quiet"


def test_a_job_whose_best_fix_gives_little_is_neither_slow_nor_healthy():
    # GIVEN fixes that give 7 %, and such as give 11
    little, more = truth(parallel=9.35), truth(parallel=9.0)

    # THEN
    for first in ("read_parallelism", ""):
        assert judge_first(said(first), little) == "marginal"
    assert judge_first(said(""), more) == "missed"
    # ... and a promise is held against it all the same
    one = judge(1, "w", said("read_parallelism"), little, real=True)
    assert (one.first, one.promise) == ("marginal", "below")
    assert "best fix gives 5 to 10 %, where to name it and to be silent are both right: 1 of 1" in as_text(
        [one]
    )
    assert "right first finding: none to count (1 marginal left out)" in as_text([one])


def test_a_promise_of_step_time_is_held_against_the_steps():
    # GIVEN 3 s of imports and 7 s of steps, of which a fix leaves half
    before = TimedRun(10.0, LOGS, imports_s=3.0)
    after = TimedRun(6.5, LOGS, imports_s=3.0)
    of = Truth(PROGRAM, [before], [Tried(KnownFix("parallel", 1, PROGRAM), [after])])

    # THEN
    of_steps = judge(1, "w", said("read_parallelism"), of, real=True)
    of_all = judge(1, "w", dataclasses.replace(said("read_parallelism"), unit="session"), of, real=True)
    assert of_steps.obtained == of_steps.best_gain == pytest.approx(2.0)
    assert of_all.obtained == pytest.approx(10 / 6.5)


def test_what_is_close_to_the_best_is_told_with_what_runs_differ_by():
    # GIVEN a fix that gives 74 % of the best, with runs that hardly differ, and with such as do
    sure = truth(parallel=2.0, staging=2.7)
    unsure = truth((8.0, 10.0, 12.0), parallel=2.0, staging=2.7)

    # THEN
    judged = [judge(1, "w", said("staging"), of, real=True) for of in (sure, unsure)]
    assert [one.near_best for one in judged] == [False, True]
    assert [one.near_best_by_medians for one in judged] == [False, False]


def test_a_job_that_is_over_at_once_is_not_fixed():
    with pytest.raises(TooShortError, match=r"trains for 0\.30 s"):
        find_truth(Timed(lambda program: 0.3), SERIAL, 3, keeps_pages=False, least_s=2.0)


def test_a_short_job_that_is_unclear_runs_more_often():
    # GIVEN a job of which each run takes another time, and fixes that may give nothing
    def made(seconds):
        taken = iter([1.0, 1.2, 0.8, 1.1, 0.9])
        return Timed(lambda program: seconds * (next(taken) if program == SERIAL else 0.95))

    # THEN a short one runs five times, a long one three times
    assert len(find_truth(made(3.0), SERIAL, 3, keeps_pages=False).before) == 5
    assert len(find_truth(made(30.0), SERIAL, 3, keeps_pages=False).before) == 3


def test_a_job_that_does_not_run_is_not_fixed():
    class Broken:
        def run(self, program, **_how):
            return TimedRun(1.0, LOGS, failure="ImportError: x")

    of = find_truth(Broken(), PROGRAM, 3, keeps_pages=False)
    assert not any(tried.runs for tried in of.tried)


class Timed:
    """Runs nothing: each program takes what its text says, and says which runs there were."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.programs = []
        self.limits_s = []

    def run(self, program, *, asked=False, limit_s=120.0):
        self.programs.append(program)
        self.limits_s.append(limit_s)
        return TimedRun(self.seconds(program), LOGS)


def test_runs_that_agree_are_not_repeated_a_third_time():
    runner = Timed(lambda program: 1.0 if program.staged else 10.0)
    of = find_truth(runner, SERIAL, 3, keeps_pages=False)
    assert len(of.before) == 2
    assert {len(tried.runs) for tried in of.tried if tried.fix.name == "staging"} == {2}


def test_a_job_that_computes_nearly_all_of_its_time_is_fixed_only_by_what_is_named():
    # GIVEN steps that sleep for all but 4 % of the time
    program = dataclasses.replace(SERIAL, computes="sleep", count=160, batch=16, epochs=2, step_s=0.1)
    runner = Timed(lambda program: 2.08)

    # WHEN
    of = find_truth(runner, program, 3, keeps_pages=False, wanted=lambda run: ("staging",))

    # THEN the other fixes did not run, and nothing is to be fixed
    assert [tried.fix.name for tried in of.tried] == ["staging"]
    assert of.best is None
    # ... and with 6 % all of them ran
    of = find_truth(Timed(lambda program: 2.13), program, 3, keeps_pages=False)
    assert len(of.tried) == len(known_fixes(program)) > 1


def test_a_fix_that_makes_the_job_longer_is_stopped_unless_it_is_named():
    runner = Timed(lambda program: 10.0)
    find_truth(runner, SERIAL, 1, keeps_pages=False, wanted=lambda run: ("staging",))
    limits = {
        program.staged: limit_s for program, limit_s in zip(runner.programs, runner.limits_s, strict=True)
    }
    assert limits == {False: 13.0, True: 120.0}


@pytest.mark.parametrize(("hits", "count"), [(0, 20), (20, 20), (16, 35), (17, 31), (1, 2)])
def test_the_interval_of_a_share(hits, count):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(hits, count).proportion_ci(0.95, method="wilson")
    assert wilson(hits, count) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_of_nothing_any_share_is_possible():
    assert wilson(0, 0) == (0.0, 1.0)


def test_totals_count_what_they_say():
    counted = {total.words: (total.hits, total.of) for total in totals(outcomes())}
    assert counted == {
        "right first finding": (1, 2),
        "right first finding, real devices": (1, 1),
        "partly right first finding": (0, 2),
        "promise inside its range": (1, 3),
        "promise below its lower bound": (2, 3),
        "promise of 1.2x or more, and not even 1.05x": (0, 3),
        "firm promise (lower bound above 1.01x) inside its range": (1, 3),
        "open promise (lower bound 1.00x) inside its range": (0, 0),
        "headline within 15 % of the best fix": (1, 2),
        "false alarm where nothing is to be fixed": (1, 2),
        "note with a promise where nothing is to be fixed": (0, 2),
        "fix applied as printed": (1, 1),
        "the same by the medians alone, whatever runs differ by": (1, 2),
        "jobs whose runs leave open whether anything is to be fixed, not judged": (0, 4),
        "jobs whose best fix gives 5 to 10 %, where to name it and to be silent are both right": (0, 4),
        "fix offered again after it was applied": (0, 1),
    }
    assert mean_width(outcomes()) == 2.0
    assert "right first finding: 1 of 2, 50% (9% to 91%; wanted >= 85 %)" in as_text(outcomes())
    assert as_text([]).count("none to count") == len(counted)


def test_firm_and_open_promises_are_counted_apart():
    open_one = judge(5, "w", said("staging", promise=(1.0, 1.9, 2.5)), truth(staging=9.6), real=True)
    counted = {total.words: (total.hits, total.of) for total in totals([*outcomes(), open_one])}
    assert counted["promise of 1.2x or more, and not even 1.05x"] == (1, 4)
    assert counted["firm promise (lower bound above 1.01x) inside its range"] == (1, 3)
    assert counted["open promise (lower bound 1.00x) inside its range"] == (0, 1)


def test_a_note_with_a_promise_is_counted_where_nothing_is_to_be_fixed():
    quiet = judge(6, "w", dataclasses.replace(said(""), notes=("staging",)), truth(staging=9.9), real=True)
    assert quiet.first == "quiet"
    assert "note with a promise where nothing is to be fixed: 1 of 1" in as_text([quiet])
    # of an alarm, the alarm is counted
    alarm = dataclasses.replace(quiet, first="alarm")
    assert "note with a promise where nothing is to be fixed: 0 of 1" in as_text([alarm])


def test_what_is_not_counted_is_said():
    unclear = judge(1, "w", said("prefetch"), truth((9.0, 10.0, 11.0), parallel=9.4), real=True)
    unmeasured = judge(2, "w", said("straggler"), truth(parallel=2.0), real=True)
    text = as_text([unclear, unmeasured])
    assert "right first finding: 0 of 1, 0% (0% to 79%; wanted >= 85 %) (1 unclear left out)" in text
    assert "promise inside its range: none to count (2 unmeasured left out)" in text


def test_missed_bounds_are_named_and_those_of_nothing_are_not():
    assert missed([]) == []
    assert missed(outcomes()[:1]) == []
    assert missed(outcomes()) == [
        "right first finding",
        "headline within 15 % of the best fix",
        "promise inside its range",
        "promise below its lower bound",
        "false alarm where nothing is to be fixed",
    ]
    # a kept promise from 1x to 6x is wider than those of the first draw
    wide = judge(1, "w", said("staging", promise=(1.0, 2.0, 6.0)), truth(staging=5.0), real=True)
    assert missed([wide]) == ["mean width of kept promises, upper over lower bound"]
    assert "bounds missed: mean width" in as_text([wide])


def test_the_model_s_error_counts_each_fix_that_was_run_once_whatever_the_job():
    # GIVEN a job with two fixes and one with a third: 10 %, 20 % and no promise for 4x
    two, one = outcomes()[:2]
    obtained = (2.0, 2.0, 2.0)
    pairs = (
        FixPair("staging", obtained, (1.0, 2.2, 3.0), None),
        FixPair("prefetch", obtained, (1.0, 2.4, 3.0), None),
        FixPair("parallel", (4.0, 4.0, 4.0), None, None),
    )
    judged = [dataclasses.replace(two, pairs=pairs[:2]), dataclasses.replace(one, pairs=pairs[2:])]

    # THEN it is the middle one
    assert median_error(judged) == pytest.approx(math.log(1.2))
    assert ERROR in missed(judged)
    assert f"{ERROR}: 0.182; wanted <= 0.1" in as_text(judged)
    assert ERROR not in missed([dataclasses.replace(two, pairs=pairs[:1])])
    assert median_error(outcomes()) is None


@pytest.mark.parametrize(
    ("hits", "of", "bounds", "is_missed"),
    [
        (17, 20, {"least": 0.85}, False),
        (16, 20, {"least": 0.85}, True),
        (0, 0, {"least": 0.85}, False),
        (1, 34, {"most": 0.03}, False),
        (1, 33, {"most": 0.03}, True),
        (0, 9, {"most": 0.0}, False),
        (1, 9, {"most": 0.0}, True),
        (9, 9, {}, False),
    ],
)
def test_a_bound_is_missed_beyond_it(hits, of, bounds, is_missed):
    assert Total("w", hits, of, **bounds).missed is is_missed


def test_a_page_is_filled_with_the_misses(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- laboratory:begin -->\nold\n<!-- laboratory:end -->\nafter\n")

    fill_page(page, outcomes(), "on a day by a commit")

    text = page.read_text()
    assert text.startswith(
        "before\n<!-- laboratory:begin -->\n4 jobs of seeds 1 to 4, drawn on a day by a commit.\n"
    )
    assert text.endswith("<!-- laboratory:end -->\nafter\n")
    assert "old" not in text
    rows = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ")]
    assert rows == ["| seed", "| ---", "| 2", "| 3"]
    assert "\nThe other 2 jobs were judged rightly, or allow both answers.\n" in text

    # AND jobs of another framework have a place of their own
    page.write_text("<!-- laboratory:begin -->\nold\n<!-- laboratory:end -->\n"
                    "<!-- laboratory-torch:begin -->\nold\n<!-- laboratory-torch:end -->\n")  # fmt: skip
    fill_page(page, outcomes(), "on a day by a commit", "torch")
    first, _, second = page.read_text().partition("<!-- laboratory-torch:begin -->")
    assert "old" in first
    assert "drawn on a day" in second

    page.write_text("")
    with pytest.raises(ConfigurationError, match="laboratory:begin"):
        fill_page(page, outcomes(), "-")


def test_a_jobs_line_says_all_of_it():
    assert job_line(outcomes()[0]) == (
        "seed 1: a job | best staging 2.00x | says staging 2.00x (1.50x to 3.00x) | "
        "obtained 2.00x (1.90x to 2.11x) | finding right, promise inside; as printed"
    )
    assert "nothing to fix (1.02x)" in job_line(outcomes()[2])


def test_what_precedes_the_first_step_is_in_no_promise_of_step_time():
    # GIVEN 4 s in which a pipeline is made and 6 s of steps, and a fix that leaves 3 s of the steps
    before = [dataclasses.replace(run, stepped_s=6.0) for run in runs(10.0, 10.0)]
    after = [dataclasses.replace(run, stepped_s=3.0) for run in runs(7.0, 7.0)]
    of = Truth(PROGRAM, before, [Tried(KnownFix("parallel", 1, PROGRAM), after)])

    # WHEN it was promised
    judged = judge(1, "w", said("read_parallelism", promise=(1.8, 2.0, 2.2)), of, real=True)

    # THEN the promise is of the steps, and how good the fix is is of all of it
    assert judged.obtained == pytest.approx(2.0)
    assert judged.promise == "inside"
    assert judged.best_gain == pytest.approx(10 / 7)


def test_what_another_version_said_is_set_beside_today_s(tmp_path):
    # GIVEN jobs of which the other version names nothing, and what it said in a file
    promised = (Promised("staging", (1.5, 2.0, 3.0), "step"),)
    told = dataclasses.replace(said("staging"), promised=promised)
    (tmp_path / "said.json").write_text(json.dumps({"7": dataclasses.asdict(told)}))
    assert read_said(tmp_path / "said.json") == {7: told}
    silent = [dataclasses.replace(one, said=said(""), first="missed", promise="none") for one in outcomes()]
    page = tmp_path / "page.md"
    page.write_text("<!-- laboratory-beside:begin -->\nold<!-- laboratory-beside:end -->\n")

    # WHEN
    fill_beside(page, outcomes(), silent, "rules")

    # THEN
    lines = page.read_text().splitlines()
    assert lines[1] == "|  | this version | rules |"
    assert "| right first finding | 1 of 2 | 0 of 2 |" in lines
    assert lines[-1] == "<!-- laboratory-beside:end -->"
