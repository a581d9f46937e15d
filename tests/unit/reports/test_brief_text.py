"""The first screen of a session answers "why, and what do I do"; its sentences are held against data."""

from __future__ import annotations

import dataclasses
import io
import re

import pytest

from tests.role_session import role_session
from tests.scenario_sessions import SKETCHES, sketched
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.commands import main
from tfdarshan.findings.diagnosis import diagnosis_of
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.plain import plain_diagnosis
from tfdarshan.findings.step_split import step_split
from tfdarshan.reports.text.brief_text import brief_text
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.terminal.paint import Paint, paint_for

READER = 101
SCREEN = 25


@pytest.fixture
def slow(tmp_path):
    """A job that reads the same two files in every one of four epochs, from storage, and waits for it."""
    calls: list[tuple] = []
    for n in range(40):
        calls.append((n * 100, n * 100 + 1, READER, "open", n % 2, 0))
        calls.append((n * 100 + 1, n * 100 + 60, READER, "pread", n % 2, 1_000_000, 0))
    return training(
        tmp_path / "logs",
        calls,
        epochs_of_steps(40, 100, 60),
        paths=("/data/a", "/data/b"),
        sizes=[1_000_000] * 2,
    )


def brief_of(session, paint=None):
    measures = measure(session, 5)
    return brief_text(measures.summary, diagnosis_of(measures), paint)


def test_verdict_fix_and_gain_stand_in_the_first_lines(slow):
    diagnosis = diagnosis_of(measure(slow))
    named = diagnosis.named

    first = "\n".join(brief_of(slow).splitlines()[:SCREEN])

    assert " ".join(first.split()).startswith(diagnosis.verdict.sentence)
    assert f"{named.gain.speedup:.2f}x" in first
    for line in named.fix.line.splitlines():
        assert line.strip() in first
    assert "A step: 100.0 ms [" in first


def test_all_of_it_fits_a_screen(slow):
    assert len(brief_of(slow).splitlines()) <= SCREEN


@pytest.mark.parametrize("width", [50, 72, 100, 120])
def test_no_line_but_those_of_the_fix_is_wider_than_the_terminal(slow, width):
    diagnosis = diagnosis_of(measure(slow))
    change = diagnosis.named.fix.line.splitlines() + diagnosis.named.fix.instead_of.splitlines()
    for line in brief_of(slow, Paint(width=width)).splitlines():
        shown = line.removeprefix("  - ").removeprefix("  + ").strip()
        assert len(line) <= width or shown in map(str.strip, change) or shown.startswith("tfdarshan "), line


def test_the_bars_marks_are_the_parts_shares(slow):
    parts = step_split(measure(slow))
    (bar,) = re.findall(r"\[([#dow.]+)\]", brief_of(slow))

    for part in parts:
        share = part.seconds / sum(one.seconds for one in parts)
        mark = {
            "worker_starts": "s",
            "storage": "#",
            "page_faults": "f",
            "decoding": "d",
            "other_wait": "o",
            "own_calls": "w",
            "compute": ".",
        }[part.name]
        assert bar.count(mark) == pytest.approx(share * len(bar), abs=1)


def test_a_step_is_an_ordinary_one_and_the_longest_is_beside_it(tmp_path):
    # GIVEN 20 steps of 50 ms, of which 30 are waits, and one of 800 ms at the end of the epoch
    steps = [(n * 50, n * 50 + 50, 30) for n in range(20)] + [(1_000, 1_800, 30)]
    calls = [(start, start + 30, READER, "pread", 0, 1_000, 0) for start, _, _ in steps]
    session = training(tmp_path / "logs", calls, steps)

    # WHEN
    text, diagnosis = brief_of(session), diagnosis_of(measure(session))
    (parts,) = (panel for panel in findings_panels(diagnosis) if panel.kind == "parts")

    # THEN text, page and JSON have one step, and seconds of parts add up to all of them
    words = "A step: 50.0 ms (median; the longest 800.0 ms)"
    assert f"{words} [" in text
    assert parts.title == f"Where the 1.800 s of 21 steps go. {words}"
    assert {part.label: part.value.text for part in parts.items} == {
        "waiting for file calls": "630.0 ms", "compute and the rest": "1.170 s",
    }  # fmt: skip
    assert plain_diagnosis(diagnosis)["step"] == {"steps": 21, "median_s": 0.05, "longest_s": 0.8}


def test_what_was_read_and_written_is_counted(slow):
    text = " ".join(brief_of(slow).split())

    assert "Read 40.0 MB in 40 reads; 2.360 s, 59.0 % of the session; 16.9 MB/s" in text
    assert "Opened 2 files, 40 opens; 40.0 ms, 1.0 % of the session" in text
    # THEN nothing is said of what there was not
    assert "Written" not in text
    assert "Failed" not in text


