"""Batches whose way from the worker to the training loop takes longer than putting them together."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.loader_waits import LoaderWaits, training_loader
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fix_lines import words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.loader_edits import SmallerBatches
from tfdarshan.replay.priors import SETTING
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "batch_transport"
ABOUT = About(
    title="Handing batches over takes longer than making them",
    cause="A worker process hands each batch over through shared memory, and the training loop maps it. "
    "That takes longer the larger the batch is, and the more tensors it has. The loop waits for a batch "
    "that is put together already.",
    says="62 % of the input wait is moving batches from workers to the loop",
    seen=("short fetches and long waits in the table of batches", "`session.batches`"),
    fixes={"PyTorch": "hand over `uint8`, one tensor a batch, and convert in the loop"},
    estimate="The replay has batches whose floats are `uint8`. What a small batch takes as well is left.",
    ignore="batches already have small types",
    fix="smaller batches",
)
# What is left of float32 as uint8, if nothing says what batches are made of.
LEFT = 1 / 4


def find(measures: Measures) -> Finding | None:
    """Find it if the loop waits longer for the way back than for putting batches together."""
    waits, words = measures.loader_waits, words_of(measures)
    if waits is None or words is None:
        return None
    ways_s, wait_s = _ways_s(waits), float(waits.wait_s.sum())
    back_s = float(ways_s.sum())
    if back_s <= float(waits.fetch_s.sum()):
        return None
    each_s = back_s / len(waits)
    loader = training_loader(measures.session.meta[0])
    each_bytes, small_bytes = (
        0 if loader is None else int(loader[1].get(name, 0)) for name in ("batch_bytes", "small_bytes")
    )
    left = small_bytes / each_bytes if each_bytes else LEFT
    # A batch that comes sooner is made no sooner, unless a worker had nothing to do.
    spared_s = np.minimum(ways_s, waits.back_idle_s)
    return Finding(
        name=NAME,
        title=f"{percent(back_s, wait_s)} of the input wait is moving batches from workers to the loop",
        what=f"Moving a batch from its worker to the training loop takes {human_seconds(each_s)}, in which "
        f"the loop waits. Preparing a batch takes a worker {human_seconds(float(waits.work_s.mean()))}.",
        evidence=(
            Evidence("moving a batch", human_seconds(each_s), each_s),
            Evidence("of all waits", percent(back_s, wait_s), back_s / wait_s),
            Evidence("preparing a batch", human_seconds(float(waits.work_s.mean()))),
            *([Evidence("size of a batch", human_bytes(each_bytes), each_bytes)] if each_bytes else []),
        ),
        fix=words.less_transport(),
        edits=(SmallerBatches(left, float(spared_s.sum()), int(np.count_nonzero(spared_s)), each_bytes),),
    )


def _ways_s(waits: LoaderWaits) -> Array:
    """Return what of each wait is the way of its batch, one entry per batch: no longer than the quicker ones.

    What takes longer waits for a processor, or for the batch in front of it.
    """
    quick_s = np.quantile(waits.back_s[waits.back_s > 0], SETTING["quick"]) if waits.back_s.any() else 0.0
    return np.minimum(waits.back_s, quick_s)
