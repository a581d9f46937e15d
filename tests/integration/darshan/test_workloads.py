"""Every workload of the strace oracle with both engines in one run: they agree, or say why they cannot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.integration.darshan.conftest import SETTINGS
from tests.integration.darshan.workload_child import workloads
from tests.integration.oracle.needed_packages import NEEDS
from tests.integration.oracle.workloads import GROUPS

# What each kind of difference may be about; a workload that shows another kind is a defect.
EXPECTED_KINDS = {
    "stat names",
    "opened before",
    "unseen calls",
    "in-kernel copies",
    "mmap",
    "told of a close",
    "two clocks",
    "excluded files",
    "earlier sessions",
}
# Workloads in which libdarshan can see everything: they must agree but for the clocks.
WHOLLY_SEEN = {"descriptors", "vectors", "sync", "read_file", "write_file", "hdf5", "arrow_parquet"}

pytestmark = pytest.mark.darshan


@pytest.mark.timeout(600)
@pytest.mark.parametrize("threads", [1, 16])
@pytest.mark.parametrize("group", GROUPS)
def test_engines_agree(libdarshan: str, tmp_path: Path, group: str, threads: int) -> None:
    _check_that_engines_agree(group, tmp_path, times=2 if threads == 1 else 1, threads=threads)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("threads", [1, 16])
@pytest.mark.parametrize("group", GROUPS)
def test_engines_agree_twenty_times(
    libdarshan: str, tmp_path: Path, group: str, threads: int, turn: int
) -> None:
    # four processes of five times each: TensorFlow's own take minutes with 16 threads
    _check_that_engines_agree(group, tmp_path, times=5, threads=threads)


def _check_that_engines_agree(group: str, directory: Path, *, times: int, threads: int) -> None:
    missing = [module for module in NEEDS.get(group, ()) if find_spec(module) is None]
    if missing or (group == "compiled_io" and shutil.which("g++") is None):
        pytest.skip(f"{' and '.join(missing) or 'g++'} not installed")
    # GIVEN a group of workloads
    numbers = map(str, (times, threads))
    command = [sys.executable, "-W", "ignore", "-m", "tests.integration.darshan.workload_child", group]

    # WHEN they run with libdarshan, which stays loaded from session to session, each in every thread
    done = subprocess.run(
        [*command, str(directory), *numbers],
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

    # THEN every counter of every file is equal, or the difference has a name
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [result["name"] for result in results] == workloads(group, threads) * times
    for result in results:
        verify, kinds = result["verify"], {entry["kind"] for entry in result["verify"]["differences"]}
        assert result["engine"]["name"] == "darshan", result
        assert result["engine"]["library"], result
        assert verify["unexplained_rows"] == 0, json.dumps(result)
        assert verify["inexact_rows"] == 0, result
        assert kinds <= EXPECTED_KINDS, result
        if result["name"] in WHOLLY_SEEN:
            assert kinds <= {"two clocks", "excluded files"}, result
            assert verify["rows"] > 0
    print(_figures(results))


def _figures(results: list[dict[str, Any]]) -> str:
    """Describe how much was compared (pytest -rP shows it)."""
    kinds: Counter[str] = Counter()
    for result in results:
        kinds.update({entry["kind"]: entry["rows"] for entry in result["verify"]["differences"]})
    rows = sum(result["verify"]["rows"] for result in results)
    return f"{len(results)} sessions, {rows:,} rows, no unexplained difference; {dict(sorted(kinds.items()))}"
