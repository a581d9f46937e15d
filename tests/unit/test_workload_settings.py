"""Settings of a workload, changed by name."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from tfdarshan.commands import main
from tfdarshan.errors import ConfigurationError
from tfdarshan.workloads.settings import changed, check_saves


@dataclass(frozen=True)
class Scale:
    """Two numbers, and what is none."""

    steps: int = 10
    share: float = 0.5
    threads: tuple[int, ...] = (1, 8)


def test_numbers_are_changed_by_name():
    assert changed(Scale(), {"steps": "3", "share": "0.1"}, "mine") == Scale(steps=3, share=0.1)
    assert changed(Scale(), {}, "mine") == Scale()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"step": "3"}, "mine has no setting 'step': there are steps, share"),
        ({"threads": "3"}, "mine has no setting 'threads'"),
        ({"steps": "0.5"}, "the setting steps is '0.5': give a whole number above 0"),
        ({"steps": "-3"}, "give a whole number above 0"),
        ({"share": "nan"}, "the setting share is 'nan': give a number above 0"),
        ({"share": "inf"}, "give a number above 0"),
    ],
)
def test_what_cannot_be_set_is_said(given, message):
    with pytest.raises(ConfigurationError, match=message):
        changed(Scale(), given, "mine")


def test_a_run_that_saves_nothing_is_refused():
    check_saves(25, 25)
    with pytest.raises(
        ConfigurationError, match=r"^no checkpoint is due in 25 steps: give every=25 at most\.$"
    ):
        check_saves(25, 26)


@pytest.mark.parametrize(
    ("typed", "message"),
    [("steps", "'steps' is not NAME=VALUE"), ("steps=3", "pai has no settings: leave out --set")],
)
def test_what_is_typed_wrong_is_said(typed, message, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        sys.exit(main(["workload", "run", "pai", "--quick", f"--work-dir={tmp_path}", "--set", typed]))
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
