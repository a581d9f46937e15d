"""Fixes of a data set that a library makes, as Keras of a folder of images: nobody can type in its lines."""

import pytest

from tfdarshan.frameworks.tensorflow.pipeline_words import decoded_by, kept_behind, with_calls
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import AUTOTUNE, Pipeline, Stage

SITE = "/env/lib/python3.11/site-packages"
OPTIONS = (
    "options = tf.data.Options()\n"
    "options.threading.private_threadpool_size = 16\n"
    "dataset = dataset.with_options(options)"
)


def mapped(file, calls=AUTOTUNE):
    return Stage("map", calls, does=("reads", "decodes"), function="load", file=file, line=1)


KERAS = mapped(f"{SITE}/keras/src/utils/image_dataset_utils.py")


def pipeline(stage, *before):
    return Pipeline((Stage("from_tensor_slices"), *before, stage, Stage("batch", size=16)), None, 1, 1)


@pytest.mark.parametrize(
    ("file", "library"),
    [
        (KERAS.file, "keras"),
        ("/usr/lib/python3/dist-packages/tensorflow_datasets/core/reader.py", "tensorflow_datasets"),
        # the program's map() of a function of TensorFlow's
        (f"{SITE}/tensorflow/python/ops/gen_io_ops.py", ""),
        ("/home/me/train.py", ""),
        ("/home/me/site-packages", ""),
        ("", ""),
    ],
)
def test_a_library_is_known_by_the_file_of_its_function(file, library):
    assert mapped(file).library == library


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ((), "dataset = dataset.cache()"),
        ((Stage("shuffle", size=128),), "dataset = dataset.cache().shuffle(128)"),
    ],
)
def test_what_it_makes_is_kept_behind_it(before, line):
    fix = kept_behind("Keep it.", pipeline(KERAS, *before), KERAS)
    assert (fix.line, fix.instead_of) == (line, "")
    assert fix.what.startswith("Keep it. Call cache() on the data set that keras returns.")
    assert ("Call shuffle() after cache()" in fix.what) == bool(before)


@pytest.mark.parametrize("word", [with_calls, decoded_by])
def test_its_calls_are_given_threads(word):
    fix = word("Make 16.", KERAS, 16, 2)
    assert (fix.line, fix.instead_of) == (OPTIONS, "")
    assert "tf.data ran on 2 threads in this session: give it 16." in fix.what
    assert "order" not in fix.what


def test_nothing_is_typed_where_threads_are_enough():
    assert decoded_by("Make 2.", KERAS, 2, 4).line == ""


def test_the_program_s_own_lines_are_changed():
    own = mapped("/home/me/train.py")
    assert kept_behind("Keep it.", pipeline(own), own).instead_of == own.statement
    assert with_calls("Make 16.", own, 16, 2).instead_of == own.statement
