"""Runs Alibaba-PAI's model: its bounds, and a synthetic population."""

from __future__ import annotations

from .experiment import Experiment
from .pai import (
    ALLREDUCE_CLUSTER,
    ALLREDUCE_LOCAL,
    PARAMETER_SERVER,
    Job,
    ethernet_speedup,
    weights_speedup,
)
from .pai_population import (
    JOBS,
    REMOTE_STORAGE,
    communication_share,
    gaining_share,
    make_jobs,
    mean_ethernet_speedup,
    storage_share,
)
from .result import ASSUMED, EXACT, Result

SYNTHETIC = "synthetic population, made to fit"


def run(experiment: Experiment) -> Result:
    """Compute; nothing is read."""
    result = experiment.new_result()
    local = weights_speedup(PARAMETER_SERVER, ALLREDUCE_LOCAL)
    cluster = weights_speedup(PARAMETER_SERVER, ALLREDUCE_CLUSTER)
    faster = ethernet_speedup(Job(architecture=PARAMETER_SERVER, weight_bytes=1e9), 100)
    result.row("bound: PS/Worker to AllReduce-Local", "21.0x", f"{local:.1f}x", EXACT)
    result.row("bound: PS/Worker to AllReduce-Cluster", "1.235x", f"{cluster:.3f}x", EXACT)
    result.row("bound: 25 to 100 Gb/s, weights only", "2.33x", f"{faster:.2f}x", EXACT)
    # In permille, as checks are whole numbers.
    result.check("PS/Worker to AllReduce-Local, bound in permille", 21_000, round(1000 * local))
    result.check("PS/Worker to AllReduce-Cluster, bound in permille", 1_235, round(1000 * cluster))
    result.check("25 to 100 Gb/s, bound in permille", 2_333, round(1000 * faster))
    jobs = make_jobs(experiment.files or JOBS, experiment.seed)
    result.settings["jobs"] = len(jobs)
    share = 100 * communication_share(jobs)
    result.row("time in communication", "62 %", f"{share:.0f} %", ASSUMED, SYNTHETIC)
    gaining = 100 * gaining_share(jobs)
    result.row("PS/Worker jobs faster on AllReduce-Local", "60 %", f"{gaining:.0f} %", ASSUMED, SYNTHETIC)
    speedup = mean_ethernet_speedup(jobs)
    result.row("mean gain from 25 to 100 Gb/s", "1.7x", f"{speedup:.2f}x", ASSUMED, SYNTHETIC)
    waiting = 100 * storage_share(jobs)
    result.row("time in storage", "no such term", f"{waiting:.0f} %", ASSUMED, _storage_note())
    return result


def _storage_note() -> str:
    return (
        f"{SYNTHETIC}; storage of {REMOTE_STORAGE.latency_s * 1e3:g} ms, "
        f"{REMOTE_STORAGE.bandwidth_bytes / 1e9:g} GB/s, {REMOTE_STORAGE.concurrency} requests at once"
    )
