"""Alibaba-PAI's numbers (arXiv 1910.05930) out of a population on disk, through the fleet, on Dask."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.integration.fleet.equal import rows_of
from tests.pai_sessions import write_pai_sessions
from tfdarshan.commands import main
from tfdarshan.workloads.pai import (
    ALLREDUCE_LOCAL,
    PARAMETER_SERVER,
    SERVER_GPUS,
    ethernet_speedup,
    moved_to,
    step_time,
    throughput,
    weights_speedup,
)
from tfdarshan.workloads.pai_population import make_jobs

pytest.importorskip("distributed")

pytestmark = pytest.mark.long

JOBS = 400
# What the seconds of a step, in ns, are rounded by.
ROUNDING = 1e-5
# Of T_w of a PS/Worker job, 1 / 3.125 GB/s is Ethernet's and 1 / 10 GB/s that of PCIe.
ON_ETHERNET = (1 / 3.125) / (1 / 3.125 + 1 / 10)


def faster_on_one_server(row, replicas):
    """Return whether a job gains, by its row in the catalogue and what the cluster knows of its replicas."""
    compute_s = row["steps_s"] - row["device_copy_s"] - row["communication_s"]
    gpus = min(replicas, SERVER_GPUS)
    there_s = (
        row["device_copy_s"] * gpus
        + compute_s
        + row["communication_s"] / weights_speedup(PARAMETER_SERVER, ALLREDUCE_LOCAL)
    )
    return gpus / there_s > replicas / row["steps_s"]


def test_the_papers_numbers_come_out_of_a_population_on_disk(tmp_path, capsys):
    # GIVEN
    jobs = make_jobs(JOBS, seed=3)
    paths = write_pai_sessions(tmp_path / "in", jobs)
    where = ("--catalogue", str(tmp_path / "catalogue"))

    # WHEN a Dask cluster reads them
    rows, said = rows_of(capsys, str(tmp_path / "in"), "--cluster", "local:2", *where)
    asked = ("--link", "100Gb", "--link-share", repr(ON_ETHERNET), "--json")
    assert main(["fleet", "whatif", *asked, *where]) == 0
    faster = json.loads(capsys.readouterr().out)

    # THEN each step is as the model has it
    assert (said["inputs"], said["totals"]["jobs"], faster["talking_jobs"]) == (JOBS, JOBS, JOBS)
    steps = [step_time(job) for job in jobs]
    parts = {part["name"]: part for part in said["breakdown"]}
    shares = {
        name: np.mean([getattr(step, part) / step.total_s for step in steps])
        for name, part in (("T_d", "data_s"), ("T_c", "compute_s"), ("T_w", "weights_s"))
    }
    for name, share in shares.items():
        assert parts[name]["known_jobs"] == JOBS
        assert parts[name]["mean_share"] == pytest.approx(share, abs=ROUNDING)
    gains = [faster_on_one_server(rows[str(path)], job.nodes) for path, job in zip(paths, jobs, strict=True)]
    assert gains == [throughput(moved_to(job, ALLREDUCE_LOCAL)) > throughput(job) for job in jobs]
    assert faster["step_speedup"] == pytest.approx(
        np.mean([ethernet_speedup(job, 100) for job in jobs]), abs=ROUNDING
    )
    # AND together they are the paper's cluster
    assert parts["T_w"]["mean_share"] == pytest.approx(0.62, abs=0.03)
    assert np.mean(gains) == pytest.approx(0.60, abs=0.05)
    assert faster["step_speedup"] == pytest.approx(1.7, abs=0.1)
    with capsys.disabled():
        print(
            f"\n{JOBS} sessions: {parts['T_w']['mean_share']:.1%} of a step in communication, "
            f"{np.mean(gains):.1%} of jobs gain on one server, {faster['step_speedup']:.2f}x on 100 Gb/s"
        )


def test_the_population_is_on_disk_alone(tmp_path):
    # GIVEN
    (path, other) = write_pai_sessions(Path(tmp_path) / "in", make_jobs(2, seed=3))

    # THEN what differs between two jobs is what their steps and their devices say
    kept = {one.name for one in path.iterdir()}
    same = {name for name in kept if (path / name).read_bytes() == (other / name).read_bytes()}
    assert {name.split(".")[2] for name in kept - same} == {"meta"}
