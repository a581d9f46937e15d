"""How to shuffle what is to be read, and of what was read only a little, in a tf.data pipeline."""

from __future__ import annotations

from dataclasses import replace

from tfdarshan.frameworks.tensorflow.cache_place import shuffled_before
from tfdarshan.frameworks.tensorflow.pipeline_words import AHEAD
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Pipeline, Stage
from tfdarshan.frameworks.words import Fix
from tfdarshan.units import plural

BEHIND_CACHE = (
    "If you add cache(), call shuffle() after it instead: cache() repeats the order of the first epoch."
)


def small_buffer(pipeline: Pipeline, shuffle: Stage, samples: int) -> Fix:
    """Word how to keep so few samples in the buffer of a stage that shuffles what was read."""
    changes = {shuffle: replace(shuffle, size=samples).statement}
    few = plural(samples, "sample")
    what = f"Keep {few} in the buffer: the first step of an epoch then waits for these samples only."
    reader = pipeline.reader
    if reader is not None and reader.name == "map":
        paths = shuffled_before(pipeline, reader)
        what = f"{_of_paths(reader, paths, shuffle, few)} {BEHIND_CACHE}"
        if paths is None:
            changes[reader] = f"dataset = dataset.{shuffle.typed}.{reader.typed}"
        elif _holds_less(paths, shuffle):
            changes[paths] = replace(paths, size=shuffle.size).statement
    if not pipeline.prefetches:
        what += " Further samples are read while steps compute."
        changes[pipeline.last] = f"{changes.get(pipeline.last, pipeline.last.statement)}.{AHEAD}"
    return Fix(what, "\n".join(changes.values()), "\n".join(stage.statement for stage in changes))


def _of_paths(reader: Stage, paths: Stage | None, shuffle: Stage, few: str) -> str:
    """Word what to shuffle in front of the map that reads, and how few samples to keep behind it."""
    if paths is None:
        return (
            f"Shuffle the paths in front of {reader.typed}, and keep {few} in the buffer behind it: "
            "shuffling paths takes no time."
        )
    if _holds_less(paths, shuffle):
        return (
            f"Shuffle more paths in front of {reader.typed}, and keep {few} in the buffer behind it: "
            "shuffling paths takes no time."
        )
    return f"Keep {few} in the buffer behind {reader.typed}: the paths in front of it are shuffled already."


def _holds_less(paths: Stage, shuffle: Stage) -> bool:
    """Say whether a buffer of paths is smaller than one of samples; -1 holds all."""
    return paths.size is not None and 0 <= paths.size < (shuffle.size or 0)
