"""A pipeline of several data sets is described behind the one that reads files, wherever that one stands."""

from __future__ import annotations

import pytest

import tfdarshan
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import pipelines_of

JOB = """
    def load(path):
        return tf.io.read_file(path)

    files = tf.data.Dataset.from_tensor_slices(paths)
    labels = tf.data.Dataset.range(len(paths))
    images = files.map(load, num_parallel_calls=2)
    pipelines = {
        "zip": tf.data.Dataset.zip((labels, images)),
        "sample": tf.data.Dataset.sample_from_datasets([images, files.map(load)]),
        "choose": tf.data.Dataset.choose_from_datasets([files, images], labels.map(lambda one: one % 2)),
        "add": files.concatenate(images),
        "numbers": tf.data.Dataset.zip((labels, labels)),
    }
    for name, dataset in pipelines.items():
        with tfdarshan.profile(name, tf_profiler=False):
            for _ in dataset.batch(2).take(2):
                pass
"""
READS = ["from_tensor_slices()", "map(load, num_parallel_calls=2)"]
TYPED = {
    "zip": [*READS, "zip()"],
    "sample": [*READS, "directed_interleave()"],
    "choose": [*READS, "directed_interleave()"],
    "add": [*READS, "concatenate()"],
    "numbers": ["range()", "zip()"],
}


@pytest.fixture(scope="module")
def folder(shared_job):
    shared_job.run(JOB)
    return shared_job.folder


@pytest.mark.parametrize("kind", TYPED)
def test_the_stages_are_those_of_the_data_set_that_reads(folder, kind):
    (pipeline,) = pipelines_of(tfdarshan.open_session(folder / kind).meta[0])

    assert [stage.typed for stage in pipeline.stages] == [*TYPED[kind], "batch(2)", "take(2)"]
    assert pipeline.reader == (pipeline.stages[1] if kind != "numbers" else None)


def test_a_data_set_that_is_chosen_by_chance_draws_random_numbers(folder):
    (sampled,) = pipelines_of(tfdarshan.open_session(folder / "sample").meta[0])
    (chosen,) = pipelines_of(tfdarshan.open_session(folder / "choose").meta[0])

    assert sampled.has("directed_interleave").random is True
    assert chosen.has("directed_interleave").random is False
