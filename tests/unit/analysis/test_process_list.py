"""Who the processes of a session are, as lists show them, and which helpers these leave out."""

import dataclasses

import pytest

from tests.made_up_session import HOST, job_of, write_session
from tfdarshan.analysis.ranks.process_list import list_processes, named_processes
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.reports.text.process_text import MOST_PROCESSES, kinds_text, process_lines
from tfdarshan.reports.text.summary_text import render
from tfdarshan.reports.views.redaction import HIDDEN, Redaction, redacted_summary
from tfdarshan.terminal.paint import WIDTH

MODULE = "/home/me/env/lib/python3.12/site-packages/numpy/__init__.py"
READS = {
    "data": ("pread", "/data/a", 700),
    "modules": ("pread", MODULE, 300),
    "asks": ("stat", "/data/a", 0),
    "writes": ("write", "/tmp/log", 5),
}


def process(kind, number=0, name="", does="data", pid=100, **meta):
    """A process of a role that makes one call, which moves so many bytes."""
    operation, path, length = READS[does]
    role = {"kind": kind, "number": number, "name": name}
    return job_of(
        [(0, 10, pid, operation, 0, length, 0)], [path], [length], pid=pid, meta={"role": role, **meta}
    )


def summary(tmp_path, *jobs):
    return summarize(write_session(tmp_path, *jobs))


def test_processes_are_listed_by_what_they_are(tmp_path):
    # GIVEN processes in the order in which they were started
    data = summary(
        tmp_path,
        process("main", pid=100, process_start=7),
        process("helper", name="forkserver", does="data", pid=101),
        process("program", name="read.py", does="modules", pid=102),
        process("worker", 2, pid=103),
        process("worker", 1, does="writes", pid=104),
    )
    # THEN
    listed = [(entry.label, entry.name, entry.bytes_read, entry.bytes_written) for entry in data.process_list]
    assert listed == [
        ("main", f"{HOST}:100", 700, 0),
        ("worker 1", f"{HOST}:104", 0, 5),
        ("worker 2", f"{HOST}:103", 700, 0),
        ("read.py", f"{HOST}:102", 300, 0),
        ("forkserver", f"{HOST}:101", 700, 0),
    ]
    assert [entry.process_start for entry in data.process_list] == [7, 0, 0, 0, 0]
    assert {entry.calls for entry in data.process_list} == {1}


@pytest.mark.parametrize("does", READS)
@pytest.mark.parametrize("kind", ["helper", "worker", "program"])
def test_only_helpers_that_read_no_data_are_hidden(tmp_path, kind, does):
    entry = summary(tmp_path, process("main"), process(kind, name="x", does=does, pid=101)).process_list[1]
    assert entry.hidden == (kind == "helper" and does in ("modules", "asks"))


def test_roles_that_several_have_are_told_apart_by_their_numbers(tmp_path):
    # GIVEN two processes of one number, one after the other, and a role that only one has
    jobs = [process("main"), *(process("program", name="read.py", pid=pid) for pid in (101, 102))]
    session = write_session(tmp_path, *jobs)
    again = dataclasses.replace(session.processes[1], meta=session.processes[1].meta)
    labels = [named.label for named in named_processes([*session.processes, again])]
    assert labels == ["main", "read.py (101)", "read.py (102)", "read.py (101.2)"]


def test_a_log_and_one_process_have_no_list(tmp_path):
    session = write_session(tmp_path, process("main"))
    assert process_lines(summarize(session).process_list) == []
    assert "main" not in render(summarize(session))
    session.processes[0].meta["darshan"] = {"processes": 5}
    assert list_processes(session.processes, [(0, 0)]) == []


def test_the_summary_names_the_processes(tmp_path):
    helpers = [process("helper", name="resource_tracker", does="modules", pid=200 + n) for n in range(2)]
    data = summary(tmp_path, process("main"), process("worker", 1, does="writes", pid=101), *helpers)

    text = render(data)

    assert "4 processes (main, 1 worker, 2 helpers that read no data)," in text
    rows = [line.split() for line in text.split("Processes")[1].split("\n\n")[0].splitlines()[1:]]
    assert rows == [
        ["main", f"{HOST}:100", "1", "700", "B", "0", "B", "11", "ns"],
        ["worker", "1", f"{HOST}:101", "1", "0", "B", "5", "B", "11", "ns"],
        "not listed: 2 helpers that read no data (resource_tracker)".split(),
    ]
    assert "/data/a (main)" in text


def test_many_processes_are_cut_short_and_counted(tmp_path):
    workers = [process("worker", n, pid=100 + n) for n in range(1, MOST_PROCESSES + 3)]
    entries = summary(tmp_path, process("main"), *workers).process_list
    lines = process_lines(entries)
    assert len(lines) == MOST_PROCESSES + 2
    assert lines[-1] == "  and 3 workers more (--json lists all)"
    assert kinds_text(entries) == f"main, {MOST_PROCESSES + 2} workers"
    assert max(map(len, lines)) <= WIDTH


def test_a_report_to_be_shown_names_no_script_and_no_host(tmp_path):
    # GIVEN a program whose name is nobody's business, with a bound
    secret = process("program", name="secret.py", pid=101, bounds=["the spool was full"])
    data = summary(tmp_path, process("main"), secret)
    assert data.bounds == ["process 101 (secret.py): the spool was full"]

    shown = redacted_summary(data, Redaction("key"))

    assert "secret" not in str(dataclasses.asdict(shown))
    assert [(entry.label, entry.host) for entry in shown.process_list] == [
        ("main", HIDDEN),
        ("program (101)", HIDDEN),
    ]
    assert shown.bounds == ["process 101: the spool was full"]
