"""Of the tf.data pipelines that a job iterates, one trains: its iterators give the steps' batches."""

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_training import MS, ORIGIN_NS
from tfdarshan.analysis.steps.step_windows import step_windows
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import (
    pipelines_of,
    training_pipeline,
    validation_pipeline,
)

# The first step that the job marks ends then.
MARKED = [(100 * MS, 1.0)]


def noted(**passes_ms):
    """Return pipelines that were noted, by the names of their functions: when their passes were begun."""
    found = [
        {
            "stages": [{"name": "map", "does": ["reads"], "function": name}],
            "iterators": len(begun),
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

    assert name_of(training_pipeline(pipelines, MARKED)) == training
    assert name_of(validation_pipeline(pipelines, MARKED)) == validation


def test_without_marks_it_is_the_pipeline_whose_iterators_gave_batches_for_most_of_the_time():
    # GIVEN a look at a batch, a layer that is adapted, evaluate(), and two epochs, in TensorFlow's trace
    pipelines = noted(train=[10, 50, 700], adapt=[20], val=[30, 600, 1_200])
    asked = [(11 * MS, 0.001), (21 * MS, 0.009), (31 * MS, 0.019), (51 * MS, 0.5), (701 * MS, 0.4)]

    # THEN
    assert name_of(training_pipeline(pipelines, asked)) == "train"
    assert name_of(validation_pipeline(pipelines, asked)) == "val"


def test_behind_passes_that_were_not_noted_the_first_pipeline_is_taken():
    # GIVEN more passes than are noted of the one, or steps of no moment
    (train, val) = noted(train=[10], val=[20])
    train = dataclasses.replace(train, iterators=2)

    # THEN
    assert training_pipeline((train, val), MARKED) is train
    assert name_of(training_pipeline(noted(val=[20], train=[50]), ())) == "val"


def test_steps_tell_when_their_iterators_were_asked_first():
    # GIVEN two steps of 10 ms and one of 60, behind which another iterator is asked
    steps = {
        "start_ns": np.array([5, 15, 25, 85, 95]) * MS,
        "end_ns": np.array([15, 25, 85, 95, 105]) * MS,
        "input_wait_ns": np.zeros(5, np.int64),
        "iterator_ns": np.array([5, 5, 5, 85, 85]) * MS,
    }

    # THEN
    assert step_windows(steps).asked == [(5 * MS, 0.02), (85 * MS, 0.01)]
    # ... and steps that the job marks are training
    assert step_windows(steps | {"iterator_ns": np.full(5, -1)}).asked == [(15 * MS, 1.0)]
