"""Of the tf.data pipelines that a job iterates, one trains: the one begun last before the first step ends."""

import pytest

from tests.unit.findings.made_up_training import MS, ORIGIN_NS
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import (
    pipelines_of,
    training_pipeline,
    validation_pipeline,
)

# The first step ends then.
STEP_MS = 100


def noted(**passes_ms):
    """Return pipelines that were noted, by the names of their functions: when their passes were begun."""
    found = [
        {
            "stages": [{"name": "map", "does": ["reads"], "function": name}],
            "passes_realtime_ns": [ORIGIN_NS + round(at * MS) for at in begun],
        }
        for name, begun in passes_ms.items()
    ]
    return pipelines_of({"origin_realtime_ns": ORIGIN_NS, "pipelines": {"found": found}})


def name_of(pipeline):
    return None if pipeline is None else pipeline.reader.function


@pytest.mark.parametrize(
    ("passes", "training", "validation"),
    [
        # fit() with a validation set
        ({"train": [50, 700], "val": [600, 1_200]}, "train", "val"),
        # evaluate() before fit()
        ({"val": [20, 600], "train": [50, 700]}, "train", "val"),
        # a look at a batch, and evaluate() before fit()
        ({"train": [10, 50, 700], "val": [20, 600]}, "train", "val"),
        # a layer that is adapted before fit()
        ({"adapt": [20], "train": [50, 700], "val": [600]}, "train", "val"),
        ({"adapt": [20], "train": [50]}, "train", None),
        # iterators that are older than the session
        ({"train": [], "val": [600]}, "train", "val"),
        # steps that end before anything is iterated tell nothing
        ({"train": [150], "val": [600]}, "train", "val"),
        ({}, None, None),
    ],
)
def test_the_pipeline_begun_last_before_the_first_step_ends_trains(passes, training, validation):
    pipelines = noted(**passes)

    assert name_of(training_pipeline(pipelines, STEP_MS * MS)) == training
    assert name_of(validation_pipeline(pipelines, STEP_MS * MS)) == validation


def test_without_steps_the_first_pipeline_is_taken():
    assert name_of(training_pipeline(noted(val=[20], train=[50]), None)) == "val"


def test_sessions_of_earlier_versions_noted_the_first_pass():
    # GIVEN
    found = [
        {
            "stages": [{"name": "map", "does": ["reads"], "function": name}],
            "began_realtime_ns": ORIGIN_NS + at,
        }
        for name, at in (("val", 20 * MS), ("train", 50 * MS))
    ]
    pipelines = pipelines_of({"origin_realtime_ns": ORIGIN_NS, "pipelines": {"found": found}})

    # THEN
    assert [one.begun_ns for one in pipelines] == [(20 * MS,), (50 * MS,)]
    assert name_of(training_pipeline(pipelines, STEP_MS * MS)) == "train"
