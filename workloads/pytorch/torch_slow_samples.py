"""A few slow samples hold up the batches behind theirs: what MinatoLoader, arXiv 2509.10712, mends."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait

import torch
from torch.utils.data import IterableDataset, get_worker_info

from ..experiment import Experiment
from ..result import SHAPE, Result
from .torch_uneven import (
    ANY_ORDER,
    IN_ORDER,
    Samples,
    Scale,
    UnevenTraining,
    add_speedups,
    any_order_is_known,
)

PUBLISHED = Scale(
    batch=32,
    steps=1000,
    workers=16,
    prefetch_factor=2,
    slow_share=0.002,
    slow_times=250,
    sample_ms=5,
    step_ms=25,
)
QUICK = Scale(
    batch=4, steps=120, workers=4, prefetch_factor=2, slow_share=0.015, slow_times=60, sample_ms=5, step_ms=20
)
APART = "slow samples apart"
LATE = 2  # times as long as most samples: what takes longer is left to a thread


class Apart(IterableDataset):  # type: ignore[misc]
    """Samples in the order in which they are ready, so that batches are made of those that are.

    Args:
        samples: All of them.
        batch: How many make a batch: workers take turns by batches.
        late_s: What takes longer goes on in a thread beside the samples after it.
    """

    def __init__(self, samples: Samples, batch: int, late_s: float) -> None:
        self._samples, self._batch, self._late_s = samples, batch, late_s

    def __iter__(self) -> Iterator[torch.Tensor]:
        slow: set[Future[torch.Tensor]] = set()
        numbers = self._mine()
        with ThreadPoolExecutor(len(numbers) or 1) as pool:
            for number in numbers:
                slow.add(sample := pool.submit(self._samples.__getitem__, number))
                wait([sample], self._late_s)
                done = {one for one in slow if one.done()}
                slow -= done
                yield from (one.result() for one in done)
            yield from (one.result() for one in as_completed(slow))

    def _mine(self) -> list[int]:
        """Return the numbers of this worker's samples."""
        worker = get_worker_info()
        numbers = range(len(self._samples))
        return [number for number in numbers if number // self._batch % worker.num_workers == worker.id]


def run(experiment: Experiment) -> Result:
    """Train on samples a few of which are slow."""
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    training = UnevenTraining(experiment, scale)
    result, order = training.result, range(len(training.samples))
    apart = Apart(training.samples, scale.batch, LATE * scale.sample_ms / 1e3)
    for repeat in range(experiment.repeats):
        training.train(IN_ORDER, training.loader(training.samples, order=order))
        if any_order_is_known(result):
            training.train(ANY_ORDER, training.loader(training.samples, order=order, in_order=False))
        training.train(APART, training.loader(apart, order=None))
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    add_speedups(result, {IN_ORDER: "a slow sample stalls training", APART: "up to 7.5x, 3.6x on average"})
    computing = [f"{100 - result.arm(name).median('wait_percent'):.1f} %" for name in (IN_ORDER, APART)]
    result.row("GPU busy; here: time computing", "46.4 % to 90.45 %", " to ".join(computing), SHAPE)
    return result
