"""A buffer of samples for shuffling that each epoch fills before its first step."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fix_lines import input_pipeline
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.shuffle_words import small_buffer
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Pipeline, Stage
from tfdarshan.replay.edits import Prefetch, ShufflePaths
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds, percent

NAME = "shuffle_buffer"
ABOUT = About(
    title="Each epoch fills a large shuffle buffer",
    cause="The input pipeline shuffles samples that it has read already. The first step of each epoch "
    "waits until the shuffle buffer is full. Shuffling the paths costs nothing, because paths "
    "are not read yet.",
    says="each epoch begins with filling a buffer of 1,000 samples",
    seen=("one long input wait at the start of each epoch", "the tab's Steps"),
    fixes={
        "tf.data": "`dataset.shuffle(len(paths)).map(load)` in place of "
        "`dataset.map(load).shuffle(len(paths))`",
    },
    estimate="The replay has a shuffle of paths: the first step of an epoch then reads as "
    "many samples as any other step. A pipeline without prefetch gets a prefetch buffer too.",
    ignore="a few files hold all samples, and neighbouring samples are alike",
    fix="a smaller shuffle buffer",
)
# Batches that the buffer of the fix holds.
KEPT_BATCHES = int(THRESHOLD["shuffled"])


def find(measures: Measures) -> Finding | None:
    """Find it if samples are shuffled after they were read, and each epoch's first step waits for that."""
    pipeline, model = input_pipeline(measures), measures.model
    shuffle = None if pipeline is None else _after_reading(pipeline)
    longer_s = None if pipeline is None else _longer_s(measures, pipeline.iterators)
    if pipeline is None or shuffle is None or longer_s is None or not model.wait_s:
        return None
    fills_s, waited_s = float(longer_s.sum()), model.wait_s * model.units
    return Finding(
        name=NAME,
        title=f"each epoch begins with filling a buffer of {shuffle.size:,} samples",
        what=f"{shuffle.typed} comes after the reading, so the first step of each epoch waits "
        f"until the buffer is full: up to {human_seconds(float(longer_s.max()))} longer than other steps.",
        evidence=(
            Evidence("samples in the buffer", f"{shuffle.size:,}", shuffle.size),
            Evidence("epochs begun", f"{len(longer_s):,}", len(longer_s)),
            Evidence("waits that filled it", human_seconds(fills_s), fills_s),
            Evidence("of all waits", percent(fills_s, waited_s), fills_s / waited_s),
        ),
        fix=small_buffer(pipeline, shuffle, _kept(pipeline)),
        edits=(ShufflePaths(),) if pipeline.prefetches else (ShufflePaths(), Prefetch()),
    )


def _after_reading(pipeline: Pipeline) -> Stage | None:
    """Return the stage that shuffles what each epoch reads, if its buffer is larger than that of the fix.

    With a `cache()` one epoch reads, and an order that is drawn in front of it would be that of all epochs.
    """
    reader = pipeline.reader
    following = () if reader is None else pipeline.after(reader)
    shuffle = next((stage for stage in following if stage.name == "shuffle"), None)
    if shuffle is None or "batch" in [stage.name for stage in pipeline.before(shuffle)]:
        return None
    if "cache" in [stage.name for stage in following]:
        return None
    return shuffle if (shuffle.size or 0) > _kept(pipeline) else None


def _kept(pipeline: Pipeline) -> int:
    """Return how many samples the buffer of the fix holds."""
    batch = pipeline.has("batch") or pipeline.has("padded_batch")
    return KEPT_BATCHES * (1 if batch is None else batch.size or 1)


def _longer_s(measures: Measures, epochs: int) -> Array | None:
    """Return by how much the longest waits, one an epoch, are longer than others; None if none is."""
    windows = measures.windows
    if windows is None or windows.wait_end_ns is None or not 0 < epochs < len(windows.start_ns):
        return None
    waits_s = np.sort((windows.wait_end_ns - windows.start_ns) / 1e9)
    longer_s: Array = waits_s[-epochs:] - waits_s[:-epochs].mean()
    return longer_s if (longer_s > 0).any() else None
