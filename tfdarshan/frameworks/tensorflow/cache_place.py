"""Where `cache()` may stand in a tf.data pipeline: behind what gives the same in each epoch."""

from __future__ import annotations

from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Pipeline, Stage

# Stages without a function of their own that hand on what they are given, or read the same files again.
HAND_ON = frozenset(
    {
        "from_tensor_slices", "from_tensors", "range", "TFRecordDataset", "TextLineDataset",
        "FixedLengthRecordDataset", "shuffle", "batch", "padded_batch", "unbatch", "take", "skip", "shard",
        "prefetch", "cache", "with_options",
    }
)  # fmt: skip


def draws(pipeline: Pipeline, last: Stage) -> Stage | None:
    """Return the first stage up to `last` that is known to draw random numbers; None if there is none."""
    return next((one for one in (*pipeline.before(last), last) if one.random), None)


def behind(pipeline: Pipeline, decoder: Stage) -> Stage:
    """Return the stage that `cache()` is to follow: the last of the maps behind one that draw nothing."""
    place = decoder
    for stage in pipeline.after(decoder):
        if stage.name != "map" or stage.random is not False:
            return place
        place = stage
    return place


def works_behind(pipeline: Pipeline, place: Stage) -> bool:
    """Return whether a stage behind it has a function of its own, which works in each epoch."""
    return any(stage.name not in (*HAND_ON, "repeat") for stage in pipeline.after(place))


def shuffled_before(pipeline: Pipeline, place: Stage) -> Stage | None:
    """Return the stage that shuffles what `place` is given; None if there is none.

    What `cache()` keeps has the order of the first epoch: what is shuffled in front is to be shuffled behind.
    """
    return next((one for one in pipeline.before(place) if one.name == "shuffle"), None)
