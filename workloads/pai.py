"""Alibaba-PAI's model of a training step (arXiv 1910.05930), with a term for storage added.

A step takes T = T_s + T_d + T_c + T_w, without overlap:

- T_s, ours: input is read from storage, `requests x latency / concurrency + bytes / bandwidth`;
- T_d: input goes to the GPU over PCIe, which the replicas of one server share;
- T_c: `FLOPs / peak + bytes touched / memory bandwidth`;
- T_w: weights pass, one after the other, every link of the architecture (`LINKS`).

Every peak is multiplied with one efficiency. The paper states no storage term; with storage None the model is
the paper's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .step_parts import StepTime, StorageDevice

GIGABIT = 1e9 / 8
SERVER_GPUS = 8

ONE_GPU = "1w1g"
ONE_SERVER = "1wng"
PARAMETER_SERVER = "PS/Worker"
ALLREDUCE_LOCAL = "AllReduce-Local"
ALLREDUCE_CLUSTER = "AllReduce-Cluster"

# The links that weights pass in each architecture.
LINKS = {
    ONE_GPU: (),
    ONE_SERVER: ("pcie",),
    PARAMETER_SERVER: ("ethernet", "pcie"),
    ALLREDUCE_LOCAL: ("nvlink",),
    ALLREDUCE_CLUSTER: ("ethernet", "nvlink"),
}
# Where the replicas of a server share its PCIe for their input.
SHARED_PCIE = (ONE_SERVER, ALLREDUCE_LOCAL)


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Peaks, per second, and the share of them that is reached; defaults as the paper assumes them."""

    gpu_flops: float = 11e12
    memory_bytes: float = 1e12
    ethernet_bytes: float = 25 * GIGABIT
    pcie_bytes: float = 10e9
    nvlink_bytes: float = 50e9
    efficiency: float = 0.7

    def link_bytes(self, link: str) -> float:
        """Return what a link moves per second, efficiency included."""
        peaks = {"ethernet": self.ethernet_bytes, "pcie": self.pcie_bytes, "nvlink": self.nvlink_bytes}
        return peaks[link] * self.efficiency


@dataclass(frozen=True, kw_only=True)
class Job:
    """What one replica does in one step."""

    architecture: str
    nodes: int = 1  # replicas
    flops: float = 0.0
    memory_bytes: float = 0.0
    input_bytes: float = 0.0
    input_requests: float = 0.0
    weight_bytes: float = 0.0


def step_time(job: Job, hardware: Hardware | None = None, storage: StorageDevice | None = None) -> StepTime:
    """Return the time of a step by the model."""
    hardware = hardware or Hardware()
    sharers = min(job.nodes, SERVER_GPUS) if job.architecture in SHARED_PCIE else 1
    storage_s = storage.seconds(job.input_requests, job.input_bytes) if storage is not None else 0.0
    compute_s = job.flops / hardware.gpu_flops + job.memory_bytes / hardware.memory_bytes
    return StepTime(
        storage_s=storage_s,
        data_s=job.input_bytes * sharers / hardware.link_bytes("pcie"),
        compute_s=compute_s / hardware.efficiency,
        weights_s=sum(job.weight_bytes / hardware.link_bytes(link) for link in LINKS[job.architecture]),
    )


def throughput(job: Job, hardware: Hardware | None = None, storage: StorageDevice | None = None) -> float:
    """Return the job's steps per second times its replicas."""
    return job.nodes / step_time(job, hardware, storage).total_s


def moved_to(job: Job, architecture: str) -> Job:
    """Return the job on another architecture; a local one has the GPUs of one server."""
    nodes = min(job.nodes, SERVER_GPUS) if architecture == ALLREDUCE_LOCAL else job.nodes
    return replace(job, architecture=architecture, nodes=nodes)


def weights_speedup(source: str, target: str) -> float:
    """Return the bound on the gain from `source` to `target`, that of a job that only exchanges weights."""
    job = Job(architecture=source, weight_bytes=1e9)
    return step_time(job).weights_s / step_time(replace(job, architecture=target)).weights_s


def ethernet_speedup(job: Job, gigabits: float) -> float:
    """Return how much faster the job's steps are when Ethernet goes from 25 Gb/s to `gigabits`."""
    faster = Hardware(ethernet_bytes=gigabits * GIGABIT)
    return step_time(job).total_s / step_time(job, faster).total_s
