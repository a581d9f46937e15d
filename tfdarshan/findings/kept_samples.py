"""What `cache()` would keep of what a pipeline decodes: whether that is the same in each epoch, and fits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfdarshan.analysis.cache_place import HAND_ON, behind, draws, same_each_epoch, works_behind
from tfdarshan.analysis.tf_data_pipeline import Pipeline, Stage
from tfdarshan.findings.finding import Assumption
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import decoding_stage, input_pipeline
from tfdarshan.units import human_bytes, percent

# Stages that give as many elements as they take, but for batches.
ONE_BY_ONE = (HAND_ON | {"repeat", "map"}) - {"unbatch"}
REFUTED = "samples are changed at random as they are decoded"


@dataclass(frozen=True)
class KeptSamples:
    """What would be kept.

    Attributes:
        same: Whether each epoch is known to decode the same.
        drawing: The stage that draws random numbers in front of it; None if none is known to.
        fits: What of the session shows that all of it fits into memory; "" if nothing does.
        kept_bytes: What it takes; None if unknown.
        works_behind: Whether functions behind it work in each epoch all the same.
        place: The stage that a cache() is to follow; None if no pipeline is known.
    """

    same: bool = False
    drawing: Stage | None = None
    fits: str = ""
    kept_bytes: float | None = None
    works_behind: bool = False
    place: Stage | None = None

    @property
    def assumed(self) -> list[Assumption]:
        """What a gain of keeping it rests on."""
        if not self.same:
            return [Assumption("each epoch decodes the same", "", REFUTED)]
        drawn = "no function in front of it draws random numbers, by TensorFlow's graph"
        found = [
            Assumption("each epoch decodes the same", drawn, REFUTED),
            Assumption(
                "what is decoded stays in memory",
                self.fits,
                "the job itself needs the memory, or decoded data is far larger",
            ),
        ]
        if self.works_behind:
            found.append(
                Assumption(
                    "what decodes takes this time, not what works behind it", "", "later maps take as long"
                )
            )
        return found


def kept_samples(measures: Measures) -> KeptSamples:
    """Tells it of the pipeline that reads the input."""
    pipeline, decoder = input_pipeline(measures), decoding_stage(measures)
    if pipeline is None or decoder is None:
        return KeptSamples()
    place = behind(pipeline, decoder)
    taken = kept_bytes(measures, pipeline, place)
    return KeptSamples(
        same_each_epoch(pipeline, place),
        draws(pipeline, place),
        _fits(measures, pipeline, place, taken),
        taken,
        works_behind(pipeline, place),
        place,
    )


def kept_bytes(measures: Measures, pipeline: Pipeline, place: Stage) -> float | None:
    """Gives what all takes that a stage gives in an epoch, by the batches of steps; None if unknown."""
    batch_bytes = _of_a_batch(pipeline, place)
    if batch_bytes is None or measures.windows is None:
        return None
    return batch_bytes * measures.model.units / measures.passes


def _of_a_batch(pipeline: Pipeline, place: Stage) -> float | None:
    """Gives what a stage gives for one batch: by its elements' shape, else as batches were seen."""
    behind_it = pipeline.after(place)
    names = {stage.name for stage in behind_it}
    sizes = [stage.size for stage in behind_it if stage.name in ("batch", "padded_batch")]
    if place.element_bytes is not None and None not in sizes and names <= ONE_BY_ONE:
        return float(place.element_bytes * math.prod(size or 1 for size in sizes))
    return pipeline.batch_bytes if names <= ONE_BY_ONE - {"map"} else None


def _fits(measures: Measures, pipeline: Pipeline, place: Stage, taken: float | None) -> str:
    memory = measures.machine.memory_bytes
    if taken is not None and memory:
        return f"{human_bytes(taken)} are {percent(taken, memory)} of it"
    cache = pipeline.has("cache")
    cut = any(stage.name == "take" for stage in pipeline.after(place))
    if cache is not None and cache in pipeline.after(place) and pipeline.made_anew and not cut:
        return "each epoch's own cache() holds it already"
    return ""
