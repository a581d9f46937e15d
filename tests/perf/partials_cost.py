"""What it costs to ask how long calls took, by their number and by who reads: CPU time and memory."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.perf import progress
from tests.perf.child import run_child
from tests.perf.row import Row, single_row

GROUP = "partials"
WANTED_NS, WANTED_MIB = 250.0, 1e9 / (1 << 20)
# Dask may take so many times the processor time of processes of this machine.
WANTED_DASK = 1.25
RUNNERS = ("serial", "pool:1", "pool:2", "local:2")
# Two jobs of a Slurm with two nodes, which are this machine.
SLURM = "slurm:2"
MILLION = 1_000_000


def partials_cost(folder: Path, *, events: Sequence[int], compared: int) -> tuple[list[Row], list[str]]:
    """Return a row for each number of events, and for each runner at `compared` of them."""
    rows: list[Row] = []
    missing: list[str] = []
    for count in events:
        label = f"{count / MILLION:g} M events"
        progress.show(f"adding up {label}")
        run_child("partials_probe", "make", folder / str(count), count)
        runners = RUNNERS if count == compared else RUNNERS[:1]
        found = {name: run_child("partials_probe", "answer", folder / str(count), name) for name in runners}
        if count == compared:
            try:
                found[SLURM] = run_child("partials_probe", "answer", folder / str(count), SLURM)
            except RuntimeError as error:
                missing.append(f"Dask on Slurm is left out: {str(error).splitlines()[-1]}")
        shutil.rmtree(folder / str(count))
        serial = found["serial"]
        large = count >= 10 * MILLION
        rows += [
            single_row(
                GROUP, f"{label}, CPU per event", "ns", [serial["ns_per_event"]],
                wanted=WANTED_NS if large else None, note=f"{serial['cpu_s']:.1f} s of processor time",
            ),
            single_row(
                GROUP, f"{label}, memory", "MiB", [serial["peak_mib"]], wanted=WANTED_MIB if large else None
            ),
        ]  # fmt: skip
        if count == compared:
            rows += _runners(label, found)
    return rows, missing


def _cpu_words(took: dict[str, float]) -> str:
    """Describe what all processes took, and what only one of them can do: merging what the others give."""
    return f"{took['cpu_s']:.1f} s of CPU, {took['own_cpu_s']:.1f} s of it by the one that asks"


def _runners(label: str, found: dict[str, dict[str, float]]) -> list[Row]:
    pool, dask = found["pool:2"], found["local:2"]
    return [
        *(
            single_row(GROUP, f"{label}, {name}", "s", [took["wall_s"]], note=_cpu_words(took))
            for name, took in found.items()
        ),
        *(
            single_row(
                GROUP, f"{label}, {name}, memory of the largest process", "MiB", [took["peak_mib"]],
                wanted=WANTED_MIB,
            )
            for name, took in found.items()
            if name not in (RUNNERS[0], SLURM)  # whose workers are no children of who asks
        ),
        single_row(
            GROUP, "Dask's processor time against the pool's", "x", [dask["cpu_s"] / pool["cpu_s"]],
            wanted=WANTED_DASK,
        ),
        *([_slurm_row(found[SLURM], pool)] if SLURM in found else []),
        single_row(
            GROUP, "two processes against one, in time", "x", [found["pool:1"]["wall_s"] / pool["wall_s"]],
        ),
    ]  # fmt: skip


def _slurm_row(slurm: dict[str, float], pool: dict[str, float]) -> Row:
    return single_row(
        GROUP, "Dask on Slurm's processor time against the pool's", "x", [slurm["cpu_s"] / pool["cpu_s"]],
        wanted=WANTED_DASK, note=f"{slurm['start_cpu_s']:.1f} s of CPU are the start of its workers",
    )  # fmt: skip
