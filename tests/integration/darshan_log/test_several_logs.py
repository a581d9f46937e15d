"""Several logs on one command line: a line each, the worst first, and nothing left behind."""

import json
from pathlib import Path

import pytest

import tfdarshan
from tests.pydarshan import darshan
from tfdarshan.commands import main, report, several

EXAMPLES = Path(darshan.__file__).parent / "examples" / "example_logs"
NAMES = ("ior_hdf5_example", "example", "sample-badost")
PATHS = [str(EXAMPLES / f"{name}.darshan") for name in NAMES]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where logs are imported to meanwhile."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def io_per_process(path):
    """Seconds in POSIX and STDIO calls of a process, by PyDarshan."""
    report = darshan.DarshanReport(path, read_all=True)
    total = 0.0
    for module in ("POSIX", "STDIO"):
        names = report.counters.get(module, {}).get("fcounters", ())
        for record in report.records.get(module, ()):
            times = (f"{module}_F_{kind}_TIME" for kind in ("READ", "WRITE", "META"))
            total += sum(max(float(record["fcounters"][names.index(name)]), 0) for name in times)
    return total / report.metadata["job"]["nprocs"]


@pytest.mark.parametrize("verb", ["summary", "list"])
def test_several_logs_are_ranked_with_a_line_each(verb, temporary, capsys):
    # WHEN
    assert main([verb, *PATHS, PATHS[0]]) == 0
    lines = capsys.readouterr().out.splitlines()

    # THEN those whose processes spent most seconds in I/O come first
    seconds = {path: io_per_process(path) for path in PATHS}
    order = sorted(PATHS, key=lambda path: -seconds[path])
    assert lines[0] == "3 sessions, those that lose most first"
    rows = [line.split() for line in lines[3:] if not line.startswith(" ")]
    assert [row[0].rpartition("/")[2] for row in rows] == [Path(path).name for path in order]
    assert max(map(len, lines)) <= 100

    # and JSON has the figures
    assert main([verb, "--json", *PATHS]) == 0
    rows = json.loads(capsys.readouterr().out)["sessions"]
    assert [row["name"] for row in rows] == order
    assert [row["io_s"] for row in rows] == pytest.approx([seconds[path] for path in order])
    assert list(temporary.iterdir()) == []


def test_one_log_is_read_without_being_imported(temporary, capsys, monkeypatch):
    # WHEN
    monkeypatch.chdir(temporary)
    assert main(["summary", PATHS[0]]) == 0
    text = capsys.readouterr().out

    # THEN it says how to see more of it, and nothing is left
    assert "4 processes, darshan log" in text
    assert f"tfdarshan summary -v {PATHS[0]}" in text
    assert f"tfdarshan import {PATHS[0]}" in text
    assert str(temporary) not in text
    assert main(["files", PATHS[0], "--limit", "1"]) == 0
    assert "test123.h5" in capsys.readouterr().out
    assert list(temporary.iterdir()) == []


def test_report_writes_a_file_for_each(temporary, tmp_path, capsys):
    # GIVEN a session and two logs
    with tfdarshan.profile(tmp_path / "logs", tf_profiler=False) as profile:
        (tmp_path / "x").write_bytes(b"x")
    out = tmp_path / "reports"

    # WHEN
    assert main(["report", PATHS[0], str(profile.path), PATHS[1], "-o", str(out)]) == 0
    text = capsys.readouterr().out

    # THEN
    assert sorted(path.name for path in out.iterdir()) == sorted(
        ["ior_hdf5_example.html", f"{profile.path.name}.html", "example.html"]
    )
    assert text.startswith("3 sessions, those that lose most first\n")
    assert text.count("wrote ") == 3
    assert b"MPI-IO" in (out / "example.html").read_bytes()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("logs", "named"),
    [
        (["a/run", "b/run"], ["run", "run-2"]),
        (["run-2", "run"], ["run-2", "run"]),
        (["a/run", "b/run", "run-2"], ["run", "run-2", "run-2-2"]),
        (["run-2", "a/run", "b/run"], ["run-2", "run", "run-3"]),
    ],
)
def test_each_report_has_a_file_of_its_own(tmp_path, logs, named):
    files = report._file_names([f"{log}.darshan" for log in logs], tmp_path)

    assert files == [tmp_path / f"{name}.html" for name in named]


def test_several_reports_need_a_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["report", *PATHS[:2], "-o", str(tmp_path / "file")]) == 2
    assert "is a file: for several sessions, name a folder" in capsys.readouterr().err


def test_list_says_what_it_takes(tmp_path, capsys):
    assert main(["list", str(tmp_path), PATHS[0]]) == 2
    error = capsys.readouterr().err
    assert "is not a Darshan log: list takes one logdir, or only Darshan logs" in error
    assert error.count("\n") == 1


def test_a_log_that_is_not_there_is_said(capsys):
    assert main(["summary", "gone.darshan", PATHS[0]]) == 1
    assert "the log gone.darshan cannot be read: No such file or directory" in capsys.readouterr().err


def test_a_fix_s_seconds_come_before_seconds_in_io(monkeypatch):
    # GIVEN figures of sessions
    def row(path, session):
        lost_s, io_s = session
        return several.Ranked(path, 10.0, 1, io_s, 0, 0, lost_s, "unknown", "")

    class Opened:
        def __init__(self, path, **_options):
            self.path = path

        def __enter__(self):
            return {"a": (0, 9.0), "b": (2.0, 1.0), "c": (0, 3.0)}[self.path]

        def __exit__(self, *_error):
            return None

    monkeypatch.setattr(several, "opened", Opened)
    monkeypatch.setattr(several, "_ranked", row)

    assert [one.name for one in several.ranked(["c", "a", "b"], skip_damaged=False)] == ["b", "a", "c"]
