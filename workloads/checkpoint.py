"""AlexNet with Adam, checkpointed every 20 of 100 steps, as the mini-application of arXiv 1810.03035."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from .alexnet_model import make_alexnet, warm_up
from .disk_room import check_room
from .experiment import Experiment
from .images import CALTECH101
from .result import ASSUMED, EXACT, SCALE, Arm, Result
from .settings import check_saves


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
PUBLISHED_PARAMETERS = 58_700_000
ADAM_COPIES = 3  # the weights and two moments
FLOAT_BYTES = 4


def run(experiment: Experiment) -> Result:
    """Train on one batch of noise, without and with checkpoints: their cost is what is asked for."""
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    result = experiment.new_result()
    model = make_alexnet(
        side=scale.side,
        classes=CALTECH101.classes,
        width=scale.width,
        optimizer="adam",
        seed=experiment.seed,
    )
    warm_up(model, scale.batch)
    saves = scale.steps // scale.every
    check_room(
        experiment.place.directory,
        model.count_params() * ADAM_COPIES * FLOAT_BYTES * saves,
        f"{saves} checkpoints",
    )
    result.settings |= {**vars(scale), "optimizer": "Adam", "parameters": model.count_params()}
    for repeat in range(experiment.repeats):
        for saving in (False, True):
            _run_once(experiment, result, model, scale, saving)
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    _rows(result, scale, model.count_params())
    return result


def _run_once(experiment: Experiment, result: Result, model: Any, scale: Scale, saving: bool) -> None:
    arm = result.arm("with checkpoints" if saving else "without")
    folder = experiment.place.directory / "checkpoints"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    random = np.random.default_rng(experiment.seed)
    images = random.random((scale.batch, scale.side, scale.side, 3), np.float32)
    labels = np.eye(CALTECH101.classes, dtype=np.float32)[np.arange(scale.batch) % CALTECH101.classes]
    checkpoint = tf.train.Checkpoint(model=model)
    stall_s = 0.0
    with experiment.session(arm, []) as session:
        start_s = time.perf_counter()
        for step in range(1, scale.steps + 1):
            model.train_on_batch(images, labels)
            if saving and step % scale.every == 0:
                save_s = time.perf_counter()
                checkpoint.write(str(folder / f"step-{step}"))
                stall_s += time.perf_counter() - save_s
        elapsed_s = time.perf_counter() - start_s
    arm.add(elapsed_s=elapsed_s, stall_s=stall_s, stall_percent=100 * stall_s / elapsed_s)
    if saving:
        _check_writes(result, arm, session.session.files, folder)
    shutil.rmtree(folder)


def _check_writes(result: Result, arm: Arm, rows: Any, folder: Path) -> None:
    """Hold the bytes written through stdio against the sizes of the files that came of them."""
    rows = rows[(rows["module"] == "STDIO") & rows["path"].str.startswith(f"{folder}/")]
    sums = dict.fromkeys(("data", "index"), 0)
    sizes = dict(sums)
    for kind in sums:
        # Shards are written into a temporary folder and renamed; the index is written where it stays.
        own = rows["path"].str.contains(".data-" if kind == "data" else ".index", regex=False)
        temporary = rows["path"].str.contains("_temp/", regex=False)
        own &= temporary if kind == "data" else ~temporary
        sums[kind] = int(rows.loc[own, "STDIO_BYTES_WRITTEN"].sum())
        sizes[kind] = sum(path.stat().st_size for path in folder.glob(f"*.{kind}*"))
        result.check(f"bytes written by fwrite: {kind} files", sizes[kind], sums[kind])
    saves = len(list(folder.glob("*.index")))
    writes = int(rows["STDIO_WRITES"].sum())
    arm.add(fwrites=writes / saves, megabytes=sum(sizes.values()) / saves / 1e6)


def _rows(result: Result, scale: Scale, parameters: int) -> None:
    plain, saving = result.arm("without"), result.arm("with checkpoints")
    note = "Adam's two moments beside the weights"
    result.row("parameters", f"{PUBLISHED_PARAMETERS:,}", f"{parameters:,}", _kind(scale))
    result.row(
        "size of a checkpoint", "600 to 700 MB", saving.worded("megabytes", "MB", 1), _kind(scale), note
    )
    equal = all(check.ok for check in result.checks)
    result.row("bytes by fwrite and sizes of the files", "equal", "equal" if equal else "NOT EQUAL", EXACT)
    result.row(
        "fwrites per checkpoint",
        "140",
        saving.worded("fwrites", "", 0),
        SCALE,
        "of another model and TensorFlow 2.2",
    )
    saving.values["cost_percent"] = [
        100 * (with_s / without_s - 1)
        for without_s, with_s in zip(plain.values["elapsed_s"], saving.values["elapsed_s"], strict=True)
    ]
    result.row(
        "stall by checkpoints, share of the run",
        "about 15 %",
        saving.worded("stall_percent", "%", 1),
        _kind(scale),
        "a CPU trains here: steps are slow beside the writes",
    )


def _kind(scale: Scale) -> str:
    return ASSUMED if scale == PUBLISHED else SCALE
