"""The tutorial: its commands run as printed, and lead to the fix and the speedup that the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.lean_tensorflow import WITHOUT_KERAS
from tools.run_page import SHOWN_FOLDER, Shell, part_of, run_page

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
FIX = re.compile(r"^  [-+] .*$", re.MULTILINE)


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    """Run the page once. Return its text, filled, and the shell that ran it."""
    shell = Shell(tmp_path_factory.mktemp("tutorial") / "tutorial")
    shell.folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WITHOUT_KERAS.items():
            patch.setenv(name, value)
        return run_page(PAGE.read_text(encoding="utf-8"), shell), shell


def test_doctor_passes_here(tutorial):
    _, shell = tutorial
    said = shell.printed[0]

    assert sum(line.startswith("ok ") for line in said.splitlines()) == 13
    assert "FAILED" not in said
    assert "a Python that is started joins the session" in said
    assert said.endswith("\ntfdarshan works here.\n")
    assert len(said.splitlines()) < 20


def test_the_verdict_names_the_fix_that_the_page_makes(tutorial):
    text, _ = tutorial

    assert FIX.findall(text) == FIX.findall(PAGE.read_text(encoding="utf-8"))
    assert any("read_ahead(" in line for line in FIX.findall(text))


def test_the_fix_makes_the_job_faster(tutorial):
    _, shell = tutorial
    trained = [
        float(said) for printed in shell.printed for said in re.findall(r"trained for ([\d.]+) s", printed)
    ]

    assert len(trained) == 2
    assert trained[1] < 0.8 * trained[0]


def test_outputs_name_no_folder_of_this_machine(tutorial):
    text, shell = tutorial

    assert str(shell.folder) not in text
    assert SHOWN_FOLDER not in "".join(re.findall(r"^```\n.*?^```$", text, re.DOTALL | re.MULTILINE))


def test_filling_a_filled_page_changes_only_what_is_printed(tutorial):
    text, _ = tutorial
    without = re.compile(r"\n```text\n.*?```\n(?=<!-- end -->)", re.DOTALL)

    assert without.sub("", text) == without.sub("", PAGE.read_text(encoding="utf-8"))


def test_parts_of_what_is_printed():
    said = "\none\ntwo\n\nthree\n"

    assert part_of(said, "") == "one\ntwo\n\nthree"
    assert part_of(said, "1 lines") == "one"
    assert part_of(said, "1 paragraphs") == "one\ntwo"


def test_a_command_that_fails_is_told(tmp_path):
    (tmp_path / "work").mkdir()
    with pytest.raises(RuntimeError, match=r"false ended with 1"):
        Shell(tmp_path / "work").run("true\nfalse")
