"""Budgets on file I/O in tests: exact figures, the files that cost most, and pytest's marker and fixture."""

import asyncio
import os
import subprocess
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

import tfdarshan
from tfdarshan import testing
from tfdarshan.comparison.metric import find_metric
from tfdarshan.errors import ConfigurationError
from tfdarshan.testing import BUDGETS, BudgetExceeded, io_budget


def run_pytest(tests, *options):
    """Run pytest on a folder of tests. Its temporary files lie there: in its usual place it would first
    remove all that earlier runs of other tests left, which takes minutes."""
    ours = ["-p", "no:cacheprovider", "-q", "--basetemp", str(tests / "made")]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *ours, *options, str(tests)],
        cwd=tests,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def data(tmp_path):
    """Ten files: 1,000 bytes each, but for the last one of 50,000."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(10):
        (folder / f"{number}").write_bytes(bytes(50_000 if number == 9 else 1_000))
    return folder


def read_all(data, times=1):
    for _ in range(times):
        for path in sorted(data.iterdir()):
            handle = os.open(path, os.O_RDONLY)
            while os.read(handle, 10_000):
                pass
            os.close(handle)


def budget(data, **limits):
    return io_budget(include=[f"{data}/"], exclude=["/*"], **limits)


def test_what_is_within_the_budget_passes_and_tells_its_figures(data):
    with budget(data, opens=10, bytes_read=59_000, reads=24, zero_length_reads=10, io_time="1min") as held:
        read_all(data)
    assert held.spent.pop("io_time") > 0
    # 9 files take a read, the large one 5, and each an empty one.
    assert held.spent == {"opens": 10, "bytes_read": 59_000, "reads": 24, "zero_length_reads": 10}


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        ({"opens": 19}, "  opens: 20, allowed 19 (opens=19)"),
        ({"bytes_read": "100kB"}, "  bytes read: 118.0 kB, allowed 100.0 kB (bytes_read=100000)"),
        ({"files": 9}, "  files: 10, allowed 9 (files=9)"),
        ({"reads": 47}, "  reads: 48, allowed 47 (reads=47)"),
        ({"calls": 87}, "  calls: 88, allowed 87 (calls=87)"),
        ({"zero_length_reads": 0}, "  zero-length reads: 20, allowed 0 (zero_length_reads=0)"),
    ],
)
def test_one_more_than_allowed_fails(data, limit, line):
    with pytest.raises(BudgetExceeded) as error, budget(data, **limit):
        read_all(data, times=2)
    assert line in str(error.value).splitlines()


def test_time_in_io_is_limited(data):
    with pytest.raises(BudgetExceeded, match=r"time in reads: .*, allowed 1\.0 us"):
        with budget(data, read_time="1us"):
            read_all(data)


def test_the_files_that_cost_most_are_named(data):
    with pytest.raises(BudgetExceeded) as error, budget(data, bytes_read=0, opens=9):
        read_all(data)
    lines = str(error.value).splitlines()
    assert lines[0] == "2 budgets exceeded:"
    assert lines[3] == "most bytes read, of 10 files:"
    assert lines[4].split() == ["50.0", "kB", str(data / "9")]
    assert lines[5].split() == ["1.0", "kB", str(data / "0")]
    assert lines[9] == "most opens, of 10 files:"


def test_writes_are_limited(data):
    with pytest.raises(BudgetExceeded, match="bytes written: 7 B, allowed 0 B"):
        with budget(data, bytes_written=0):
            (data / "new").write_bytes(b"7 bytes")


def test_a_decorated_function_has_the_budget_for_each_call(data):
    @budget(data, opens=10)
    def epoch(times):
        read_all(data, times)
        return times

    assert epoch(1) == epoch(1) == 1
    with pytest.raises(BudgetExceeded):
        epoch(2)
    assert epoch.__name__ == "epoch"


def test_a_coroutine_is_held_to_it(data):
    @budget(data, opens=9)
    async def epoch():
        read_all(data)

    with pytest.raises(BudgetExceeded):
        asyncio.run(epoch())


def test_what_the_block_raises_goes_through(data):
    @budget(data, opens=0)
    def failing():
        read_all(data)
        raise KeyError("its own")

    with pytest.raises(KeyError):
        failing()


def test_nothing_is_left_behind_unless_asked_for(data, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with pytest.raises(BudgetExceeded), budget(data, opens=0):
        read_all(data)
    assert list(scratch.iterdir()) == []
    with budget(data, opens=10, logdir=tmp_path / "logs"):
        read_all(data)
    assert tfdarshan.open_session(tmp_path / "logs").files["POSIX_OPENS"].sum() == 10


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, "io_budget needs something to limit: bytes_read"),
        ({"include": ["/x"]}, "io_budget needs something to limit"),
        ({"byte_read": 1}, "io_budget() has no argument byte_read: did you mean bytes_read?"),
        ({"opens": -1}, "opens must be a number from 0 on"),
        ({"opens": "+5%"}, "opens must be a number from 0 on"),
        ({"opens": True}, "opens must be a number"),
        ({"opens": float("nan")}, "opens must be a number"),
        (
            {"io_time": "5MB"},
            "io_time must be a number from 0 on, or text with one of the units ns, us, ms, s, min, not '5MB'",
        ),
        ({"bytes_read": "1 parsec"}, "GiB, TiB, not '1 parsec'."),
        ({"opens": "3 files"}, "opens must be a number from 0 on, not '3 files'."),
        ({"opens": 1, "include": "/x"}, "include must be a list"),
    ],
)
def test_wrong_use_is_said_before_anything_is_recorded(limits, said):
    with pytest.raises(ConfigurationError) as error:
        io_budget(**limits)
    assert said in str(error.value)


def test_a_class_is_refused_as_its_tests_would_vanish():
    with pytest.raises(
        ConfigurationError, match="TestReads is a class, and a budget is for one call: give each"
    ):

        @io_budget(opens=1)
        class TestReads:
            pass


def test_a_budget_within_a_recording_is_refused(data, tmp_path):
    with tfdarshan.profile(tmp_path / "logs"), pytest.raises(tfdarshan.SessionActiveError):
        with budget(data, opens=1):
            pass


def test_a_child_that_leaves_the_block_leaves_the_budget_to_its_parent(run_python, tmp_path):
    # GIVEN a program whose child ends by an exception, as sys.exit() does, within the block
    (tmp_path / "job.py").write_text(
        "import os, sys\n"
        "from tfdarshan.testing import io_budget\n"
        "with io_budget(opens=9, include=['*/job.py'], exclude=['/*']) as held:\n"
        "    if os.fork() == 0:\n"
        "        open(__file__).close()\n"
        "        sys.exit()\n"
        "    os.wait()\n"
        "    open(__file__).close()\n"
        "print(held.spent)\n"
    )

    # WHEN
    done = run_python("job.py")

    # THEN the parent has the figures of both
    assert (done.stdout, done.stderr) == ("{'opens': 2}\n", "")


def test_a_budget_under_tfdarshan_run_is_refused(run_python, tmp_path):
    # GIVEN a program that opens more files before its budget than that allows
    (tmp_path / "job.py").write_text(
        "import tfdarshan\n"
        "from tfdarshan.testing import io_budget\n"
        "for _ in range(5):\n"
        "    open(__file__).close()\n"
        "try:\n"
        "    with io_budget(opens=1, include=['*/job.py'], exclude=['/*']):\n"
        "        open(__file__).close()\n"
        "except tfdarshan.SessionActiveError as error:\n"
        "    print(error)\n"
    )

    # WHEN
    done = run_python("-m", "tfdarshan", "run", "--logdir", "logs", "job.py")

    # THEN
    assert "a session already records this process, into " in done.stdout


TESTS = """
import os
import pytest

