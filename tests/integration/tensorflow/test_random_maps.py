"""A session says of each map whether it draws random numbers, and what its elements and batches take."""

from __future__ import annotations

import textwrap

import pytest

import tfdarshan
from tests.lean_tensorflow import WITH_KERAS
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import pipelines_of

# Each is iterated in the order of its name's number; none is read from.
JOB = """
    from tensorflow.python.data.ops import iterator_ops

    def decoded(path):
        return tf.io.decode_jpeg(tf.io.read_file(path), channels=3)

    def resized(path):
        return tf.image.resize(decoded(path), (8, 8))

    def parsed(record):
        return tf.io.parse_single_example(record, {"x": tf.io.FixedLenFeature((4,), tf.float32)})

    @tf.function
    def branching(path):
        image = decoded(path)
        if tf.shape(image)[0] > 10:
            image = image[:10]
        for _ in tf.range(tf.shape(image)[0]):
            image = image + 1
        return image

    def branch_that_draws(path):
        image = tf.cast(decoded(path), tf.float32)
        if tf.strings.length(path) > 1:
            image += tf.random.uniform(())
        return image

    def within_bounds(data):
        tf.debugging.assert_greater(tf.strings.length(data), 0)
        return data

    flip, scale = tf.keras.layers.RandomFlip("horizontal"), tf.keras.layers.Rescaling(1 / 255)
    normal = tf.keras.layers.Normalization(mean=0.5, variance=1.0)
    labels = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    generator = tf.random.Generator.from_seed(1)
    state = tf.Variable(1.0)
    paths_only = tf.data.Dataset.from_tensor_slices(["a", "b"])
    numbered = tf.data.Dataset.zip((paths_only, tf.data.Dataset.counter()))
    with_random = tf.data.Dataset.zip((paths_only, tf.data.Dataset.random(rerandomize_each_iteration=True)))
    mapped = {
        "decoded": (paths_only, decoded),
        "resized": (paths_only, resized),
        "parsed": (tf.data.TFRecordDataset(["a"]), parsed),
        "branching": (paths_only, branching),
        "asserted": (paths_only, within_bounds),
        "keras rescaling": (paths_only, lambda path: scale(resized(path))),
        "keras normalization": (paths_only, lambda path: normal(resized(path))),
        "keras lookup": (paths_only, labels),
        "seed of constants": (paths_only, lambda path: tf.image.stateless_random_flip_left_right(
            decoded(path), seed=(1, 2))),
        "flipped": (paths_only, lambda path: tf.image.random_flip_left_right(decoded(path))),
        "cropped": (paths_only, lambda path: tf.image.random_crop(decoded(path), (8, 8, 3))),
        "distorted": (paths_only, lambda path: tf.image.sample_distorted_bounding_box(
            [10, 10, 3], [[[0.0, 0.0, 1.0, 1.0]]])[0]),
        "branch that draws": (paths_only, branch_that_draws),
        "keras flip": (paths_only, lambda path: flip(resized(path))),
        "generator": (paths_only, lambda path: generator.uniform((4,))),
        "seed of a counter": (numbered, lambda path, n: tf.random.stateless_uniform((4,), tf.stack([n, 0]))),
        "seed of Dataset.random": (with_random, lambda path, n: tf.random.stateless_uniform(
            (4,), tf.stack([n, n]))),
        "nested": (paths_only, lambda path: tf.map_fn(
            lambda value: value + tf.random.normal(()), tf.zeros((3,)))),
        "NumPy": (paths_only, lambda path: tf.numpy_function(lambda name: name, [path], tf.string)),
        "Python": (paths_only, lambda path: tf.py_function(lambda name: name, [path], tf.string)),
        "variable": (paths_only, lambda path: state + 1.0),
        "time": (paths_only, lambda path: tf.timestamp()),
        "large": (paths_only, lambda path: tf.add_n([tf.cast(tf.strings.length(path), tf.float32) + n
                                                     for n in range(1500)])),
    }

    def made_anew(number):
        return paths_only.map(lambda path: tf.strings.to_number(path) * number)

    with tfdarshan.profile("logs", tf_profiler=False):
        for source, function in mapped.values():
            iter(source.map(function))
        iter(paths_only.interleave(lambda path: tf.data.TFRecordDataset(path).map(parsed)))
        iter(paths_only.interleave(lambda path: tf.data.TFRecordDataset(path).shuffle(8)))
        iter(paths_only.filter(lambda path: tf.random.uniform(()) > 0.5))
        iter(with_random.batch(2))
        iter(numbered.batch(2, drop_remainder=True))
        iter(tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec((), tf.int32)))
    next_of = iterator_ops.OwnedIterator.__next__
    whole = tf.data.Dataset.range(40).map(lambda n: tf.zeros((n, 2)))
    ragged = tf.data.Dataset.range(12).map(lambda n: tf.range(n)).ragged_batch(3)
    with tfdarshan.profile("batches", tf_profiler=False):
        seen = [list(data) for data in (whole, whole, ragged, paths_only.batch(2))]
        after = iterator_ops.OwnedIterator.__next__ is next_of
        unread = iter(ragged.take(3))
        next(unread)
        before_end = iterator_ops.OwnedIterator.__next__ is not next_of
    restored = iterator_ops.OwnedIterator.__next__ is next_of
    for numbers, name in (((1.0, 1.0), "same"), ((1.0, 2.0), "others")):
        with tfdarshan.profile(name, tf_profiler=False):
            for number in numbers:
                iter(made_anew(number))
    print(json.dumps({"names": list(mapped), "given": [len(data) for data in seen], "after": after,
                      "before_end": before_end, "restored": restored}))
"""
NONE = ("decoded", "resized", "parsed", "branching", "asserted", "keras rescaling", "keras normalization",
        "keras lookup", "seed of constants")  # fmt: skip
