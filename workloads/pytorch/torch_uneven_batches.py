"""Batches that are ready and not next, as Lotus (IISWC 2024) traces them in PyTorch's DataLoader.

The workers' batches take unequally long, for slow samples stand beside each other in the order of samples.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain

from ..experiment import Experiment
from ..result import Result
from .torch_uneven import ANY_ORDER, IN_ORDER, Scale, UnevenTraining, add_speedups, any_order_is_known

PUBLISHED = Scale(
    batch=32,
    steps=1000,
    workers=16,
    prefetch_factor=2,
    slow_share=0.05,
    slow_times=15,
    sample_ms=5,
    step_ms=25,
)
QUICK = Scale(
    batch=4,
    steps=120,
    workers=4,
    prefetch_factor=2,
    slow_share=0.05,
    slow_times=40,
    sample_ms=2.5,
    step_ms=20,
)
DEALT = "slow samples dealt out"


def run(experiment: Experiment) -> Result:
    """Train on slow batches among quick ones, and on batches that share the slow samples."""
    scale = experiment.scaled(quick=QUICK, published=PUBLISHED)
    training = UnevenTraining(experiment, scale)
    result, count = training.result, len(training.samples)
    alike = by_time(count, training.slow, scale.batch, experiment.seed)
    for repeat in range(experiment.repeats):
        training.train(IN_ORDER, training.loader(training.samples, order=alike))
        if any_order_is_known(result):
            training.train(ANY_ORDER, training.loader(training.samples, order=alike, in_order=False))
        training.train(DEALT, training.loader(training.samples, order=range(count)))
        experiment.say(f"round {repeat + 1}/{experiment.repeats} done")
    add_speedups(result, {IN_ORDER: "batches arrive out of order"})
    return result


def by_time(count: int, slow: Sequence[int], batch: int, seed: int) -> list[int]:
    """Return an order in which slow samples fill batches, as buckets by size do; batches are shuffled."""
    numbers = [*slow, *sorted(set(range(count)).difference(slow))]
    whole = count - count % batch
    batches = [numbers[first : first + batch] for first in range(0, whole, batch)]
    random.Random(seed).shuffle(batches)
    return [*chain.from_iterable(batches), *numbers[whole:]]
