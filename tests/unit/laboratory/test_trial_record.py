"""A job's runs are kept and read again as they were, so that newer code can judge them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.unit.laboratory.made_up_outcomes import PROGRAM, said
from tfdarshan.errors import ConfigurationError
from tfdarshan.staging.plan_file import Plan, PlannedFile, write_plan
from tfdarshan.workloads.laboratory import trial as trial_module
from tfdarshan.workloads.laboratory.known_fix import KnownFix
from tfdarshan.workloads.laboratory.timed_run import TimedRun
from tfdarshan.workloads.laboratory.trial import judged
from tfdarshan.workloads.laboratory.trial_record import RECORD, Printed, Trial, load_trial, save_trial
from tfdarshan.workloads.laboratory.truth import Tried, Truth


def trial(folder: Path) -> Trial:
    def run(number: int, seconds: float, **more: object) -> TimedRun:
        return TimedRun(seconds, folder / "runs" / f"{number:03}" / "logs", **more)

    tried = [
        Tried(KnownFix("parallel", 1, PROGRAM), [run(1, 2.0), run(2, 2.1, later_s=0.5)]),
        Tried(KnownFix("staging", 2, PROGRAM), [run(3, 13.0, stopped=True)]),
    ]
    truth = Truth(PROGRAM, [run(0, 10.0, imports_s=3.0)], tried, keeps_pages=True)
    printed = Printed("read_parallelism", "ds.map(f, 8)", "ds.map(f)", "as printed", (run(4, 5.0),))
    return Trial(7, "a job", True, truth, printed)


def test_what_is_kept_is_read_again_as_it_was(tmp_path):
    one = trial(tmp_path)
    save_trial(one, tmp_path)
    assert load_trial(tmp_path) == one


def test_a_record_that_moved_is_read_where_it_is_now(tmp_path):
    (tmp_path / "a").mkdir()
    save_trial(trial(tmp_path / "a"), tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    assert load_trial(tmp_path / "b") == trial(tmp_path / "b")


@pytest.mark.parametrize("text", [None, "{", "{}", "[]"])
def test_what_is_no_record_is_said_in_a_sentence(tmp_path, text):
    if text is not None:
        (tmp_path / RECORD).write_text(text)
    with pytest.raises(ConfigurationError, match="holds no job to judge again"):
        load_trial(tmp_path)


def test_printed_runs_are_of_what_was_printed_then():
    then = dataclasses.replace(said("staging"), line="stage")
    printed = Printed.of(then, "as printed")
    assert printed.is_of(then)
    assert not printed.is_of(dataclasses.replace(then, line="stage more"))


def test_a_mirror_is_another_way_than_to_be_led_to_copies():
    led, all_of_it, mirror = (
        dataclasses.replace(
            said("staging"), line=f"tfdarshan advise{more}\ntfdarshan stage apply plan.json{how}"
        )
        for more, how in (("", ""), (" --all", ""), ("", " --mirror"))
    )
    assert Printed.of(led, "as printed").is_of(all_of_it)
    assert not Printed.of(led, "as printed").is_of(mirror)


@pytest.mark.parametrize(("more_s", "worth"), [(4.0, True), (4.9, False)])
def test_more_of_a_fix_is_worth_it_if_it_gave_more(tmp_path, more_s, worth):
    # GIVEN a fix with which the job takes 5 s, and twice as much of it
    one = trial(tmp_path)
    printed = dataclasses.replace(one.printed, more=(TimedRun(more_s, tmp_path),))
    one = dataclasses.replace(one, printed=printed)

    # THEN
    again = dataclasses.replace(said("read_parallelism"), line="ds.map(f, 16)")
    assert one.more_is_worth_it(again) is worth
    assert not one.more_is_worth_it(dataclasses.replace(again, line=one.printed.line))


@pytest.mark.parametrize(("files", "again"), [((), None), ((PlannedFile("a", 1, 1),), True)])
def test_commands_that_stage_no_file_have_applied_nothing(tmp_path, monkeypatch, files, again):
    # GIVEN a printed copy whose commands measured the fast tier, and a job that is told of it twice
    staging = dataclasses.replace(said("staging"), line="tfdarshan advise\ntfdarshan stage apply plan.json")
    monkeypatch.setattr(trial_module, "said_of", lambda run: staging)
    one = trial(tmp_path)
    printed = Printed("staging", staging.line, "", "as printed", one.printed.runs)
    (tmp_path / "printed").mkdir()
    write_plan(Plan("/slow", "/fast", files), tmp_path / "printed" / "plan.json")

    # THEN it is offered again only if something was applied
    judgement = judged(dataclasses.replace(one, printed=printed), tmp_path)
    assert judgement.again is again
    assert (judgement.typed == "as printed") == bool(files)
