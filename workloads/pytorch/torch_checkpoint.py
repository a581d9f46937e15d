"""AlexNet with Adam, checkpointed every 20 of 100 steps as arXiv 1810.03035 has it, in PyTorch."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..disk_room import check_room
from ..experiment import Experiment
from ..images import CALTECH101
from ..result import ASSUMED, EXACT, SCALE, Arm, Result
from ..settings import check_saves
from .torch_alexnet import make_network, parameters, trainer


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large it is."""

    batch: int
    steps: int
    every: int
    side: int
    width: float

    def __post_init__(self) -> None:
        check_saves(self.steps, self.every)


PUBLISHED = Scale(batch=64, steps=100, every=20, side=224, width=1.0)
QUICK = Scale(batch=8, steps=25, every=5, side=64, width=0.5)
ADAM_COPIES = 3  # the weights and two moments
FLOAT_BYTES = 4


def run(experiment: Experiment) -> Result:
    """Train on one batch of noise, without and with checkpoints: their cost is what is asked for."""
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    result = experiment.new_result()
    network = make_network(
        side=scale.side, classes=CALTECH101.classes, width=scale.width, seed=experiment.seed
    )
    saves, count = scale.steps // scale.every, parameters(network)
    check_room(experiment.place.directory, count * ADAM_COPIES * FLOAT_BYTES * saves, f"{saves} checkpoints")
    result.settings |= {**vars(scale), "optimizer": "Adam", "parameters": count}
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
    for repeat in range(experiment.repeats):
        for saving in (False, True):
            _run_once(experiment, result, network, optimizer, scale, saving)
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    _rows(result, scale)
    return result


def _run_once(
    experiment: Experiment,
    result: Result,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    scale: Scale,
    saving: bool,
) -> None:
    arm = result.arm("with checkpoints" if saving else "without")
    folder = experiment.place.directory / "checkpoints"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    images = torch.rand(scale.batch, 3, scale.side, scale.side)
    labels = torch.arange(scale.batch) % CALTECH101.classes
    train, stall_s = trainer(network, optimizer), 0.0
    train(images, labels)
    with experiment.session(arm, []) as session:
        start_s = time.perf_counter()
        for step in range(1, scale.steps + 1):
            train(images, labels)
            if saving and step % scale.every == 0:
                save_s = time.perf_counter()
                state = {"model": network.state_dict(), "optimizer": optimizer.state_dict()}
                torch.save(state, str(folder / f"step-{step}.pt"))
                stall_s += time.perf_counter() - save_s
        elapsed_s = time.perf_counter() - start_s
    arm.add(elapsed_s=elapsed_s, stall_s=stall_s, stall_percent=100 * stall_s / elapsed_s)
    if saving:
        _check_writes(result, arm, session.session.files, folder)
    shutil.rmtree(folder)


def _check_writes(result: Result, arm: Arm, rows: Any, folder: Path) -> None:
    """Hold the bytes written against the sizes of the files that came of them."""
    rows = rows[(rows["module"] == "POSIX") & rows["path"].str.startswith(f"{folder}/")]
    sizes = [path.stat().st_size for path in folder.glob("*.pt")]
    result.check("bytes written by torch.save", sum(sizes), int(rows["POSIX_BYTES_WRITTEN"].sum()))
    arm.add(writes=int(rows["POSIX_WRITES"].sum()) / len(sizes), megabytes=sum(sizes) / len(sizes) / 1e6)


def _rows(result: Result, scale: Scale) -> None:
    saving = result.arm("with checkpoints")
    note = "Adam's two moments beside the weights"
    result.row(
        "size of a checkpoint", "600 to 700 MB", saving.worded("megabytes", "MB", 1), _kind(scale), note
    )
    equal = all(check.ok for check in result.checks)
    result.row("bytes written and sizes of the files", "equal", "equal" if equal else "NOT EQUAL", EXACT)
    result.row("writes per checkpoint", "140 by fwrite", saving.worded("writes", "", 0), SCALE)
    result.row(
        "stall by checkpoints, share of the run",
        "about 15 %",
        saving.worded("stall_percent", "%", 1),
        _kind(scale),
        "a CPU trains here: steps are slow beside the writes",
    )


def _kind(scale: Scale) -> str:
    return ASSUMED if scale == PUBLISHED else SCALE
