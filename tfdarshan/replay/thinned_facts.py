"""Makes a long job short enough to simulate: some of its batches stand for all."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.job_facts import JobFacts
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_tasks import ReadTasks

# Of `BatchFacts`, what all batches together took.
SUMS = ("wait_s", "compute_s", "write_s", "sync_s", "beside_s", "write_bytes", "validation_s", "pause_s")

# Of `ReadTasks`, what the first of several tasks says for all; the rest adds up.
FIRSTS = ("begin_s", "epoch", "file")


def thinned(facts: JobFacts) -> JobFacts:
    """Return the facts of some batches, with their tasks; of a short job of all of them.

    Batches are kept in stretches that follow each other. The first stretch of an epoch, and its last batch,
    stand for themselves. What all batches took stays what it was: waits, computing, writes, pauses.
    """
    return _coarse(_with_part_of_batches(facts))


def _with_part_of_batches(facts: JobFacts) -> JobFacts:
    batches, every = facts.batches, math.ceil(len(facts.batch) / SETTING["most_tasks"])
    # Batches that stand for others already, as those of kept facts do, stay as they are.
    if every <= 1 or np.any(batches.weight != 1):
        return facts
    stands_for = kept_batches(batches.epoch, int(SETTING["stretch"]), every)
    kept = stands_for > 0
    weight, number, mine = stands_for[kept], np.cumsum(kept) - 1, kept[facts.batch]
    tasks = {one.name: getattr(facts.tasks, one.name)[..., mine] for one in dataclasses.fields(ReadTasks)}
    columns: dict[str, Any] = {name: _as_much(getattr(batches, name), kept, weight) for name in SUMS}
    chosen = dataclasses.replace(batches, weight=weight, epoch=batches.epoch[kept], **columns)
    return dataclasses.replace(
        facts, batches=chosen, tasks=ReadTasks(**tasks), batch=number[facts.batch[mine]]
    )


def _coarse(facts: JobFacts) -> JobFacts:
    """Return the facts with tasks that follow each other in a batch as one, if they are still too many."""
    every = math.ceil(len(facts.batch) / (2 * SETTING["most_tasks"]))
    if every <= 1:
        return facts
    first = np.flatnonzero(np.diff(facts.batch, prepend=-1))
    place = np.arange(len(facts.batch)) - np.repeat(first, np.diff(np.append(first, len(facts.batch))))
    heads = np.flatnonzero(place % every == 0)
    tasks = {
        one.name: getattr(facts.tasks, one.name)[..., heads]
        if one.name in FIRSTS
        else np.add.reduceat(getattr(facts.tasks, one.name), heads, axis=-1)
        for one in dataclasses.fields(ReadTasks)
    }
    return dataclasses.replace(facts, tasks=ReadTasks(**tasks), batch=facts.batch[heads])


def kept_batches(epoch: Array, stretch: int, every: int) -> Array:
    """Return how many batches each batch stands for, 0 if it is left out.

    Args:
        epoch: The epoch of each batch, ascending.
        stretch: Batches that are kept together.
        every: Of so many stretches one is kept; 1: all batches stand for themselves.
    """
    weight = np.zeros(len(epoch))
    for number in np.unique(epoch).tolist():
        mine = np.flatnonzero(epoch == number)
        first, rest, last = mine[:stretch], mine[stretch:-1], mine[-1:]
        chosen = rest[(np.arange(len(rest)) // stretch) % every == every - 1]
        weight[np.concatenate([first, chosen, last])] = 1
        # Too few batches for another stretch: the first one stands for all, but not the batch that the epoch
        # begins with, nor the last.
        standing = chosen if len(chosen) else np.setdiff1d(first[1:] if len(first) > 1 else first, last)
        weight[standing] += (len(rest) - len(chosen)) / max(len(standing), 1)
    return weight


def _as_much(values: Array, kept: Array, weight: Array) -> Array:
    """Return the values of kept batches so that all of them add up to as much as before."""
    found = values[kept].astype(float)
    whole, seen = float(values.sum()), float(weight @ found)
    if seen > 0:
        return found * (whole / seen)
    found[-1] = whole / weight[-1]
    return found