DRAWS = ("flipped", "cropped", "distorted", "branch that draws", "keras flip", "generator",
         "seed of a counter", "seed of Dataset.random", "nested")  # fmt: skip
UNKNOWN = ("NumPy", "Python", "variable", "time", "large")


@pytest.fixture(scope="module")
def said(shared_job):
    (shared_job.folder / "job.py").write_text(textwrap.dedent(JOB))
    return shared_job.run('exec(compile(open("job.py").read(), "job.py", "exec"))', **WITH_KERAS)


@pytest.fixture(scope="module")
def pipelines(said, shared_job):
    return pipelines_of(tfdarshan.open_session(shared_job.logdir).meta[0])


@pytest.mark.long
def test_maps_that_draw_no_random_numbers_are_told_from_those_that_do(said, pipelines):
    told = {
        name: pipeline.stages[-1].random for name, pipeline in zip(said["names"], pipelines, strict=False)
    }
    wanted = dict.fromkeys(NONE, False) | dict.fromkeys(DRAWS, True) | dict.fromkeys(UNKNOWN)
    assert told == wanted


def test_other_stages_are_told_as_well(said, pipelines):
    others = [{stage.name: stage.random for stage in one.stages} for one in pipelines[len(said["names"]) :]]
    assert [one.get("interleave") for one in others[:2]] == [False, None]
    assert others[2]["filter"] is True
    assert others[3] == {"from_tensor_slices": None, "zip": True, "batch": None}
    assert others[4]["zip"] is False
    assert others[5] == {"from_generator": None}


def test_what_an_element_takes_is_told_where_its_shape_says(said, pipelines):
    told = {
        name: pipeline.stages[-1].element_bytes
        for name, pipeline in zip(said["names"], pipelines, strict=False)
    }
    assert {name: told[name] for name in ("decoded", "resized", "parsed", "NumPy")} == {
        "decoded": None, "resized": 8 * 8 * 3 * 4, "parsed": 16, "NumPy": None,
    }  # fmt: skip


@pytest.mark.parametrize(("logdir", "random"), [("same", False), ("others", None)])
def test_a_data_set_that_is_made_anew_of_other_numbers_is_unknown(said, shared_job, logdir, random):
    (one,) = pipelines_of(tfdarshan.open_session(shared_job.folder / logdir).meta[0])
    assert one.made_anew
    assert one.stages[-1].random is random


def test_the_first_batches_sizes_are_told_and_then_nothing_is_looked_at(said, shared_job):
    # GIVEN two passes of vectors of 0, 8, 16, ... bytes, one of ragged tensors, one of strings
    found = pipelines_of(tfdarshan.open_session(shared_job.folder / "batches").meta[0])

    # THEN of the first four batches the mean is told: of strings nothing is, and of ragged ones all parts
    ranges = [sum(range(first, first + 3)) * 8 + 4 * 8 for first in range(0, 12, 3)]
    assert [one.batch_bytes for one in found] == [12, sum(ranges) / 4, None, ranges[0]]
    assert said["given"] == [40, 40, 4, 1]

    # AND TensorFlow's iterators are as they were once these were seen, and behind the session
    assert (said["after"], said["before_end"], said["restored"]) == (True, True, True)
