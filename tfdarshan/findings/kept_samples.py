"""What `cache()` would keep of what a pipeline decodes, and whether that can be kept."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfdarshan.findings.fix_lines import decoding_stage, input_pipeline
from tfdarshan.findings.measures import Measures
from tfdarshan.frameworks.tensorflow.cache_place import HAND_ON, behind, draws, works_behind
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Pipeline, Stage

# Stages that give as many elements as they take, but for batches.
ONE_BY_ONE = (HAND_ON | {"repeat", "map"}) - {"unbatch"}


@dataclass(frozen=True)
class KeptSamples:
    """What would be kept.

    Attributes:
        drawing: The stage that draws random numbers in front of it; None if none is known to.
        kept_bytes: What it takes; None if unknown.
        works_behind: Whether functions behind it work in each epoch all the same.
    """

    drawing: Stage | None = None
    kept_bytes: float | None = None
    works_behind: bool = False


def kept_samples(measures: Measures) -> KeptSamples:
    """Return it for the pipeline that reads the input."""
    pipeline, decoder = input_pipeline(measures), decoding_stage(measures)
    if pipeline is None or decoder is None:
        return KeptSamples()
    place = behind(pipeline, decoder)
    return KeptSamples(
        draws(pipeline, place), kept_bytes(measures, pipeline, place), works_behind(pipeline, place)
    )


def kept_bytes(measures: Measures, pipeline: Pipeline, place: Stage) -> float | None:
    """Return what all takes that a stage gives in an epoch, by the batches of steps; None if unknown."""
    batch_bytes = _of_a_batch(pipeline, place)
    if batch_bytes is None or measures.windows is None:
        return None
    return batch_bytes * measures.model.units / measures.passes


def _of_a_batch(pipeline: Pipeline, place: Stage) -> float | None:
    """Return what a stage gives for one batch: by its elements' shape, else as batches were seen."""
    behind_it = pipeline.after(place)
    names = {stage.name for stage in behind_it}
    sizes = [stage.size for stage in behind_it if stage.name in ("batch", "padded_batch")]
    if place.element_bytes is not None and None not in sizes and names <= ONE_BY_ONE:
        return float(place.element_bytes * math.prod(size or 1 for size in sizes))
    return pipeline.batch_bytes if names <= ONE_BY_ONE - {"map"} else None
