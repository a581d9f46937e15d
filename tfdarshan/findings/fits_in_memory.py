"""Input that is read again and again, and would fit into memory."""

from __future__ import annotations

import dataclasses

import numpy as np

from tfdarshan.analysis.cache_place import draws
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.tf_data_pipeline import Stage
from tfdarshan.findings.cache_share import from_memory
from tfdarshan.findings.decoding_time import other_s, reading_s
from tfdarshan.findings.finding import Assumption, Evidence, Finding, Gain
from tfdarshan.findings.kept_samples import kept_bytes
from tfdarshan.findings.later_waits import within_later_waits
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.part_of_calls import part_of
from tfdarshan.findings.pipeline_api import (
    GENERATOR,
    input_pipeline,
    keep_in_memory,
    keeps_decoded,
    reads_in_python,
)
from tfdarshan.findings.stat_storm import asked_by_loop
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "fits_in_memory"
# Share of the memory that the input may take.
ROOM = 0.4
# Fewer passes are no epochs.
AGAIN = 1.2
# Of what decoding takes again, so much is spared where what is kept is decoded.
DECODED = 0.9
# What is copied takes the place of something else in the processors' caches, which is loaded again: at most
# as many bytes, at what memory gives one processor.
LOADED_S_PER_BYTE = 1 / 10e9
LEAST_S = 1e-12
FROM_STORAGE = "from storage"


def find(measures: Measures) -> Finding | None:
    """Finds it where later passes take time: storage's, or that of calls which the page cache served."""
    memory, costs = measures.machine.memory_bytes, measures.costs
    if memory is None or measures.passes < AGAIN or measures.unique_bytes > ROOM * memory:
        return None
    again_s = _later_passes_s(measures)
    if measures.pauses is not None:
        # What no step reads is `validation`'s to keep: a cache of what steps read does not hold it.
        again_s[measures.pauses.rows] = 0.0
    needless_s, whole = float(again_s.sum()), float(costs.call_s.sum())
    if whole <= 0 or needless_s <= 0:
        return None
    if _too_large(measures, ROOM * memory):
        return None
    share = again_s / np.maximum(costs.call_s, LEAST_S)
    needless = part_of(measures, measures.input_calls, costs.call_s, share)
    room = percent(measures.unique_bytes, memory)
    # Of each byte that was read, as of the passes: the page cache may have served some of them.
    stored = measures.passes * costs.storage_share
    by_storage = stored >= AGAIN and not from_memory(measures, np.flatnonzero(measures.is_input))
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
        )
        if by_storage
        else Assumption(
            "who keeps what was read makes no calls for it again",
            f"{percent(needless_s, whole)} of the time in calls is that of later passes",
            "each epoch reads other samples",
        ),
    )
    decoded_s = 0.0 if _reader_draws(measures) else measures.model.other_s * (1 - 1 / measures.passes)
    decoding_s = (0.0, _expected_of_decoding(measures, by_storage=by_storage) * decoded_s, decoded_s)
    gain, stall_s = measures.without(needless, 0.7, 0.97, 1.0, assumed, other_s=decoding_s)
    gain = within_later_waits(gain, measures, needless.within_s / measures.model.units)
    gain = less(gain, filling_s(measures))
    loaded_s = needless.moved_bytes / measures.model.units * LOADED_S_PER_BYTE
    gain = dataclasses.replace(gain, high_s=min(gain.high_s + loaded_s, gain.before_s))
    how_often = f"{FROM_STORAGE} {stored:.1f} times" if by_storage else f"{measures.passes:.1f} times"
    order = np.argsort(-again_s, kind="stable")
    return Finding(
        name=NAME,
        kind="problem",
        title=f"input that fits into memory is read {how_often}",
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
        files=measures.paths_of(order[again_s[order] > 0]),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=stall_s,
        cure=keep_in_memory(measures),
        gain=gain,
        not_worth="where the decoded data is many times larger than the files, or the memory is needed "
        "otherwise",
    )


