"""Workers that are jobs of a real Slurm with two nodes say what one process says."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from tests.integration.slurm_cluster import DASK_SETTINGS, NoSlurmError, slurm_cluster
from tests.made_up_session import job_of, write_session


@pytest.fixture
def slurm():
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    with ExitStack() as cleanup:
        try:
            variables = cleanup.enter_context(slurm_cluster())
        except NoSlurmError as reason:
            pytest.skip(str(reason))
        yield variables


def summary(session, variables, *arguments):
    command = [sys.executable, "-m", "tfdarshan", "summary", str(session), "--json", *arguments]
    # Slurm leaves what jobs print in the folder that they were started in.
    ran = subprocess.run(
        command, cwd=session.parent, env=variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.long
def test_jobs_of_slurm_say_what_one_process_says(slurm, tmp_path):
    # GIVEN three processes that are in calls for 90 of each 100 ns together
    made = [
        job_of(
            [(at + 20 * n, at + 20 * n + 50, 1, "pread", 0, 50) for at in range(0, 10_000, 100)],
            ["/data/a"],
            [50],
            pid=100 + n,
        )
        for n in range(3)
    ]
    session = write_session(tmp_path, *made).path

    # WHEN
    found = summary(session, {**slurm, **DASK_SETTINGS}, "--cluster", "slurm:2")

    # THEN
    jobs = subprocess.check_output(["scontrol", "show", "job", "--oneliner"], env=slurm, text=True)
    assert jobs.count("JobName=dask-worker") == 2
    assert found == summary(session, os.environ)
    assert found["wall_clock"]["io_s"] == pytest.approx(9_000e-9, abs=1e-12)
