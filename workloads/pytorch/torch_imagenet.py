"""AlexNet on ImageNet-like files as tf-Darshan's case study, arXiv 2008.04395, in PyTorch."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, default_collate

from ..counted_calls import check_counts, counted_on, expected_of
from ..experiment import Experiment
from ..images import IMAGENET, ImageFile
from ..result import EXACT, SCALE, SHAPE, Arm, Result
from ..step_times import run_steps
from .torch_alexnet import make_network, trainer


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large it is."""

    batch: int
    steps: int
    side: int
    width: float
    workers: tuple[int, int]


PUBLISHED = Scale(batch=256, steps=500, side=224, width=1.0, workers=(0, 28))
QUICK = Scale(batch=32, steps=12, side=64, width=0.125, workers=(0, 4))
PREFETCH = 10


class Images(Dataset):  # type: ignore[misc]
    """Decoded files with their labels, None for what cannot be decoded."""

    def __init__(self, files: Sequence[ImageFile], side: int) -> None:
        self._files = [(str(file.path), file.label) for file in files]
        self._side = side

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, number: int) -> tuple[torch.Tensor, int] | None:
        path, label = self._files[number]
        with open(path, "rb") as file:
            data = file.read()
        try:
            image = Image.open(io.BytesIO(data)).convert("RGB").resize((self._side, self._side))
        except OSError:
            return None
        return torch.tensor(np.asarray(image)).permute(2, 0, 1).float() / 255, label


def decoded(samples: Sequence[Any]) -> Any:
    """Put a batch together of what could be decoded."""
    return default_collate([sample for sample in samples if sample is not None])


def run(experiment: Experiment) -> Result:
    """Train with no worker and with several."""
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    result = experiment.new_result()
    files = experiment.images(IMAGENET, scale.batch * scale.steps, result)
    classes = 1 + max(file.label for file in files)
    network = make_network(side=scale.side, classes=classes, width=scale.width, seed=experiment.seed)
    train = trainer(network, torch.optim.SGD(network.parameters(), lr=0.01))
    result.settings |= {**vars(scale), "prefetch": PREFETCH, "optimizer": "SGD, rate 0.01"}
    for repeat in range(experiment.repeats):
        for workers in scale.workers:
            arm = result.arm(f"{workers} workers")
            arm.settings["workers"] = workers
            _run_once(experiment, result, arm, files, train, scale)
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    _rows(result, scale, len(files))
    return result


def _run_once(
    experiment: Experiment, result: Result, arm: Arm, files: list[ImageFile], train: Any, scale: Scale
) -> None:
    workers = arm.settings["workers"]
    ahead = {"prefetch_factor": -(-PREFETCH // workers)} if workers else {}
    loader = DataLoader(
        Images(files, scale.side), batch_size=scale.batch, shuffle=True, num_workers=workers,
        collate_fn=decoded, generator=torch.Generator().manual_seed(experiment.seed), **ahead,
    )  # fmt: skip
    with experiment.session(arm, files) as session:
        times = run_steps(loader, lambda batch: train(*batch))
    counted = counted_on(session.session, files)
    check_counts(result, "files read whole", expected_of(files, at_once=True), counted)
    result.check("steps found", len(loader), len(session.session.steps))
    arm.add(
        elapsed_s=times.total_s,
        wait_percent=100 * times.wait_share,
        mb_s=counted.bytes_read / 1e6 / times.total_s,
        opens=counted.opens,
        reads=counted.reads,
        zero_reads=counted.zero_reads,
    )


def _rows(result: Result, scale: Scale, count: int) -> None:
    few, many = (result.arm(f"{workers} workers") for workers in scale.workers)
    few.values["gain"] = [
        after / before for before, after in zip(few.values["mb_s"], many.values["mb_s"], strict=True)
    ]
    result.row("files", "128,000", f"{count:,}", SCALE)
    result.row("opens per file", "1", f"{few.median('opens') / count:g}", EXACT)
    result.row("reads per file", "2", f"{few.median('reads') / count:g}", EXACT)
    result.row("zero-length reads per file", "1", f"{few.median('zero_reads') / count:g}", EXACT)
    result.row("input wait, one reader", "96 %", few.worded("wait_percent", "%", 1), SHAPE, "no worker")
    result.row(f"gain by {scale.workers[1]} workers", "8x at 28 threads", few.worded("gain", "x"), SHAPE)
