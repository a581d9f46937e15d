"""Every file of every workload: the session says what strace saw in the same run."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from tests.integration.oracle import strace_log
from tests.integration.oracle.needed_packages import NEEDS
from tests.integration.oracle.rules import differences
from tests.integration.oracle.strace_log import Call
from tests.integration.oracle.tally import FileTally, tally, window
from tests.integration.oracle.workloads import GROUPS, group_of

REPOSITORY = Path(__file__).parents[3]
# Groups whose workloads one process runs, in sessions of their own: what they import takes long under strace.
PROCESSES = (
    ("tensorflow_io", "keras_io"),
    ("numpy_io", "array_io", "table_io", "python_io", "compiled_io"),
)
pytestmark = [
    pytest.mark.skipif(not strace_log.is_available(), reason="strace is missing, or may not trace here"),
    pytest.mark.timeout(600),
]


@dataclass(frozen=True)
class Run:
    """What is left of a process."""

    directory: Path
    calls: list[Call]
    output: str


@pytest.fixture(scope="module")
def run_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Run a group and those of its process under strace, once for all their workloads."""

    @cache
    def run(groups: tuple[str, ...]) -> Run:
        here = [group for group in groups if not _missing(group)]
        return _run_groups(here, tmp_path_factory.mktemp(groups[0]))

    def run_process(group: str) -> Run:
        if missing := _missing(group):
            pytest.skip(f"{' and '.join(missing)} not installed")
        return run(next(groups for groups in PROCESSES if group in groups))

    return run_process


def _missing(group: str) -> list[str]:
    return [module for module in NEEDS.get(group, ()) if find_spec(module) is None]


def _run_groups(groups: list[str], directory: Path) -> Run:
    environment = os.environ | {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TFD_ORACLE_LIBRARIES": str(directory / "libraries"),
        "PYTHONPATH": str(REPOSITORY),
    }
    command = [sys.executable, "-m", "tests.integration.oracle.child", str(directory), *groups]
    done = strace_log.run(command, directory / "strace", timeout_s=300, environment=environment)
    output = f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return Run(directory, strace_log.read_calls(directory / "strace"), output)


@pytest.mark.parametrize("name", [name for names in GROUPS.values() for name in names])
def test_session_says_what_strace_saw(run_with: Callable[[str], Run], name: str) -> None:
    if name.startswith("cpp_") and shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    # GIVEN a workload that ran under strace and in a session
    run = run_with(group_of(name))
    home = run.directory / name
    error = home / "error.txt"
    assert not error.exists(), error.read_text()
    assert (home / "files.pickle").exists(), run.output
    files = pd.read_pickle(home / "files.pickle")

    # WHEN every file it used is compared
    seen = tally(window(run.calls, name), home / "data")
    found = differences(name, files, seen, home / "data")

    # THEN they agree, and there was something to compare
    assert not found, "\n".join(found)
    assert any(file != FileTally(is_directory=file.is_directory) for file in seen.values())
