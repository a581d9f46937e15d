"""Every verb that prints text honours the width of the terminal that it prints to."""

from __future__ import annotations

import os
import sys

import pytest

from tests.terminal import in_terminal, shown_by, too_wide
from tests.unit.sentences.sessions import SESSIONS
from tfdarshan.commands import COMMANDS, main
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import open_session

COLUMNS = (50, 80, 100, 200)
# The verb, by the words in braces: two sessions, the folder of both, one for copies, a file to write.
TYPED = (
    "summary {one}", "summary -v {one}", "summary {one} {other}", "findings {one}", "whatif {one}",
    "whatif {one} --threads 8", "files {one}", "files {one} --sort reads", "files {one} --steps 1-3",
    "steps {one}", "compare {one} {other}",
    "list {logs}", "advise --logdir {one} --fast {fast}", "advise --logdir {one} --fast {fast} -o {out}/plan",
    "report {one} -o {out}/report.html", "export --parquet {out}/tables {one}", "workload list",
    "fleet {logs} --catalogue {out}/catalogue", "recover {logs}", "rebuild {logs}",
)  # fmt: skip
# What reads something else or works for long: the words of its parts are those of --help.
OTHERS = {"run", "import", "burst", "probe", "lmdb", "doctor", "stage", "mcp", "view"}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    top = tmp_path_factory.mktemp("widths")
    SESSIONS["slow storage"](top / "logs" / "one_run_of_a_job")
    SESSIONS["fits in memory"](top / "logs" / "another_run_of_that_job")
    for name in ("fast", "out"):
        (top / name).mkdir()
    return {
        "logs": top / "logs",
        "one": top / "logs" / "one_run_of_a_job",
        "other": top / "logs" / "another_run_of_that_job",
        "fast": top / "fast",
        "out": top / "out",
    }


@pytest.fixture(scope="module")
def fixes(places):
    """Lines of programs, which are whole whatever the width."""
    return {
        line.strip()
        for name in ("one", "other")
        for finding in diagnose(open_session(places[name])).findings
        if finding.fix is not None
        for line in (finding.fix.line + "\n" + finding.fix.instead_of).splitlines()
    }


def test_all_verbs_are_tried():
    assert {typed.split()[0] for typed in TYPED} | OTHERS == set(COMMANDS)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("typed", TYPED)
def test_lines_fit_the_terminal(typed, columns, places, fixes, monkeypatch, tmp_path):
    # GIVEN a terminal of so many columns
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = [word.format(**places) for word in typed.split()]
    words += ["--force"] if words[0] in ("report", "export") else []

    # WHEN
    shown = shown_by(lambda: main(words), columns)

    # THEN
    assert shown.code == 0
    assert too_wide(shown.text, columns, fixes) == []
    assert shown.text


@pytest.mark.parametrize("typed", ["summary {one}", "findings {one}", "advise --logdir {one} --fast {fast}"])
def test_wide_terminals_are_used(typed, places):
    words = [word.format(**places) for word in typed.split()]
    heights = [len(shown_by(lambda: main(words), columns).text.splitlines()) for columns in COLUMNS]

    assert heights == sorted(heights, reverse=True) or typed.startswith("summary")
    assert max(len(line) for line in shown_by(lambda: main(words), 200).text.splitlines()) > COLUMNS[1]


@pytest.mark.parametrize("columns", [50, 200])
def test_the_command_itself_sees_the_terminal(columns, places):
    # THEN as a program of its own it does as well
    for words in ([], ["--help"], ["findings", str(places["one"]), "--help"]):
        shown = in_terminal(words, columns)
        assert (shown.code, shown.errors) == (0, b"")
        assert too_wide(shown.text, columns, set()) == []


def test_json_is_whole(places):
    import json

    shown = shown_by(lambda: main(["findings", "--json", str(places["one"])]), 50)
    assert json.loads(shown.text)["verdict"]["state"] == "slow"


@pytest.mark.long
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("verb", COMMANDS)
def test_help_fits(verb, columns):
    shown = in_terminal([verb, "--help"], columns)

    assert (shown.code, shown.errors) == (0, b"")
    assert too_wide(shown.text, columns, set()) == []


def test_a_pipe_has_the_usual_width(places, capfd):
    assert not os.isatty(sys.stdout.fileno())
    assert main(["findings", str(places["one"])]) == 0
    assert 80 < max(len(line) for line in capfd.readouterr().out.splitlines() if " + " not in line) <= 100
