"""The plots of docs/project/workloads.md: speed over threads, and the crossover."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfdarshan.reports.figures.theme import COMPUTE, EMPTY, GRID, INK, LIGHT, READ, WAIT, WRITE

from .result import Arm, Result

SPEEDUP_PLOT = "workloads-threads.svg"
CROSSOVER_PLOT = "workloads-crossover.svg"
PAPER_SPEEDUP = {"hdd": 2.3, "lustre": 7.8}


def draw_plots(results: list[Result], folder: Path) -> list[Path]:
    """Draw what the results allow into SVG files; return those that were written."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update(_theme())
    drawn = []
    micro = [result for result in results if result.workload == "microbench"]
    if micro:
        drawn.append(_draw(folder / SPEEDUP_PLOT, lambda axes: _speedups(axes, micro)))
    crossed = [result for result in results if _crossover_arms(result)]
    if crossed:
        drawn.append(_draw(folder / CROSSOVER_PLOT, lambda axes: _crossover(axes, crossed)))
    return drawn


def _theme() -> Any:
    """Return the I/O tab's colours, and what makes the same figures the same file."""
    from cycler import cycler

    ink, grid = INK[LIGHT], GRID[LIGHT]
    parts = ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor")
    return {
        "svg.hashsalt": "tfdarshan",
        "axes.prop_cycle": cycler(color=(READ, WRITE, COMPUTE, WAIT)),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": ink,
        "grid.color": grid,
        "axes.axisbelow": True,
        **dict.fromkeys(parts, ink),
    }


def _draw(path: Path, draw: Any) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 4))
    draw(axes)
    axes.legend(frameon=False)
    axes.grid()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path


def _speedups(axes: Any, results: list[Result]) -> None:
    for result in results:
        arms = sorted(
            (arm for arm in result.arms if arm.settings["variant"] == "read"),
            key=lambda arm: arm.settings["threads"],
        )
        threads = [arm.settings["threads"] for arm in arms]
        speedups = [1.0, *(arm.median("speedup") for arm in arms[1:])]
        spread = [
            [0.0, *(arm.median("speedup") - min(arm.values["speedup"]) for arm in arms[1:])],
            [0.0, *(max(arm.values["speedup"]) - arm.median("speedup") for arm in arms[1:])],
        ]
        drawn = axes.errorbar(threads, speedups, yerr=spread, marker="o", capsize=3, label=result.tier)
        if result.tier in PAPER_SPEEDUP:
            axes.plot(threads[-1], PAPER_SPEEDUP[result.tier], "x", color=drawn[0].get_color(), markersize=10)
    axes.plot([], [], "x", color=EMPTY, label="paper, 8 threads")
    axes.set(xlabel="threads", ylabel="speed, 1 thread = 1", xticks=[1, 2, 4, 8])


def _crossover(axes: Any, results: list[Result]) -> None:
    for result in results:
        arms = _crossover_arms(result)
        predicted_s = arms[0].settings["predicted_s"]
        compute = [arm.settings["compute_s"] / predicted_s for arm in arms]
        steps = [arm.median("step_s") / predicted_s for arm in arms]
        axes.plot(compute, steps, "o", label=f"{result.tier}, reading {predicted_s * 1e3:.0f} ms a step")
    farthest = max(arm.settings["factor"] for result in results for arm in _crossover_arms(result))
    axes.plot([0, 1, farthest], [1, 1, farthest], "--", color=EMPTY, label="model: the longer of both")
    axes.set(xlabel="computing by reading, model", ylabel="step by reading, model")


def _crossover_arms(result: Result) -> list[Arm]:
    return [arm for arm in result.arms if "factor" in arm.settings]