def test_writes_failures_and_children_are_said_where_there_are_some(tmp_path):
    calls = [(n * 100, n * 100 + 10, LOOP, "write", 0, 500, 0) for n in range(10)]
    meta = {
        "failures": [{"operation": "open", "error": 2, "name": "ENOENT", "calls": 7}],
        "stopped": False,
        "bounds": ["the spool was full for part of the session"],
    }
    text = brief_of(training(tmp_path, calls, epochs_of_steps(10, 100, 0), meta=meta))
    words = " ".join(text.split())

    assert "Written 5.0 kB in 10 writes; 100.0 ms, 10.0 % of the session; 50.0 kB/s" in words
    assert "Failed 7 ENOENT (open)" in words
    assert "! The process ended without stopping the session" in words
    assert "! the spool was full for part of the session." in words


def test_a_file_that_several_processes_read_stands_there_with_each(tmp_path):
    # GIVEN a file that a main process, workers, a program and a helper read, each half a second
    text = brief_of(role_session(tmp_path))

    # THEN
    lines = [line for line in text.splitlines() if "/data/a" in line]
    assert [line.partition("/data/a ")[2] for line in lines] == ["(main)", "(worker 1)", "(worker 2)"]


def test_a_healthy_job_has_no_lines_to_change(tmp_path):
    calls = [(n * 100, n * 100 + 1, READER, "pread", 0, 1000, 0) for n in range(40)]
    text = brief_of(training(tmp_path, calls, epochs_of_steps(40, 100, 1)))

    assert text.startswith("Healthy: ")
    assert not re.search(r"^ +[+-] ", text, re.MULTILINE)


def test_names_change_nothing_on_a_terminal(tmp_path):
    calls = [(n * 100, n * 100 + 60, READER, "pread", 0, 1000, 0) for n in range(10)]
    session = training(
        tmp_path,
        calls,
        epochs_of_steps(10, 100, 60),
        paths=("/data/\x1b[2Jnasty",),
        meta={"command": "a\x1bc"},
    )
    assert "\x1b" not in brief_of(session)


class Terminal(io.StringIO):
    """Text that goes to a terminal."""

    def isatty(self):
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert paint_for(Terminal()).coloured
    assert not paint_for(io.StringIO()).coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert not paint_for(Terminal()).coloured
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not paint_for(Terminal()).coloured


def test_a_coloured_text_says_the_same(slow):
    plain, coloured = brief_of(slow), brief_of(slow, Paint(coloured=True))

    assert coloured != plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


@pytest.mark.parametrize(("columns", "width"), [("30", 50), ("72", 72), ("200", 120)])
def test_the_width_is_the_terminals_within_bounds(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert paint_for(Terminal()).width == width


def test_python_gives_verdict_and_findings(slow):
    diagnosis = diagnosis_of(measure(slow))

    assert slow.verdict == diagnosis.verdict
    assert slow.findings == diagnosis
    assert slow.summary() == brief_of(slow)


def test_more_is_shown_on_demand(slow, capsys):
    assert main(["summary", "-v", str(slow.path)]) == 0
    text = capsys.readouterr().out

    assert "Access pattern" in text
    assert len(text.splitlines()) > SCREEN


def test_a_program_whose_path_is_no_part_of_a_line_stands_beside_its_label(slow):
    # GIVEN a job of a program with a path of 200 characters
    measures = measure(slow, 5)
    command = f"/{'deep/' * 38}solver --steps 10"
    summary = dataclasses.replace(measures.summary, command=command)

    # WHEN
    lines = brief_text(summary, diagnosis_of(measures)).splitlines()

    # THEN it begins on the label's own line, and its end is there
    (job,) = (place for place, line in enumerate(lines) if line.startswith("Job"))
    (read,) = (place for place, line in enumerate(lines) if line.startswith("Read"))
    assert lines[job].split()[1].startswith("/deep/deep")
    assert " ".join(" ".join(lines[job:read]).split()).endswith("deep/solver --steps 10")
    assert max(map(len, lines[job:read])) <= 100


@pytest.mark.parametrize("width", [50, 60, 72, 80])
@pytest.mark.parametrize("name", ["one slow mount", "fits in memory", "checkpoints"])
def test_no_fact_is_cut(tmp_path, name, width):
    # GIVEN all facts as they are if lines are as long as they need to be
    session = sketched(tmp_path / "logs", SKETCHES[name])
    whole = {
        line.split()[0]: line.split() for line in brief_of(session, Paint(width=1_000)).splitlines() if line
    }

    # WHEN
    words = brief_of(session, Paint(width=width)).split()

    # THEN
    for label in ("Session", "Job", "Read", "Opened", "Seen"):
        fact = whole[label]
        assert any(words[place : place + len(fact)] == fact for place in range(len(words))), label


def test_a_long_command_loses_its_middle(slow):
    # GIVEN two commands that differ in their ends
    measures = measure(slow, 5)
    before = f"/opt/venv/bin/python train.py {'--option value ' * 40}"

    # WHEN
    jobs = []
    for end in ("--seed 1", "--seed 2"):
        summary = dataclasses.replace(measures.summary, command=before + end)
        text = " ".join(brief_text(summary, diagnosis_of(measures)).split())
        jobs.append(text.partition(" Job ")[2].partition(" Read ")[0])

    # THEN their beginnings and ends are there, without the interpreter's folders
    assert [job.startswith("python train.py --option") for job in jobs] == [True, True]
    assert [job[-8:] for job in jobs] == ["--seed 1", "--seed 2"]
    assert all(" ... " in job for job in jobs)
