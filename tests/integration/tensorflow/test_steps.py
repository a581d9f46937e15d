"""Steps of a Keras training, and those that TensorFlow's own trace shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfdarshan
from tests.integration.tensorflow.xplane import HOST_PLANE, plane_of, read_space, traces

BATCHES = 10

JOB = """
    from tfdarshan.keras import IOCallback

    @tf.function
    def load(path):
        data = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)[:1000]
        return tf.cast(data, tf.float32), 1.0

    files = tf.data.Dataset.from_tensor_slices(paths).map(load).batch(4)
    model = tf.keras.Sequential([tf.keras.Input((1000,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")

    def fit(*callbacks, epochs=1, **options):
        model.fit(files, epochs=epochs, verbose=0, callbacks=list(callbacks), **options)

    fit(IOCallback("batches", batches=(13, 16)), epochs=2)
    fit(IOCallback("epochs", epochs=2, tf_profiler=False), epochs=3)
    fit(IOCallback("all", tf_profiler=False))

    class Checkpoint(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            with open(f"epoch-{epoch + 1}", "wb") as file:
                file.write(bytes(7_777))

    fit(IOCallback("saved", epochs=(1, 2), tf_profiler=False), Checkpoint(), epochs=3)
    fit(IOCallback("saved at the end", epochs=(2, 3), tf_profiler=False), Checkpoint(), epochs=3)

    fit(IOCallback("resumed", epochs=(2, 3), tf_profiler=False), initial_epoch=2, epochs=4)
    fit(IOCallback("too short", batches=(13, 16)))
    fit(IOCallback("past", epochs=(1, 2)), initial_epoch=2, epochs=3)

    class CtrlC(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 2:
                raise KeyboardInterrupt

    again = IOCallback("again", batches=(2, 4), tf_profiler=False)
    try:
        fit(again, CtrlC())
    except KeyboardInterrupt:
        pass
    fit(again)

    with tfdarshan.profile("outer", tf_profiler=False):
        fit(IOCallback("inner"))

    with tfdarshan.profile("loop"):
        for number, (batch, _) in enumerate(files):
            time.sleep(0.005)

    model.compile("sgd", "mse", steps_per_execution=5)
    with tfdarshan.profile("executions"):
        fit()

    with tfdarshan.profile("cut", tf_profiler_max_s=1):
        for batch in files:
            time.sleep(0.2)

    validation = tf.data.Dataset.from_tensor_slices(paths[:12]).map(load).batch(4)
    with tfdarshan.profile("validated"):
        for epoch in range(2):
            for batch in files:
                time.sleep(0.15)
            for batch in validation:
                pass
"""


@pytest.fixture(scope="module")
def folder(shared_job):
    """Run the job; return where its logdirs are."""
    shared_job.run(JOB)
    return shared_job.folder


def steps(logdir):
    return tfdarshan.open_session(logdir).steps


def test_recorded_batches_are_the_steps(folder):
    found = steps(folder / "batches")
    assert found["step"].tolist() == [13, 14, 15, 16]
    assert set(found["source"]) == {"Keras batches"}
    # TensorFlow's trace, which ran along, says how long each waited
    assert (
        (found["input_wait_ns"] > 0) & (found["input_wait_ns"] < found["end_ns"] - found["start_ns"])
    ).all()


def test_recorded_epoch_has_its_batches(folder):
    found = steps(folder / "epochs")
    assert found["step"].tolist() == list(range(BATCHES + 1, 2 * BATCHES + 1))
    assert found["input_wait_ns"].tolist() == [-1] * BATCHES


def test_steps_say_of_which_epoch_they_are(folder):
    # THEN Keras says it, or each epoch's iterator, without the validation set's
    assert steps(folder / "batches")["epoch"].tolist() == [2] * 4
    assert steps(folder / "saved at the end")["epoch"].tolist() == [2] * BATCHES + [3] * BATCHES
    validated = steps(folder / "validated")["epoch"]
    assert (validated[:BATCHES] == 1).all()
    assert sorted(set(validated)) == [1, 2]


def test_a_resumed_training_is_recorded_from_its_first_epoch_that_was_chosen(folder):
    assert steps(folder / "resumed")["epoch"].tolist() == [3] * BATCHES


@pytest.mark.parametrize(("logdir", "chosen"), [("too short", "batches 13 to 16"), ("past", "epochs 1 to 2")])
def test_a_training_without_the_chosen_part_says_so(folder, shared_job, logdir, chosen):
    said = f"the training had none of the {chosen}, so IOCallback recorded nothing. Choose others."
    assert shared_job.stderr.count(said) == 1
    assert not (folder / logdir).exists()


def test_a_training_that_ctrl_c_ended_is_a_session_of_its_own(folder):
    interrupted, second = sorted((folder / "again" / "plugins" / "tfdarshan").iterdir())
    assert steps(interrupted)["step"].tolist() == [2, 3]
    assert steps(second)["step"].tolist() == [2, 3, 4]


def test_whole_training_is_recorded_by_default(folder):
    session = tfdarshan.open_session(folder / "all")
    assert len(session.steps) == BATCHES
    reads = session.files[session.files["path"].str.endswith(".bin")]["POSIX_READS"].sum()
    assert reads == 2 * 4 * BATCHES


@pytest.mark.parametrize(("logdir", "epochs"), [("saved", [1, 2]), ("saved at the end", [2, 3])])
def test_what_later_callbacks_save_at_the_end_of_the_last_epoch_is_recorded(folder, logdir, epochs):
    files = tfdarshan.open_session(folder / logdir).files
    written = files[files["POSIX_BYTES_WRITTEN"] == 7_777]
    assert sorted(Path(path).name for path in written["path"]) == [f"epoch-{number}" for number in epochs]


def test_training_goes_on_where_the_callback_cannot_record(folder, shared_job):
    assert "IOCallback records nothing: a session already records this process" in shared_job.stderr
    assert not (folder / "inner").exists()


def test_loop_that_marks_nothing_has_the_steps_of_tensorflows_trace(folder):
    # GIVEN how often TensorFlow says the loop asked for a batch: for each, and once to find the end
    (trace,) = traces(folder / "loop")
    plane = plane_of(read_space(trace), HOST_PLANE)
    names = [plane.event_metadata[event.metadata_id].name for line in plane.lines for event in line.events]
    assert names.count("IteratorGetNextOp::DoCompute") == BATCHES + 1

    # THEN
    found = steps(folder / "loop")
    assert len(found) == BATCHES
    assert set(found["source"]) == {"TensorFlow's trace"}
    duration = found["end_ns"] - found["start_ns"]
    assert (duration > 5e6).all()
    assert ((found["input_wait_ns"] > 0) & (found["input_wait_ns"] < duration - 5e6)).all()
    assert found["start_ns"].tolist()[1:] == found["end_ns"].tolist()[:-1]


def test_several_steps_an_execution_are_steps_of_the_trace_too(folder):
    found = steps(folder / "executions")
    assert len(found) >= BATCHES - 1
    assert set(found["source"]) == {"TensorFlow's trace"}
    duration = found["end_ns"] - found["start_ns"]
    assert ((found["input_wait_ns"] > 0) & (found["input_wait_ns"] < duration)).all()


def test_a_trace_that_ends_before_the_session_is_none_of_the_jobs_files(folder):
    assert traces(folder / "cut")
    files = tfdarshan.open_session(folder / "cut").files
    assert files["path"].str.endswith(".bin").any()
    assert not [path for path in files["path"] if path.startswith(str(folder / "cut"))]


def test_batches_of_a_validation_set_are_no_steps(folder):
    # GIVEN two epochs, each followed by a pass over other batches, which are not trained on
    (trace,) = traces(folder / "validated")
    plane = plane_of(read_space(trace), HOST_PLANE)
    names = [plane.event_metadata[event.metadata_id].name for line in plane.lines for event in line.events]
    assert names.count("IteratorGetNextOp::DoCompute") == 2 * (BATCHES + 1 + 3 + 1)

    # THEN there is a step for each batch of the epochs, and for asking after the last one
    found = steps(folder / "validated")
    assert len(found) == 2 * (BATCHES + 1)
    assert (found["start_ns"].to_numpy()[1:] > found["end_ns"].to_numpy()[:-1]).sum() == 1
