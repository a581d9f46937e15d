"""Training in PyTorch on samples some of which take far longer to prepare: what two workloads share."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from tfdarshan.analysis.steps.loader_waits import loader_waits
from tfdarshan.errors import ConfigurationError

from ..counted_calls import check_counts, counted_on, expected_of
from ..experiment import Experiment
from ..images import CALTECH101, ImageFile
from ..result import NO_FIGURE, SHAPE, Arm, Result
from ..step_times import run_steps

FINDING = "head_of_line"
IN_ORDER, ANY_ORDER = "in order", "in any order"
VALUES = 1024  # bytes of each file that are trained on


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large it is, and how uneven."""

    batch: int
    steps: int
    workers: int
    prefetch_factor: int
    slow_share: float  # of all samples
    slow_times: float  # as long as the others they take
    sample_ms: float  # to prepare one of the others
    step_ms: float  # to compute on a batch

    def __post_init__(self) -> None:
        if self.slow_share > 1:
            raise ConfigurationError(f"slow_share is {self.slow_share:g}: give a share of at most 1.")


class Samples(Dataset):  # type: ignore[misc]
    """The first bytes of files, each prepared for a while: preparing is a sleep, which needs no processor.

    Args:
        files: One for each sample.
        seconds: What it takes to prepare each.
    """

    def __init__(self, files: Sequence[ImageFile], seconds: Sequence[float]) -> None:
        self._paths, self._seconds = [str(file.path) for file in files], seconds

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, number: int) -> torch.Tensor:
        with open(self._paths[number], "rb") as file:
            data = file.read()
        time.sleep(self._seconds[number])
        return torch.frombuffer(bytearray(data[:VALUES].ljust(VALUES, b"\0")), dtype=torch.uint8).float()


class UnevenTraining:
    """The same training by several loaders.

    Args:
        experiment: It is run with this.
        scale: Its settings.

    Attributes:
        result: Of all runs.
        slow: Numbers of the slow samples, ascending: they are as far from each other as they can be.
        samples: All of them.
    """

    def __init__(self, experiment: Experiment, scale: Scale) -> None:
        self._experiment, self._scale, self.result = experiment, scale, experiment.new_result()
        self._files = experiment.images(CALTECH101, scale.batch * scale.steps, self.result)
        count = len(self._files)
        self.slow = slow_numbers(count, scale.slow_share)
        usual_s, slow = scale.sample_ms / 1e3, set(self.slow)
        self.samples = Samples(
            self._files, [usual_s * (scale.slow_times if number in slow else 1) for number in range(count)]
        )
        self.result.settings |= vars(scale)

    def loader(self, data: Dataset, *, order: Sequence[int] | None, in_order: bool = True) -> DataLoader:
        """Return a loader.

        Args:
            data: What it loads.
            order: Numbers of samples in the order in which batches are made; None if `data` has its own.
            in_order: Whether batches come in that order.
        """
        scale = self._scale
        # PyTorch before 2.6 knows no other order, and no argument for that.
        more: dict[str, Any] = {} if in_order else {"in_order": False}
        return DataLoader(
            data, batch_size=scale.batch, sampler=order, num_workers=scale.workers,
            prefetch_factor=scale.prefetch_factor, **more,
        )  # fmt: skip

    def train(self, name: str, loader: DataLoader) -> Arm:
        """Train by a loader, and add what was measured to the arm of that name."""
        arm, model = self.result.arm(name), torch.nn.Linear(VALUES, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)

        def compute(batch: torch.Tensor) -> None:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
            time.sleep(self._scale.step_ms / 1e3)

        compute(torch.zeros(1, VALUES))  # PyTorch imports what it needs outside of the session
        with self._experiment.session(arm, self._files) as profile:
            times = run_steps(loader, compute)
        session = profile.session
        counted = counted_on(session, self._files)
        expected = expected_of(self._files, at_once=True)
        check_counts(self.result, "files read whole", expected, counted)
        self.result.check("steps found", len(times.wait_s), len(session.steps))
        waits = loader_waits(session.processes)
        arm.add(
            elapsed_s=times.total_s,
            wait_percent=100 * times.wait_share,
            ready_percent=0.0 if waits is None else 100 * float(waits.ready_s.sum()) / times.total_s,
        )
        promised = next((one.gain for one in session.findings if one.name == FINDING and one.gain), None)
        if promised is not None:
            low, high = promised.speedup_range
            arm.add(promised=promised.speedup, promised_low=low, promised_high=high)
        return arm


def slow_numbers(count: int, share: float) -> list[int]:
    """Return which of so many samples are slow: one in the middle of each stretch, ascending."""
    wanted = max(1, round(share * count))
    return [(2 * place + 1) * count // (2 * wanted) for place in range(wanted)]


def any_order_is_known(result: Result) -> bool:
    """Return whether this PyTorch has `in_order=False`, as 2.6 and later have; note it if not."""
    known = "in_order" in inspect.signature(DataLoader).parameters
    if not known:
        result.notes.append(f"PyTorch {torch.__version__} has no in_order=False: nothing is run in any order")
    return known


def add_speedups(result: Result, papers: Mapping[str, str]) -> None:
    """Add what the first arm lost, and how much faster each other arm is, beside the paper's words for it.

    Args:
        result: Of all runs.
        papers: What the paper reports, by the name of the arm.
    """
    planted, *others = result.arms
    lost = planted.worded("ready_percent", "%", 1)
    result.row(f"time for which ready batches wait, {planted.name}", papers[planted.name], lost, SHAPE)
    for arm in others:
        arm.values["speedup"] = [
            before / after
            for before, after in zip(planted.values["elapsed_s"], arm.values["elapsed_s"], strict=True)
        ]
        paper = papers.get(arm.name, NO_FIGURE)
        if arm.name == ANY_ORDER and "promised" in planted.values:
            low, high = planted.median("promised_low"), planted.median("promised_high")
            paper = f"promised: {planted.median('promised'):.2f}x ({low:.2f}x to {high:.2f}x)"
        result.row(f"speedup, {arm.name}", paper, arm.worded("speedup", "x"), SHAPE)
