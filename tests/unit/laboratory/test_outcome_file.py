"""Outcomes are read as they were written."""

from __future__ import annotations

import argparse
import dataclasses

import pytest

from tests.unit.laboratory.made_up_outcomes import outcomes
from tfdarshan.errors import ConfigurationError
from tfdarshan.workloads.laboratory import trial
from tfdarshan.workloads.laboratory.__main__ import run_one
from tfdarshan.workloads.laboratory.draw import draw
from tfdarshan.workloads.laboratory.fix_pair import FixPair
from tfdarshan.workloads.laboratory.outcome_file import read_outcomes, write_outcomes


def test_what_was_written_is_read_again(tmp_path):
    pairs = (FixPair("staging", (1.4, 1.5, 1.6), (1.2, 1.5, 2.0), None),)
    made = [dataclasses.replace(one, pairs=pairs) for one in outcomes()]
    write_outcomes(made, tmp_path / "out.json")
    assert read_outcomes(tmp_path / "out.json") == made


@pytest.mark.parametrize("text", [None, "{", "[]", "[{}]", '[{"said": {"state": "slow"}}]', "[3]"])
def test_what_holds_no_outcomes_is_said_in_a_sentence(tmp_path, text):
    if text is not None:
        (tmp_path / "out.json").write_text(text)
    with pytest.raises(ConfigurationError, match="holds no outcomes to go on from"):
        read_outcomes(tmp_path / "out.json")


def test_a_draw_goes_on_with_the_job_in_which_it_was_stopped(tmp_path, monkeypatch):
    # GIVEN runs of a job that was stopped, and kept
    job = draw(1)
    (tmp_path / f"seed-{job.seed}" / "runs" / "000").mkdir(parents=True)
    monkeypatch.setattr(trial, "run_job", lambda job, room, *_, **__: not room.exists())

    # WHEN it is run, THEN from the beginning
    assert run_one(job, tmp_path, argparse.Namespace(keep=tmp_path, repeats=3), None)
