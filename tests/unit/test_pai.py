"""Alibaba-PAI's model: its bounds out of its arithmetic, each part by hand, and the storage term."""

from __future__ import annotations

import pytest

from tfdarshan.workloads.pai import (
    ALLREDUCE_CLUSTER,
    ALLREDUCE_LOCAL,
    LINKS,
    ONE_SERVER,
    PARAMETER_SERVER,
    Hardware,
    Job,
    StorageDevice,
    ethernet_speedup,
    moved_to,
    step_time,
    throughput,
    weights_speedup,
)
from tfdarshan.workloads.pai_population import (
    communication_share,
    gaining_share,
    make_jobs,
    mean_ethernet_speedup,
    storage_share,
)


def test_the_papers_bounds_come_out_of_the_arithmetic() -> None:
    # THEN (1/3.125 + 1/10) / (1/50), (1/3.125 + 1/10) / (1/3.125 + 1/50), (1/3.125 + 1/10) / (1/12.5 + 1/10)
    assert weights_speedup(PARAMETER_SERVER, ALLREDUCE_LOCAL) == pytest.approx(21.0, rel=1e-12)
    assert weights_speedup(PARAMETER_SERVER, ALLREDUCE_CLUSTER) == pytest.approx(1.235, abs=5e-4)
    job = Job(architecture=PARAMETER_SERVER, weight_bytes=1e9)
    assert ethernet_speedup(job, 100) == pytest.approx(7 / 3, rel=1e-12)


def test_no_job_gains_more_than_the_bounds() -> None:
    for job in make_jobs(300):
        time = step_time(job).total_s
        for target, bound in ((ALLREDUCE_LOCAL, 21.0), (ALLREDUCE_CLUSTER, 0.42 / 0.34)):
            moved = Job(**{**vars(job), "architecture": target, "nodes": 1})
            assert time / step_time(moved).total_s < bound
        assert 1 < ethernet_speedup(job, 100) < 7 / 3


def test_each_part_of_a_step_by_hand() -> None:
    # GIVEN round figures: 11 TFLOP, 1 TB touched, 1 GB of input in 100 requests, 1 GB of weights
    job = Job(
        architecture=PARAMETER_SERVER,
        flops=11e12,
        memory_bytes=1e12,
        input_bytes=1e9,
        input_requests=100,
        weight_bytes=1e9,
    )
    # WHEN at full efficiency, with a device of 10 ms and 100 MB/s that takes 4 requests at once
    time = step_time(
        job, Hardware(efficiency=1), StorageDevice(latency_s=0.01, bandwidth_bytes=1e8, concurrency=4)
    )
    # THEN
    assert time.storage_s == pytest.approx(100 * 0.01 / 4 + 10)
    assert time.data_s == pytest.approx(0.1)
    assert time.compute_s == pytest.approx(2)
    assert time.weights_s == pytest.approx(1 / 3.125 + 0.1)
    assert time.total_s == pytest.approx(10.25 + 0.1 + 2 + 0.42)
    assert time.communication_share == pytest.approx(0.42 / 12.77)
    # AND the efficiency divides what the peaks are of; without storage the step is the paper's
    slower = step_time(job, Hardware(efficiency=0.5))
    assert slower.total_s == pytest.approx(2 * (0.1 + 2 + 0.42))
    assert slower.storage_s == 0


def test_the_replicas_of_a_server_share_its_pcie() -> None:
    alone = step_time(Job(architecture=ONE_SERVER, input_bytes=1e9)).data_s
    assert step_time(Job(architecture=ONE_SERVER, nodes=4, input_bytes=1e9)).data_s == pytest.approx(
        4 * alone
    )
    spread = Job(architecture=PARAMETER_SERVER, nodes=4, input_bytes=1e9)
    assert step_time(spread).data_s == pytest.approx(alone)


def test_a_job_moved_to_one_server_has_its_gpus() -> None:
    job = Job(architecture=PARAMETER_SERVER, nodes=100, flops=1e12)
    assert moved_to(job, ALLREDUCE_LOCAL).nodes == 8
    assert moved_to(job, ALLREDUCE_CLUSTER).nodes == 100
    assert throughput(job) == pytest.approx(100 / 8 * throughput(moved_to(job, ALLREDUCE_LOCAL)))


def test_every_architecture_has_its_links() -> None:
    for architecture in LINKS:
        assert step_time(Job(architecture=architecture, weight_bytes=1e9)).weights_s >= 0


def test_the_synthetic_population_is_like_the_cluster_by_construction() -> None:
    jobs = make_jobs()
    assert jobs == make_jobs()
    assert communication_share(jobs) == pytest.approx(0.62, abs=0.02)
    assert gaining_share(jobs) == pytest.approx(0.60, abs=0.04)
    assert mean_ethernet_speedup(jobs) == pytest.approx(1.7, abs=0.1)
    assert 0 < storage_share(jobs) < 1
