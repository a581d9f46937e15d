"""Every workload of the strace oracle with both engines in one run: they agree, or say why they cannot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.integration.darshan.conftest import SETTINGS
from tests.integration.oracle.test_strace_oracle import NEEDS
from tests.integration.oracle.workloads import GROUPS

TIMES = int(os.environ.get("TFD_DARSHAN_TIMES", "2"))

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

pytestmark = [pytest.mark.darshan, pytest.mark.timeout(600)]


@pytest.mark.parametrize("group", GROUPS)
def test_engines_agree(libdarshan: str, tmp_path: Path, group: str) -> None:
    missing = [module for module in NEEDS.get(group, ()) if find_spec(module) is None]
    if missing or (group == "compiled_io" and shutil.which("g++") is None):
        pytest.skip(f"{' and '.join(missing) or 'g++'} not installed")
    # GIVEN a group of workloads
    command = [sys.executable, "-W", "ignore", "-m", "tests.integration.darshan.workload_child", group]

    # WHEN they run with libdarshan, which stays loaded from session to session
    done = subprocess.run(
        [*command, str(tmp_path), str(TIMES)],
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

    # THEN every counter of every file is equal, or the difference has a name
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [result["name"] for result in results] == list(GROUPS[group]) * TIMES
    for result in results:
        verify, kinds = result["verify"], {entry["kind"] for entry in result["verify"]["differences"]}
        assert result["engine"]["name"] == "darshan", result
        assert result["engine"]["library"], result
        assert verify["unexplained_rows"] == 0, result
        assert kinds <= EXPECTED_KINDS, result
        if result["name"] in WHOLLY_SEEN:
            assert kinds <= {"two clocks", "excluded files"}, result
            assert verify["rows"] > 0
