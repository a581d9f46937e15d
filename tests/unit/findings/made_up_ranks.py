"""Files dealt out to ranks, and what is found of a job's ranks."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.diagnosis import diagnose

NAMES = {"unsharded_input", "shard_imbalance", "slow_node", "slow_rank"}
STEPS = 24


def shards(world, files_a_step, *, epochs=1, rng=None, more=None):
    """Deal files out: which each rank reads in each step; `more` is a rank, and how many times as many."""
    counts = [files_a_step] * world
    if more is not None:
        counts[more[0]] = round(files_a_step * more[1])
    whole = sum(counts) * STEPS
    dealt = []
    for _ in range(epochs):
        order = np.arange(whole) if rng is None else rng.permutation(whole)
        first, parts = 0, []
        for count in counts:
            mine = order[first : first + count * STEPS].reshape(STEPS, count)
            parts.append(mine)
            first += count * STEPS
        dealt.append(parts)
    return [np.concatenate([parts[rank] for parts in dealt]).tolist() for rank in range(world)]


def everything(world, files_a_step, epochs, rng):
    """Return all ranks all files, in orders of their own."""
    whole = files_a_step * STEPS
    return [
        np.concatenate([rng.permutation(whole).reshape(STEPS, files_a_step) for _ in range(epochs)]).tolist()
        for _ in range(world)
    ]


def rank_findings(session):
    return {one.name: one for one in diagnose(session).findings if one.name in NAMES}
