"""What checkpoints cost a job in six ways of saving them, on storage as slow as the papers' hard disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.hdd_tier import NoTierError, hdd_tier
from tests.perf.row import Row, single_row

WAYS = ("none", "direct", "direct + fsync", "TensorFlow async", "Orbax async", "burst buffer")
PAPER = "arXiv 1810.03035: saving to the burst buffer cost 2.6x less than direct saving"


@dataclass(frozen=True)
class CheckpointJob:
    """The job: steps, a checkpoint every so many, and by what its 704 MB are divided.

    With the pause, saving costs 4 to 10 % of the run without a sync and about 25 % with one; the paper
    measured about 15 %. A shorter one asks for checkpoints faster than the tier takes them.
    """

    steps: int = 100
    every: int = 20
    pause_s: float = 1.0
    scale: int = 1


def checkpoint_cost(folder: Path, *, job: CheckpointJob) -> tuple[list[Row], list[str]]:
    """Return the rows, and a sentence for each way that could not be measured."""
    room = (4 << 30) // job.scale + (64 << 20)
    try:
        with hdd_tier(folder, room) as slow:
            return _measured(folder, slow, job)
    except NoTierError as error:
        return [], [f"Checkpoints are left out: {error}."]


def _measured(folder: Path, slow: Path, job: CheckpointJob) -> tuple[list[Row], list[str]]:
    found: dict[str, dict[str, Any]] = {}
    missing = []
    for way in WAYS:
        progress.show(f"checkpoints: {way}")
        try:
            found[way] = _run(way, folder, slow, job)
        except RuntimeError as error:
            missing.append(f"Checkpoints by {way} are left out: {str(error).strip().splitlines()[-1]}")
    return _rows(found, _plain_copy_s(folder, slow, found["none"]["bytes"])), missing


def _run(way: str, folder: Path, slow: Path, job: CheckpointJob) -> dict[str, Any]:
    fast, target = folder / "fast", slow / "checkpoints"
    for tier in (fast, target):
        shutil.rmtree(tier, ignore_errors=True)
        tier.mkdir()
    subprocess.run(["sync", "--file-system", os.fspath(slow)], check=True)
    python = os.environ.get("ORBAX_PYTHON") if way.startswith("Orbax") else None
    if way.startswith("Orbax") and not (python and Path(python).exists()):
        raise RuntimeError("ORBAX_PYTHON names no Python with orbax-checkpoint")
    arguments = ("--steps", job.steps, "--every", job.every, "--pause-s", job.pause_s, "--scale", job.scale)
    try:
        result: dict[str, Any] = run_child("checkpoint_probe", way, fast, target, *arguments, python=python)
    finally:
        shutil.rmtree(fast, ignore_errors=True)
    if result["identical"] is False:
        raise RuntimeError("what was restored is not what was saved")
    return result


def _plain_copy_s(folder: Path, slow: Path, size_bytes: int) -> float:
    """Return the seconds in which the bytes of one checkpoint are copied and synced."""
    source, target = folder / "plain", slow / "plain"
    source.write_bytes(os.urandom(1 << 20) * (size_bytes >> 20))
    began_s = time.monotonic()
    shutil.copyfile(source, target)
    descriptor = os.open(target, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    return time.monotonic() - began_s


def _rows(found: dict[str, dict[str, Any]], plain_s: float) -> list[Row]:
    rows = []
    base_s = found["none"]["run_s"]
    synced = found.get("direct + fsync")
    mb = found["none"]["bytes"] / 1e6
    group = f"checkpoints of {mb:,.0f} MB on the hdd tier: waiting for all saves"
    for way, result in found.items():
        note = f"run {result['run_s']:.1f} s"
        if way != "none":
            share = result["run_s"] / base_s
            note += f", {share:.3f} of none; durable after {result['durable_s']:.1f} s"
        wanted = sum(synced["stalls_s"]) / 50 if synced and way == "burst buffer" else None
        rows.append(single_row(group, way, "s", [sum(result["stalls_s"])], wanted=wanted, note=note))
    burst = found.get("burst buffer")
    if burst:
        rows += _burst_rows(burst, found, plain_s)
    return rows


def _burst_rows(burst: dict[str, Any], found: dict[str, dict[str, Any]], plain_s: float) -> list[Row]:
    group = "the burst buffer alone"
    rows = [
        single_row(
            group,
            "from save() until durable and verified",
            "s",
            burst["lags_s"],
            wanted=1.3 * plain_s,
            note=f"a plain copy with fsync takes {plain_s:.2f} s",
        )
    ]
    if "direct" in found and sum(burst["stalls_s"]):
        ratio = sum(found["direct"]["stalls_s"]) / sum(burst["stalls_s"])
        rows.append(single_row(group, "waiting, direct / burst buffer", "x", [ratio], note=PAPER))
    run_ratio = burst["run_s"] / found["none"]["run_s"]
    rows.append(single_row(group, "run time, burst buffer / no checkpoints", "x", [run_ratio], wanted=1.02))
    if burst["draining_step_s"] and burst["quiet_step_s"]:
        ratio = burst["draining_step_s"] / found["none"]["quiet_step_s"]
        note = f"medians, {burst['draining_steps']} steps while it drains"
        rows.append(
            single_row(
                group, "a step while it drains / without checkpoints", "x", [ratio], wanted=1.05, note=note
            )
        )
    return rows