def read(path):
    handle = os.open(path, os.O_RDONLY)
    os.read(handle, 100)
    os.close(handle)

@pytest.fixture
def prepared(tmp_path):
    (tmp_path / "x").write_bytes(bytes(100))
    for _ in range(5):
        read(tmp_path / "x")
    return tmp_path / "x"

@pytest.mark.io_budget(opens=1, include=["*/x"], exclude=["/*"])
def test_within(prepared):
    read(prepared)

@pytest.mark.io_budget(opens=1, include=["*/x"], exclude=["/*"])
def test_beyond(prepared):
    read(prepared)
    read(prepared)

@pytest.mark.io_budget(opens=1)
def test_fails_itself(prepared):
    assert False, "its own reason"

def test_fixture(prepared, io_budget):
    with pytest.raises(AssertionError, match="2 budgets exceeded"):
        with io_budget(bytes_read=0, opens=0, include=["*/x"], exclude=["/*"]):
            read(prepared)
"""


def test_pytest_knows_the_marker_and_the_fixture(tmp_path):
    # GIVEN tests with a marker, whose fixture opens the file five times
    (tmp_path / "test_budgets.py").write_text(TESTS)
    # WHEN pytest runs them
    done = run_pytest(tmp_path, "--strict-markers")
    # THEN the bodies alone are counted
    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "BudgetExceeded: 1 budget exceeded:" in done.stdout
    assert "opens: 2, allowed 1 (opens=1)" in done.stdout
    assert "its own reason" in done.stdout


def test_a_marker_without_a_name_for_its_limit_is_wrong_use(tmp_path):
    # GIVEN
    (tmp_path / "test_budgets.py").write_text(
        "import pytest\n@pytest.mark.io_budget(5, opens=100)\ndef test_limited(): pass\n"
    )
    # WHEN
    done = run_pytest(tmp_path)
    # THEN
    assert "io_budget() takes nothing without a name" in done.stdout, done.stdout + done.stderr


def test_the_plugin_is_loaded_into_a_pytest_whose_hooks_know_no_wrapper(tmp_path):
    # GIVEN hooks as those of pluggy before 1.2, with pytest 7.3 or older
    code = (
        "import pytest\n"
        "known = pytest.hookimpl\n"
        "def hookimpl(function=None, hookwrapper=False, optionalhook=False, tryfirst=False, trylast=False):\n"
        "    return known(function, hookwrapper, optionalhook, tryfirst, trylast)\n"
        "pytest.hookimpl = hookimpl\n"
        "import tfdarshan.pytest_plugin\n"
    )
    # WHEN / THEN
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_plugin_imports_nothing_of_tfdarshan(tmp_path):
    code = (
        "import os, sys, pytest, tfdarshan.pytest_plugin\n"
        "print(sorted(n for n in sys.modules if n.startswith('tfdarshan') or n in ('numpy', 'pandas')))\n"
        "assert 'TFDARSHAN_SESSION' not in os.environ"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TFDARSHAN_SESSION"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "['tfdarshan', 'tfdarshan.pytest_plugin']"


@pytest.mark.parametrize(("name", "said"), [("io_time", True), ("opens", False)])
def test_a_time_that_was_exceeded_is_said_with_what_other_programs_took(name, said):
    # GIVEN a session beside other programs, which exceeded a limit
    columns = {column: [1.0] for column in BUDGETS[name]}
    rows = pd.DataFrame({"path": ["/data/a"], **columns})
    source = SimpleNamespace(files=SimpleNamespace(rows=rows), summary=SimpleNamespace(others_share=0.3))

    # WHEN
    message = testing._message([testing.Overrun(find_metric(name), 0.5, 1.0)], source)

    # THEN
    assert message.startswith("1 budget exceeded:")
    beside = "Other programs took 30.0 % of the processors: time the job on an idle machine."
    assert message.endswith(beside) is said


def test_budgets_are_figures_that_sessions_are_compared_by():
    assert all(find_metric(name).name == name for name in BUDGETS)
