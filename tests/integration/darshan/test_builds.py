"""Builds of libdarshan that sites have: stripped, and with MPI in a job that never calls MPI_Init."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfdarshan
from tests.integration.darshan_log.read_back import assert_equal_counters, our_segments, summary_report
from tests.pydarshan import darshan
from tfdarshan.formats.export.darshan_log import export_darshan

RunChild = Callable[..., str]

pytestmark = pytest.mark.darshan

USE = """
import os, sys, json, tfdarshan
folder = sys.argv[1]
with tfdarshan.profile(folder + "/logs", engine="darshan", include=[folder + "/"],
                       darshan_library=sys.argv[2]) as session:
    for number in range(30):
        fd = os.open(f"{folder}/{number}", os.O_RDWR | os.O_CREAT)
        os.write(fd, b"x" * 1000); os.pread(fd, 300, number); os.close(fd)
meta = session.meta[0]
rows = session.files[session.files["POSIX_WRITES"] > 0]
print(json.dumps({"engine": meta["engine"], "verify": meta["verify"], "path": str(session.path),
                  "reads": int(rows["POSIX_READS"].sum()),
                  "written": int(rows["POSIX_BYTES_WRITTEN"].sum())}))
"""


def assert_counts(done: dict[str, Any]) -> None:
    assert done["engine"]["name"] == "darshan"
    assert done["engine"]["rows"] == 30
    assert (done["reads"], done["written"]) == (30, 30_000)
    assert {entry["kind"] for entry in done["verify"]["differences"]} <= {"two clocks"}


def test_a_stripped_library_counts(libdarshan: str, run_child: RunChild, tmp_path: Path) -> None:
    # GIVEN a copy of it without its symbol table
    if shutil.which("strip") is None:
        pytest.skip("strip is not installed")
    stripped = tmp_path / "libdarshan.so"
    shutil.copy(libdarshan, stripped)
    subprocess.run(["strip", stripped], check=True)

    # WHEN a session uses it
    # THEN it counts every call
    assert_counts(json.loads(run_child(USE, str(tmp_path), str(stripped))))


def test_a_library_with_mpi_counts_without_mpi_init(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # GIVEN one built with MPI
    if b"PMPI_Init" not in Path(libdarshan).read_bytes():
        pytest.skip("this libdarshan was built without MPI")

    # WHEN a job that never calls MPI_Init uses it, and ends
    # THEN it counts every call, and the job ends as it should
    assert_counts(json.loads(run_child(USE, str(tmp_path), libdarshan)))


def test_logs_of_its_sessions_are_read_by_pydarshan(
    libdarshan: str, run_child: RunChild, tmp_path: Path
) -> None:
    # GIVEN a session that it counted
    session = tfdarshan.open_session(Path(json.loads(run_child(USE, str(tmp_path), libdarshan))["path"]))

    # WHEN the session is exported
    export_darshan(session, tmp_path / "job.darshan")

    # THEN PyDarshan has every counter of every file as the session has it, and makes its HTML summary
    assert_equal_counters(session, darshan.DarshanReport(str(tmp_path / "job.darshan"), read_all=True))
    assert len(our_segments(session)) == 60
    page = summary_report(tmp_path / "job.darshan", tmp_path)
    assert "Per-Module Statistics: POSIX" in page
    assert "Heat Map: HEATMAP POSIX" in page
