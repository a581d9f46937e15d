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
pytestmark = [
    pytest.mark.skipif(not strace_log.is_available(), reason="strace is missing, or may not trace here"),
    pytest.mark.timeout(600),
]


@dataclass(frozen=True)
class GroupRun:
    """What is left of a group's process."""

    directory: Path
    calls: list[Call]
    output: str


@pytest.fixture(scope="module")
def run_group(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], GroupRun]:
    """Run a group under strace, once for all its workloads."""

    @cache
    def run(group: str) -> GroupRun:
        missing = [module for module in NEEDS.get(group, ()) if find_spec(module) is None]
        if missing:
            pytest.skip(f"{' and '.join(missing)} not installed")
        return _run_group(group, tmp_path_factory.mktemp(group))

    return run


def _run_group(group: str, directory: Path) -> GroupRun:
    environment = os.environ | {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TFD_ORACLE_LIBRARIES": str(directory / "libraries"),
        "PYTHONPATH": str(REPOSITORY),
    }
    command = [sys.executable, "-m", "tests.integration.oracle.child", group, str(directory)]
    done = strace_log.run(command, directory / "strace", timeout_s=300, environment=environment)
    output = f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return GroupRun(directory, strace_log.read_calls(directory / "strace"), output)


@pytest.mark.parametrize("name", [name for names in GROUPS.values() for name in names])
def test_session_says_what_strace_saw(run_group: Callable[[str], GroupRun], name: str) -> None:
    if name.startswith("cpp_") and shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    # GIVEN a workload that ran under strace and in a session
    group_run = run_group(group_of(name))
    home = group_run.directory / name
    error = home / "error.txt"
    assert not error.exists(), error.read_text()
    assert (home / "files.pickle").exists(), group_run.output
    files = pd.read_pickle(home / "files.pickle")

    # WHEN every file it used is compared
    seen = tally(window(group_run.calls, name), home / "data")
    found = differences(name, files, seen, home / "data")

    # THEN they agree, and there was something to compare
    assert not found, "\n".join(found)
    assert any(file != FileTally(is_directory=file.is_directory) for file in seen.values())
