"""Input that is read from storage again and again, and would fit into memory."""

from __future__ import annotations

import dataclasses

import numpy as np

from tfdarshan.analysis.call_kinds import CallGroup
from tfdarshan.findings.cache_share import from_memory
from tfdarshan.findings.finding import Assumption, Evidence, Finding, Gain
from tfdarshan.findings.later_waits import within_later_waits
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import input_pipeline, keep_in_memory, keeps_decoded
from tfdarshan.findings.stat_storm import asked_by_loop
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "fits_in_memory"
# Share of the memory that the input may take.
ROOM = 0.4
# Fewer passes are no epochs.
AGAIN = 1.2
# Of what decoding takes again, so much is spared where what is kept is decoded.
DECODED = 0.9


def find(measures: Measures) -> Finding | None:
    """Finds it where storage served later passes, too."""
    memory, costs = measures.machine.memory_bytes, measures.costs
    if memory is None or measures.passes < AGAIN or measures.unique_bytes > ROOM * memory:
        return None
    if from_memory(measures, np.flatnonzero(measures.is_input)):
        return None
    size = np.where(measures.sizes > 0, measures.sizes, 0)
    known = size > 0
    slow_passes = np.where(known, costs.slow_bytes / np.maximum(size, 1), 0)
    again = np.maximum(slow_passes - 1, 0) / np.maximum(slow_passes, 1e-9)
    passes = np.maximum(costs.passes(measures.sizes), 1e-9)
    # Opens and the like go with the passes that are made again, where their reads came from storage.
    # What the loop asks about files it asks however they are read.
    other_s = costs.other_s - asked_by_loop(measures) * costs.stat_s
    needless_s = float((again * (costs.slow_s + other_s * np.minimum(slow_passes / passes, 1))).sum())
    whole = float(costs.call_s.sum())
    if whole <= 0 or needless_s <= 0:
        return None
    calls = measures.input_calls
    share = needless_s / whole
    needless = CallGroup(
        calls.calls * share, calls.moved_bytes * share, calls.beside_s * share, calls.within_s * share
    )
    room = percent(measures.unique_bytes, memory)
    # Of each byte that was read, as of the passes: the page cache may have served some of them.
    stored = measures.passes * costs.storage_share
    assumed = (
        Assumption(
            "the input stays in memory",
            f"{human_bytes(measures.unique_bytes)} are {room} of it",
            "the job itself needs the memory, or decoded data is far larger",
        ),
        Assumption(
            "storage serves what is read again",
            f"{percent(needless_s, whole)} of the time in calls",
            "later epochs are as quick as memory",
        ),
    )
    decoded_s = measures.model.other_s * (1 - 1 / measures.passes)
    decoding_s = (0.0, DECODED * decoded_s if keeps_decoded(measures) else 0.0, decoded_s)
    gain, stall_s = measures.without(needless, 0.7, 0.97, 1.0, assumed, other_s=decoding_s)
    gain = within_later_waits(gain, measures, needless.within_s / measures.model.units)
    gain = _less(gain, filling_s(measures))
    order = np.argsort(-(again * costs.slow_s), kind="stable")
    return Finding(
        name=NAME,
        kind="problem",
        title=f"input that fits into memory is read from storage {stored:.1f} times",
        what=f"The job reads {human_bytes(measures.unique_bytes)} {measures.passes:.1f} times over, "
        f"{stored:.1f} times from storage; that is {room} of the {human_bytes(memory)} of memory.",
        evidence=(
            Evidence("input", human_bytes(measures.unique_bytes), measures.unique_bytes),
            Evidence("memory", human_bytes(memory), memory),
            Evidence("times read", f"{measures.passes:.2f}", measures.passes),
            Evidence("of them from storage", f"{stored:.2f}", stored),
            Evidence(
                "time in reading again",
                f"{human_seconds(needless_s)}, {percent(needless_s, whole)}",
                needless_s,
            ),
        ),
        files=measures.paths_of(order[(again * costs.slow_s)[order] > 0]),
        unit=measures.model.unit,
        cost_s=gain.expected_s,
        stall_s=stall_s,
        cure=keep_in_memory(measures),
        gain=gain,
        not_worth="where the decoded data is many times larger than the files, or the memory is needed "
        "otherwise",
    )


def filling_s(measures: Measures) -> float:
    """Gives what of a unit the cure costs: seconds in which nothing is read beside steps.

    Where paths are shuffled, samples are shuffled behind the cache in their place: then the first epoch's
    first step waits until all of them are read, and what was read beside that epoch's steps no longer is.
    """
    pipeline, model = input_pipeline(measures), measures.model
    if pipeline is None or pipeline.reader is None or pipeline.has("cache") is not None:
        return 0.0
    if pipeline.has("shuffle") not in pipeline.before(pipeline.reader):
        return 0.0
    return model.overlap * model.compute_s / max(measures.figures.epochs, 1)


def _less(gain: Gain, lost_s: float) -> Gain:
    """Gives a gain with what its cure costs; at most that is hidden by what waits for it anyway."""
    low, expected, if_so = (max(0.0, one - lost_s) for one in (gain.low_s, gain.expected_s, gain.if_so_s))
    return dataclasses.replace(gain, low_s=low, expected_s=expected, if_so_s=if_so)
