"""tools/line_coverage.py: which lines ran, and what is said if they are too few."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PYTHON = "def ran():\n    return 1\n\n\ndef left_out():\n    a = 1\n    return a\n"
HEADER = "static inline int half(int of)\n{\n    if (of < 0)\n        return 0;\n    return of / 2;\n}\n"
FIRST = '#include "base/half.h"\nint second(void);\nint main(void)\n{\n    return half(-1) + second();\n}\n'
SECOND = '#include "base/half.h"\nint second(void)\n{\n    return half(1);\n}\n'
NEVER = "int never(void)\n{\n    return 1;\n}\n"


@pytest.fixture
def line_coverage(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("line_coverage", ROOT / "tools" / "line_coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PYTHON_DATA", tmp_path / "build" / "python")
    monkeypatch.setattr(module, "C_DATA", tmp_path / "build" / "core")
    monkeypatch.setattr(module, "FLOORS_PERCENT", {"tfdarshan": 0, "csrc": 0})
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return module


@pytest.fixture
def python_ran(line_coverage, tmp_path):
    """Three of five lines of tfdarshan/room/module.py ran: both `def` and one body."""
    pytest.importorskip("coverage")
    module = tmp_path / "tfdarshan" / "room" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text(PYTHON)
    (tmp_path / "main.py").write_text("from tfdarshan.room.module import ran\nran()\n")
    line_coverage.PYTHON_DATA.parent.mkdir()
    command = [sys.executable, "-m", "coverage", "run", "--source=tfdarshan"]
    subprocess.run(
        [*command, f"--data-file={line_coverage.PYTHON_DATA}", "main.py"], cwd=tmp_path, check=True
    )


@pytest.fixture
def c_ran(line_coverage, tmp_path):
    """All lines of csrc/ ran but those of a function; of the header some in one file, some in the other."""
    if reason := line_coverage.why_no_c():
        pytest.skip(reason)
    line_coverage.C_DATA.mkdir(parents=True)
    for name, text in {"half.h": HEADER, "first.c": FIRST, "second.c": SECOND + NEVER}.items():
        source = tmp_path / "csrc" / "base" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
    objects = [line_coverage.C_DATA / name for name in ("first.o", "second.o")]
    for path in objects:
        source = tmp_path / "csrc" / "base" / path.with_suffix(".c").name
        include = f"-I{tmp_path / 'csrc'}"
        subprocess.run(
            [line_coverage.compiler(), "--coverage", "-O0", include, "-c", "-o", path, source], check=True
        )
    subprocess.run([line_coverage.compiler(), "--coverage", "-o", tmp_path / "program", *objects], check=True)
    subprocess.run([tmp_path / "program"], check=True)


def test_lines_of_python_are_counted_by_room(line_coverage, python_ran, monkeypatch, capsys):
    # GIVEN tests that ran three of five lines
    monkeypatch.setattr(line_coverage, "why_no_c", lambda: "it is not asked for here")

    # WHEN they are reported
    status = line_coverage.report()

    # THEN folder and room have their share
    _, folder, room, reason = capsys.readouterr().out.splitlines()
    assert folder.split() == "tfdarshan/ 60.0 % 3 of 5 floor 0 %".split()
    assert room.split() == "room/ 60.0 % 3 of 5".split()
    assert "it is not asked for here" in reason
    assert status == 0


def test_lines_of_a_header_ran_if_they_ran_in_any_file(line_coverage, c_ran):
    # GIVEN a header whose lines ran, some in one file and some in another
    # WHEN its lines are counted
    files = line_coverage.c_lines(line_coverage.gcov())

    # THEN it misses none, and the file with a function that nobody calls does
    assert sorted(files) == ["base/first.c", "base/half.h", "base/second.c"]
    assert files["base/half.h"].percent == 100
    assert files["base/half.h"].all > 3
    assert 0 < files["base/second.c"].percent < 100


@pytest.mark.parametrize(("floor", "status"), [(60, 0), (61, 1)])
def test_a_share_below_the_floor_fails(line_coverage, python_ran, monkeypatch, capsys, floor, status):
    # GIVEN a floor that just holds, or just not
    monkeypatch.setattr(line_coverage, "FLOORS_PERCENT", {"tfdarshan": floor})
    monkeypatch.setattr(line_coverage, "why_no_c", lambda: "it is not asked for here")

    # WHEN it is reported
    found = line_coverage.report()

    # THEN one sentence says so
    said = capsys.readouterr().err
    assert found == status
    assert said.count("\n") == status
    assert ("ran 60.0 % of the lines of tfdarshan/, and the floor in" in said) == bool(status)


def test_a_gcov_of_another_version_is_not_asked(line_coverage, python_ran, tmp_path, monkeypatch, capsys):
    # GIVEN a compiler whose gcov is another version's
    for name, text in {
        "gcc-x": 'case "$1" in -dumpfullversion) echo 15.2.0;; *) echo gcov;; esac',
        "gcov": "echo gcov 12.2.0",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("CC", "gcc-x")
    monkeypatch.setattr(line_coverage, "FLOORS_PERCENT", {"tfdarshan": 0, "csrc": 100})

    # WHEN it is reported
    status = line_coverage.report()

    # THEN C has no floor, and the reason is said
    assert status == 0
    assert "csrc/ were not counted, for there is no gcov of gcc-x's version." in capsys.readouterr().out


def test_chosen_tests_need_reach_no_floor(line_coverage, python_ran, monkeypatch, capsys):
    # GIVEN a choice of tests
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k one")
    monkeypatch.setattr(line_coverage, "FLOORS_PERCENT", {"tfdarshan": 100})
    monkeypatch.setattr(line_coverage, "why_no_c", lambda: "it is not asked for here")

    # WHEN it is reported
    status = line_coverage.report()

    # THEN no floor is held, and that is said
    assert status == 0
    assert "no floor is held" in capsys.readouterr().out


def test_no_counts_at_all_are_an_error(line_coverage):
    pytest.importorskip("coverage")

    # GIVEN no run of the tests
    # WHEN it is reported
    with pytest.raises(SystemExit) as ended:
        line_coverage.report()

    # THEN it says what is missing
    assert str(ended.value) == "tfdarshan: the tests left no counts of lines in build/python: run make test"


def test_an_earlier_runs_counts_are_dropped(line_coverage, python_ran, c_ran, capsys):
    # GIVEN counts of an earlier run
    # WHEN another begins
    line_coverage.begin()

    # THEN they are gone, and the variant that counts C is named
    assert not line_coverage.PYTHON_DATA.exists()
    assert not list(line_coverage.C_DATA.rglob("*.gcda"))
    assert capsys.readouterr().out == "coverage\n"
