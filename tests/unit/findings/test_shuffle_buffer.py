"""A buffer of samples that each epoch fills first is named, with what else could be shuffled."""

import pytest

from tests.unit.findings.made_up_buffers import SHUFFLE, buffer_job, found_buffer
from tests.unit.findings.made_up_jobs import BATCH, CACHE, LOAD, PATHS, PREFETCH, SHARDS
from tfdarshan.workloads.laboratory.applied import apply_lines


def test_a_buffer_that_each_epoch_fills_is_a_problem(tmp_path):
    # GIVEN 600 ms of computing an epoch, beside which 800 ms of reading could go on
    one = found_buffer(buffer_job(tmp_path, PATHS, LOAD, SHUFFLE, BATCH, PREFETCH))

    # THEN an epoch takes no less than the longer of both, with a batch before it
    assert one.kind == "problem"
    assert one.title == "each epoch begins with filling a buffer of 320 samples"
    assert one.gain.speedup == pytest.approx(1404 / 830, rel=0.05)
    shown = {entry.label: entry.value for entry in one.evidence}
    assert (shown["epochs begun"], shown["waits that filled it"]) == (3, pytest.approx(2.4, rel=0.01))


@pytest.mark.parametrize(("stages", "edits"), [((PREFETCH,), 1), ((), 2)], ids=["prefetches", "does not"])
def test_a_pipeline_that_does_not_prefetch_is_told_to(tmp_path, stages, edits):
    assert len(found_buffer(buffer_job(tmp_path, PATHS, LOAD, SHUFFLE, BATCH, *stages)).edits) == edits


@pytest.mark.parametrize(
    "stages",
    [
        (PATHS, SHUFFLE, LOAD, BATCH, PREFETCH),
        (PATHS, LOAD, BATCH, SHUFFLE, PREFETCH),
        (PATHS, LOAD, {"name": "shuffle", "size": 32}, BATCH, PREFETCH),
        (PATHS, LOAD, CACHE, SHUFFLE, BATCH, PREFETCH),
        (PATHS, LOAD, SHUFFLE, CACHE, BATCH, PREFETCH),
    ],
    ids=["paths", "batches", "two batches", "what a cache gives", "what a cache keeps"],
)
def test_buffers_that_hold_little_of_what_each_epoch_reads_are_not(tmp_path, stages):
    assert found_buffer(buffer_job(tmp_path, *stages)) is None


def test_waits_that_do_not_stand_out_fill_no_buffer(tmp_path):
    assert found_buffer(buffer_job(tmp_path, PATHS, LOAD, SHUFFLE, BATCH, PREFETCH, fill_ms=0.5)) is None


def test_paths_are_shuffled_instead_where_there_are_any(tmp_path):
    fix = found_buffer(buffer_job(tmp_path, PATHS, LOAD, SHUFFLE, BATCH)).fix
    program = (
        "import tensorflow as tf\n\npaths = []\n\ndef read_image(path):\n    return path\n\n"
        "data = tf.data.Dataset.from_tensor_slices(paths)\ndata = data.map(read_image)\n"
        "data = data.shuffle(320)\ndata = data.batch(16)\n"
    )
    typed = apply_lines(program, fix.line, fix.instead_of, {})
    assert "data = data.shuffle(320).map(read_image)\ndata = data.shuffle(64)\n" in typed
    assert "data = data.batch(16).prefetch(tf.data.AUTOTUNE)" in typed
    # ... and the sentence says where
    assert fix.what.startswith("Shuffle the paths in front of map(read_image), and keep 64 samples in the ")
    assert "If you add cache(), call shuffle() after it instead" in fix.what


def test_a_buffer_at_the_end_is_made_smaller_once(tmp_path):
    fix = found_buffer(buffer_job(tmp_path, SHARDS, SHUFFLE)).fix
    assert fix.instead_of == "dataset = dataset.shuffle(320)"
    assert fix.line == "dataset = dataset.shuffle(4).prefetch(tf.data.AUTOTUNE)"


def test_of_records_few_are_kept(tmp_path):
    fix = found_buffer(buffer_job(tmp_path, SHARDS, SHUFFLE, BATCH, PREFETCH)).fix
    assert fix.instead_of == "dataset = dataset.shuffle(320)"
    assert fix.line == "dataset = dataset.shuffle(64)"


@pytest.mark.parametrize(
    ("paths", "goes", "line", "what"),
    [
        (
            320,
            "dataset = dataset.shuffle(320)",
            "dataset = dataset.shuffle(64)",
            "Keep 64 samples in the buffer behind map(read_image): the paths in front of it are shuffled ",
        ),
        (
            8,
            "dataset = dataset.shuffle(320)\ndataset = dataset.shuffle(8)",
            "dataset = dataset.shuffle(64)\ndataset = dataset.shuffle(320)",
            "Shuffle more paths in front of map(read_image), and keep 64 samples in the buffer behind it: ",
        ),
    ],
    ids=["as many", "fewer"],
)
def test_paths_that_are_shuffled_already_are_not_shuffled_twice(tmp_path, paths, goes, line, what):
    # GIVEN a pipeline that shuffles paths, and what it read of them once more
    first = {"name": "shuffle", "size": paths}

    # WHEN
    fix = found_buffer(buffer_job(tmp_path, PATHS, first, LOAD, SHUFFLE, BATCH, PREFETCH)).fix

    # THEN the sentence asks for what the lines do
    assert (fix.instead_of, fix.line) == (goes, line)
    assert fix.what.startswith(what)
