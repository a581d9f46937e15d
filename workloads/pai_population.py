"""A synthetic population of jobs for the Alibaba-PAI model: no trace of the cluster is published with it.

Each feature is lognormal, with medians and spreads chosen here so that PS/Worker jobs spend most of their
time on weights, as the paper reports of its cluster. What comes out of it was put in: it is no finding.
"""

from __future__ import annotations

import numpy as np

from .pai import (
    ALLREDUCE_LOCAL,
    PARAMETER_SERVER,
    Job,
    ethernet_speedup,
    moved_to,
    step_time,
    throughput,
)
from .step_parts import StorageDevice

JOBS = 2_000
# Remote storage with small files; assumed.
REMOTE_STORAGE = StorageDevice(latency_s=5e-3, bandwidth_bytes=2e9, concurrency=16)


def make_jobs(count: int = JOBS, seed: int = 0) -> list[Job]:
    """Return `count` synthetic PS/Worker jobs."""
    random = np.random.default_rng([seed, 5])

    def lognormal(median: float, sigma: float) -> np.ndarray:
        return median * np.exp(sigma * random.standard_normal(count))

    nodes = np.clip(lognormal(10, 1.2), 1, 256).astype(int)
    flops, touched = lognormal(0.4e12, 1.2), lognormal(20e9, 1.2)
    inputs, weights = lognormal(40e6, 1.8), lognormal(500e6, 1.5)
    return [
        Job(
            architecture=PARAMETER_SERVER,
            nodes=int(nodes[index]),
            flops=float(flops[index]),
            memory_bytes=float(touched[index]),
            input_bytes=float(inputs[index]),
            input_requests=float(inputs[index]) / 100e3,
            weight_bytes=float(weights[index]),
        )
        for index in range(count)
    ]


def communication_share(jobs: list[Job]) -> float:
    """Return the mean share of a step that weights take."""
    return float(np.mean([step_time(job).communication_share for job in jobs]))


def gaining_share(jobs: list[Job]) -> float:
    """Return the share of the jobs with a higher throughput on AllReduce-Local."""
    return float(np.mean([throughput(moved_to(job, ALLREDUCE_LOCAL)) > throughput(job) for job in jobs]))


def mean_ethernet_speedup(jobs: list[Job], gigabits: float = 100) -> float:
    """Return the mean gain of a step from faster Ethernet."""
    return float(np.mean([ethernet_speedup(job, gigabits) for job in jobs]))


def storage_share(jobs: list[Job], storage: StorageDevice = REMOTE_STORAGE) -> float:
    """Return the mean share of a step that reading takes."""
    times = [step_time(job, None, storage) for job in jobs]
    return float(np.mean([time.storage_s / time.total_s for time in times]))