def _later_passes_s(measures: Measures) -> Array:
    """Gives what the calls of each file's passes but the first take, whoever served them.

    Who keeps samples opens and reads nothing again: what the page cache serves is copied by calls, too. What
    the loop asks about files it asks however they are read.
    """
    costs, size = measures.costs, np.maximum(measures.sizes, 0)
    passes = np.where(size > 0, costs.passes(measures.sizes), 0)
    by_storage = np.minimum(np.where(size > 0, costs.slow_bytes / np.maximum(size, 1), 0), passes)
    by_memory = passes - by_storage
    # The first pass is storage's, if that served any.
    again = np.maximum(by_storage - 1, 0) / np.maximum(by_storage, 1e-9)
    copied = np.maximum(by_memory - np.maximum(1 - by_storage, 0), 0) / np.maximum(by_memory, 1e-9)
    later = np.maximum(passes - 1, 0) / np.maximum(passes, 1e-9)
    other_s = costs.other_s - asked_by_loop(measures) * costs.stat_s
    found: Array = again * costs.slow_s + copied * (costs.read_s - costs.slow_s) + later * other_s
    return found


def _reader_draws(measures: Measures) -> bool:
    """Says whether the stage that reads draws random numbers: then only what is read is kept."""
    pipeline = input_pipeline(measures)
    return (
        pipeline is not None and pipeline.reader is not None and draws(pipeline, pipeline.reader) is not None
    )


def _too_large(measures: Measures, room: float) -> bool:
    """Says whether what the stage that reads makes of the files is known to take more than there is room."""
    pipeline = input_pipeline(measures)
    if pipeline is None or pipeline.reader is None or _reader_draws(measures):
        return False
    return (kept_bytes(measures, pipeline, pipeline.reader) or 0.0) > room


def _expected_of_decoding(measures: Measures, *, by_storage: bool) -> float:
    """Gives the share of what decoding takes again that is expected to be spared.

    It is spared where the stage that reads decodes, or unpacks records; of a function in Python nobody knows.
    A cache behind a generator spares all that the generator does, but hands samples over itself. Of what
    memory serves and decoding takes longer than reading, `decode_bound` says what it gives.
    """
    if not by_storage and other_s(measures) > reading_s(measures):
        return 0.0
    pipeline = input_pipeline(measures)
    unpacks = pipeline is not None and pipeline.reader is not None and pipeline.reader.compression != ""
    if keeps_decoded(measures) or unpacks:
        return DECODED
    generated = pipeline is not None and pipeline.reader_name == GENERATOR and pipeline.has("map") is None
    return UNSHOWN if generated or (pipeline is None and reads_in_python(measures)) else 0.0


def filling_s(measures: Measures, place: Stage | None = None) -> float:
    """Gives what of a unit the cure costs: seconds in which nothing is read beside steps.

    Where paths are shuffled, samples are shuffled behind the cache in their place: then the first epoch's
    first step waits until all of them are read, and what was read beside that epoch's steps no longer is.

    Args:
        measures: The session.
        place: The stage that the cache is to follow; by default the one that reads.
    """
    pipeline, model = input_pipeline(measures), measures.model
    if pipeline is None or pipeline.reader is None or pipeline.has("cache") is not None:
        return 0.0
    if pipeline.has("shuffle") not in pipeline.before(place or pipeline.reader):
        return 0.0
    return model.overlap * model.compute_s / max(measures.figures.epochs, 1)


def less(gain: Gain, lost_s: float) -> Gain:
    """Gives a gain with what its cure costs; at most that is hidden by what waits for it anyway."""
    low, expected, if_so = (max(0.0, one - lost_s) for one in (gain.low_s, gain.saved_s, gain.if_so_s))
    return dataclasses.replace(gain, low_s=low, saved_s=expected, if_so_s=if_so)
