"""Input that is read again and again, and would fit into memory."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.findings.about import About
from tfdarshan.findings.cache_share import from_memory
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fix_lines import decoding_stage, input_pipeline, keep_in_memory
from tfdarshan.findings.kept_samples import kept_bytes
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.cache_place import draws
from tfdarshan.replay.edits import CacheInMemory
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "fits_in_memory"
ABOUT = About(
    title="Input that fits in memory is read again",
    cause="The job reads the same files in every epoch, and a copy for each rank fits in 40 % of the "
    "memory. Each later epoch repeats opens, reads and, depending on the place of the cache, decoding.",
    says="input that fits in memory is read from storage 3.0 times",
    seen=("several passes over each file", "the tab's Patterns"),
    fixes={
        "tf.data": "`dataset.map(load).cache().shuffle(len(paths))`",
        "PyTorch": "`samples = {path: read(path) for path in paths}` before the workers start, which "
        "inherit it",
        "plain Python": "`@functools.cache` on the function that reads",
    },
    estimate="The replay has later epochs that read nothing. If the cache stands behind "
    "the decoder, later epochs do not decode either. The first epoch stays.",
    ignore="decoded samples are many times larger than the files, or the job needs the memory",
    fix="a cache of the input in memory",
)
# Share of the memory that the input may take.
ROOM = THRESHOLD["room"]
# Fewer passes are no epochs.
AGAIN = THRESHOLD["again"]
FROM_STORAGE = "from storage"


def find(measures: Measures) -> Finding | None:
    """Find it where later passes take time: storage's, or that of calls which the page cache served."""
    memory, costs, machine = measures.machine.rank_bytes, measures.costs, measures.machine
    if memory is None or measures.passes < AGAIN:
        return None
    fix = keep_in_memory(measures)
    kept_bytes = max(measures.unique_bytes, (fix.all_input or 0.0) * measures.passes * measures.unique_bytes)
    if kept_bytes > ROOM * memory:
        return None
    again_s = _later_passes_s(measures)
    # What no step reads is `validation`'s to keep: a cache of what steps read does not hold it.
    again_s[measures.validation_files] = 0.0
    needless_s, whole = float(again_s.sum()), float(costs.call_s.sum())
    if whole <= 0 or needless_s <= 0:
        return None
    if _too_large(measures, ROOM * memory):
        return None
    # Of each byte that was read, as of the passes: the page cache may have served some of them.
    stored = measures.passes * costs.storage_share
    by_storage = stored >= AGAIN and not from_memory(measures, np.flatnonzero(measures.is_input))
    often = f"{measures.at_least}{measures.passes:.1f} times"
    how_often = f"{FROM_STORAGE} {measures.at_least}{stored:.1f} times" if by_storage else often
    order = np.argsort(-again_s, kind="stable")
    whose = (
        "The input takes" if machine.ranks == 1 else f"The copies of the host's {machine.ranks} ranks take"
    )
    return Finding(
        name=NAME,
        title=f"input that fits in memory is read {how_often}",
        what=f"The job reads its {human_bytes(measures.unique_bytes)} of input {often}, "
        f"{_of_them(measures, stored)} from storage. {whose} {percent(kept_bytes, memory)} of the "
        f"{human_bytes(machine.memory_bytes or 0)} of memory.",
        evidence=(
            Evidence("input", human_bytes(measures.unique_bytes), measures.unique_bytes),
            Evidence("memory", human_bytes(machine.memory_bytes or 0), machine.memory_bytes),
            Evidence("times read", f"{measures.passes:.2f}", measures.passes),
            Evidence("of them from storage", f"{stored:.2f}", stored),
            Evidence(
                "time in reading again",
                f"{human_seconds(needless_s)}, {percent(needless_s, whole)} of the time in calls",
                needless_s,
            ),
        ),
        files=measures.paths_of(order[again_s[order] > 0]),
        fix=fix,
        edits=(
            CacheInMemory(_keeps_decoded(measures), loads_first=fix.loads_first, all_input=fix.all_input),
        ),
    )


def _of_them(measures: Measures, stored: float) -> str:
    """Word how many of the times that the input is read come from storage."""
    if stored >= measures.passes:
        return "each time"
    return "none of them" if round(stored, 1) == 0 else f"{measures.at_least}{stored:.1f} of them"


def _later_passes_s(measures: Measures) -> Array:
    """Return what the calls of each file's passes but the first take, whoever served them.

    Who keeps samples opens and reads nothing again: what the page cache serves is copied by calls, too.
    """
    costs, size = measures.costs, np.maximum(measures.pass_bytes, 0)
    passes = np.where(size > 0, costs.passes(measures.pass_bytes), 0)
    by_storage = np.minimum(np.where(size > 0, costs.slow_bytes / np.maximum(size, 1), 0), passes)
    by_memory = passes - by_storage
    # The first pass is storage's, if that served any.
    again = np.maximum(by_storage - 1, 0) / np.maximum(by_storage, 1e-9)
    copied = np.maximum(by_memory - np.maximum(1 - by_storage, 0), 0) / np.maximum(by_memory, 1e-9)
    later = np.maximum(passes - 1, 0) / np.maximum(passes, 1e-9)
    return again * costs.slow_s + copied * (costs.read_s - costs.slow_s) + later * costs.other_s


def _reader_draws(measures: Measures) -> bool:
    """Return whether the stage that reads draws random numbers: then only what is read is kept."""
    pipeline = input_pipeline(measures)
    return (
        pipeline is not None and pipeline.reader is not None and draws(pipeline, pipeline.reader) is not None
    )


def _too_large(measures: Measures, room: float) -> bool:
    """Return whether what the stage that reads makes of the files is known to take more than the room."""
    pipeline = input_pipeline(measures)
    if pipeline is None or pipeline.reader is None or _reader_draws(measures):
        return False
    return (kept_bytes(measures, pipeline, pipeline.reader) or 0.0) > room


def _keeps_decoded(measures: Measures) -> bool:
    """Say whether the stage that reads decodes as well, so that a cache behind it keeps what is decoded."""
    pipeline, decoder = input_pipeline(measures), decoding_stage(measures)
    same = pipeline is None or decoder is None or decoder is pipeline.reader
    return same and not _reader_draws(measures)
