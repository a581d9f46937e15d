"""A session says which tf.data pipelines its job iterated; TensorFlow is as it was afterwards."""

from __future__ import annotations

import textwrap

import pytest

import tfdarshan
from tests.lean_tensorflow import WITH_KERAS
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import pipelines_of

JOB = """
    from tensorflow.python.data.ops import iterator_ops

    original = iterator_ops.OwnedIterator._create_iterator
    with tf.io.TFRecordWriter("data/records", "GZIP") as writer:
        for _ in range(8):
            writer.write(bytes(8))

    def load(path):
        return tf.io.read_file(path)

    @tf.function
    def compiled(path):
        return tf.io.decode_raw(tf.io.read_file(path), tf.uint8)[:4]

    class Samples:
        def __call__(self):
            for path in paths[:4]:
                with open(path, "rb") as file:
                    yield file.read(1)

    def samples():
        yield from (1, 2)

    options = tf.data.Options()
    options.threading.private_threadpool_size = 3
    options.experimental_optimization.map_parallelization = False
    plain = tf.data.Dataset.from_tensor_slices(paths).shuffle(40).map(load, num_parallel_calls=2)
    chained = (
        tf.data.Dataset.from_tensor_slices(paths)
        .map(compiled, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
        .map(lambda data: tf.cast(data, tf.float32) + tf.reduce_sum([1.0]))
        .batch(4, drop_remainder=True).prefetch(2).with_options(options)
    )
    text = tf.TensorSpec((), tf.string)
    generated = tf.data.Dataset.from_generator(Samples(), output_signature=text).batch(2)
    by_function = tf.data.Dataset.from_generator(samples, output_signature=tf.TensorSpec((), tf.int32))
    records = tf.data.TFRecordDataset(["data/records"], "GZIP", num_parallel_reads=2).cache().take(3)
    woven = tf.data.Dataset.from_tensors("data/records").interleave(
        lambda name: tf.data.TFRecordDataset(name, compression_type="GZIP"), cycle_length=3
    )
    python = tf.data.Dataset.from_tensor_slices(paths).map(
        lambda path: tf.numpy_function(lambda name: open(name, "rb").read(1), [path], tf.string)
    )

    def made_anew():
        return tf.data.Dataset.from_tensor_slices(paths).map(load).cache()

    with tfdarshan.profile("logs", tf_profiler=False):
        for _ in range(2):
            for files in (plain, chained, generated, by_function, records, woven, python, made_anew()):
                for _ in files:
                    pass
    restored = iterator_ops.OwnedIterator._create_iterator is original

    # A session that begins when the iterator is there already
    numbers = iter(tf.data.Dataset.range(100).map(lambda n: n + 1).repeat())
    with tfdarshan.profile("late", tf_profiler=False):
        next(numbers)

    # Data sets that cannot be described are iterated all the same
    class Strange:
        def __getattr__(self, name):
            raise RuntimeError(name)

    from tfdarshan.frameworks.tensorflow import input_pipelines
    described = input_pipelines._stages
    input_pipelines._stages = lambda dataset: Strange().stages
    with tfdarshan.profile("strange", tf_profiler=False):
        passed = len(list(plain))
    input_pipelines._stages = described

    x, y = tf.zeros((8, 4)), tf.zeros((8, 1))
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    given = tf.data.Dataset.from_tensor_slices((x, y)).batch(2)
    with tfdarshan.profile("keras", tf_profiler=False):
        model.fit(given, epochs=2, verbose=0)
    print(json.dumps({"restored": restored, "passed": passed}))
"""


@pytest.fixture(scope="module")
def said(shared_job):
    # In a file, so that the text of its lambdas can be read.
    (shared_job.folder / "job.py").write_text(textwrap.dedent(JOB))
    return shared_job.run('exec(compile(open("job.py").read(), "job.py", "exec"))', **WITH_KERAS)


@pytest.fixture(scope="module")
def pipelines(said, shared_job):
    return pipelines_of(tfdarshan.open_session(shared_job.logdir).meta[0])


def test_stages_are_typed_as_the_program_has_them(pipelines):
    typed = [[stage.typed for stage in one.stages if stage.name != "from_tensor_slices"] for one in pipelines]
    assert typed == [
        ["shuffle(40)", "map(load, num_parallel_calls=2)"],
        [
            "map(compiled, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
            "map(lambda data: tf.cast(data, tf.float32) + tf.reduce_sum([1.0]))",
            "batch(4, drop_remainder=True)",
            "prefetch(2)",
            "with_options()",
        ],
        ["from_generator(Samples)", "batch(2)"],
        ["from_generator(samples)"],
        ['TFRecordDataset(shards, compression_type="GZIP", num_parallel_reads=2)', "cache()", "take(3)"],
        [
            "from_tensors()",
            "interleave(lambda name: tf.data.TFRecordDataset(name, compression_type='GZIP'), cycle_length=3)",
        ],
        ["map(lambda path: tf.numpy_function(lambda name: open(name, 'rb').read(1), [path], tf.string))"],
        ["map(load)", "cache()"],
    ]


def test_what_reads_and_how_is_told(pipelines):
    readers = [one.reader for one in pipelines]
    assert [reader.name for reader in readers] == [
        "map", "map", "from_generator", "from_generator", "TFRecordDataset", "interleave", "map", "map",
    ]  # fmt: skip
    assert readers[1].does == ("reads", "decodes")
    assert readers[6].does == ("python",)
    assert readers[5].compression == "GZIP"
    assert [one.pool_threads for one in pipelines] == [None, 3, *[None] * 6]
    assert [one.tuned for one in pipelines] == [True, False, *[True] * 6]
    assert [one.prefetches for one in pipelines] == [False, True, *[False] * 6]


def test_passes_and_data_sets_are_counted(pipelines):
    passes_ns = [one.begun_ns for one in pipelines]
    assert [len(one) for one in passes_ns] == [2] * 8
    assert sorted(at_ns for one in passes_ns for at_ns in one[:1]) == [one[0] for one in passes_ns]
    assert max(first_ns for first_ns, _ in passes_ns) < min(second_ns for _, second_ns in passes_ns)
    assert [(one.datasets, one.iterators) for one in pipelines] == [(1, 2)] * 7 + [(2, 2)]
    assert [one.made_anew for one in pipelines] == [False] * 7 + [True]


def test_iterating_is_tensorflows_alone_again(said):
    assert said["restored"]


def test_a_pipeline_whose_iterator_is_older_than_the_session_is_found(said, shared_job):
    (one,) = pipelines_of(tfdarshan.open_session(shared_job.folder / "late").meta[0])
    assert [stage.name for stage in one.stages] == ["range", "map", "repeat"]
    assert one.begun_ns == ()


def test_what_cannot_be_described_is_iterated_all_the_same(said, shared_job):
    assert said["passed"] == 40
    assert pipelines_of(tfdarshan.open_session(shared_job.folder / "strange").meta[0]) == ()


def test_the_data_set_that_keras_is_given_is_seen(said, shared_job):
    found = pipelines_of(tfdarshan.open_session(shared_job.folder / "keras").meta[0])
    assert any([stage.typed for stage in one.stages][-1] == "batch(2)" for one in found), found
