"""Keras' TensorBoard callback with profile_batch, in a script that knows nothing of tfdarshan."""

from __future__ import annotations

import pytest

import tfdarshan
from tests.integration.tensorflow.xplane import (
    IO_PLANE,
    io_calls,
    plane_of,
    read_space,
    recorded_calls,
    traces,
)

BATCHES, BATCH_FILES = 200, 4

JOB = """
    def load(path):
        data = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)[:1000]
        return tf.cast(data, tf.float32), 1.0

    files = tf.data.Dataset.from_tensor_slices(paths).repeat(20).map(load).batch(4)
    model = tf.keras.Sequential([tf.keras.Input((1000,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    callback = tf.keras.callbacks.TensorBoard("logs", profile_batch=(3, 6), write_graph=False)
    model.fit(files, epochs=1, verbose=0, callbacks=[callback])
"""


@pytest.fixture(scope="module")
def automatic(shared_job):
    """Run the job under `TFDARSHAN=1 tfdarshan run`, which needs no change of it."""
    script = shared_job.folder / "train.py"
    shared_job.run_script(script, JOB)
    (trace,) = traces(shared_job.logdir)
    return read_space(trace), tfdarshan.open_session(shared_job.logdir), trace


def test_trace_has_the_calls_that_were_recorded(automatic):
    space, session, _ = automatic
    assert io_calls(plane_of(space, IO_PLANE)) == recorded_calls(session)


def test_profiled_batches_show_their_files(automatic):
    # The pipeline reads ahead of the training, but not so many batches.
    space, _, _ = automatic
    reads = [call for call in io_calls(plane_of(space, IO_PLANE)) if call[1] == "pread"]
    assert 0 < len(reads) <= 2 * BATCHES * BATCH_FILES
    assert {call[6].rpartition(".")[2] for call in reads} == {"bin"}


def test_session_is_beside_the_trace(automatic):
    _, session, trace = automatic
    assert session.path == trace.parents[2] / "tfdarshan" / trace.parent.name


def test_nothing_else_was_recorded(automatic, shared_job):
    # TFDARSHAN=1 asks for TensorFlow's sessions only, not for one of the whole run
    assert tfdarshan.find_sessions(shared_job.folder) == [automatic[1].path]
