"""Sessions of TensorFlow's profiler in jobs that make it hard: many, with forks, imports, sudden ends."""

from __future__ import annotations

import os
import signal

import pytest

import tfdarshan
from tests.integration.tensorflow.conftest import FILES, SIZES
from tests.integration.tensorflow.xplane import IO_PLANE, io_calls, plane_of, read_space, traces
from tfdarshan.commands import main

SESSIONS = 200

MANY = """
    from tfdarshan.native import _bridge

    def resources():
        with open("/proc/self/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        return {
            "descriptors": len(os.listdir("/proc/self/fd")),
            "threads": int(fields["Threads"]),
            "memory_kb": int(fields["VmRSS"].split()[0]),
        }

    def profile_once():
        tf.profiler.experimental.start("logs")
        read = read_all()
        tf.profiler.experimental.stop()
        return read

    read = [profile_once() for _ in range(20)]
    tfdarshan.find_sessions("logs")
    before = resources()
    read += [profile_once() for _ in range(180)]
    tfdarshan.find_sessions("logs")
    after = resources()
    print(json.dumps([read, before, after, _bridge.slots_holding_wrappers()]))
"""


@pytest.fixture(scope="module")
def many(shared_job):
    """Run 200 sessions in one process."""
    return shared_job.run(MANY, before="tfdarshan.enable()")


@pytest.mark.long
def test_two_hundred_sessions_are_all_complete(many, shared_job):
    sessions = [tfdarshan.open_session(path) for path in tfdarshan.find_sessions(shared_job.logdir)]
    assert len(sessions) == SESSIONS
    for session in sessions:
        files = session.files[session.files["path"].str.endswith(".bin")]
        assert (files["POSIX_OPENS"].sum(), files["POSIX_BYTES_READ"].sum()) == (FILES, sum(SIZES))
    assert list(shared_job.spool.iterdir()) == []


@pytest.mark.long
def test_two_hundred_sessions_leave_nothing_in_the_process(many):
    read, before, after, wrappers = many
    assert read == [sum(SIZES)] * SESSIONS
    assert wrappers == 0
    assert after["descriptors"] <= before["descriptors"]
    assert after["threads"] <= before["threads"] + 1
    assert after["memory_kb"] < before["memory_kb"] + 60_000


HARD = """
    import threading

    said = {}

    # Forks while threads read.
    tf.profiler.experimental.start("forks")
    readers = [threading.Thread(target=read_all, args=(2,)) for _ in range(2)]
    for reader in readers:
        reader.start()
    statuses = []
    for number in range(10):
        child = os.fork()
        if child == 0:
            handle = os.open(paths[number], os.O_RDONLY)
            os.read(handle, 5_000)
            os._exit(number)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    for reader in readers:
        reader.join()
    tf.profiler.experimental.stop()
    said["statuses"] = statuses

    # A large library is imported, and reads at once.
    import numpy as np
    tf.profiler.experimental.start("imports")
    import imports_much
    import h5py
    with h5py.File("made.h5", "w") as file:
        file["x"] = np.arange(50_000)
    with h5py.File("made.h5") as file:
        said["sum"] = int(file["x"][:].sum())
    tf.profiler.experimental.stop()
    print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def hard(shared_job):
    """Run forks and an import within sessions."""
    (shared_job.folder / "imports_much.py").write_text("import sqlite3, decimal, asyncio, ctypes\n")
    path = os.pathsep.join([".", *filter(None, [os.environ.get("PYTHONPATH")])])
    return shared_job.run(HARD, before="tfdarshan.enable()", PYTHONPATH=path)


def test_children_forked_in_a_session_are_in_it(hard, shared_job):
    assert hard["statuses"] == list(range(10))
    session = tfdarshan.open_session(shared_job.folder / "forks")
    owner, *children = session.processes
    assert len(children) == 10
    files = session.files
    mine = files[files["pid"] == owner.pid]
    assert mine[mine["path"].str.endswith(".bin")]["POSIX_OPENS"].sum() == 2 * FILES
    theirs = files[(files["pid"] != owner.pid) & files["path"].str.endswith(".bin")]
    assert sorted(theirs["POSIX_BYTES_READ"]) == SIZES[:10]
    (trace,) = traces(shared_job.folder / "forks")
    opens = [call for call in io_calls(plane_of(read_space(trace), IO_PLANE)) if call[1] == "open"]
    assert sum(call[6].endswith(".bin") for call in opens) == 2 * FILES


def test_library_imported_in_a_session_is_recorded(hard, shared_job):
    assert hard["sum"] == sum(range(50_000))
    files = tfdarshan.open_session(shared_job.folder / "imports").files
    made = files[files["path"].str.endswith("made.h5")]
    # HDF5 leaves gaps: what is written is the data at least, and the file at most
    size = (shared_job.folder / "made.h5").stat().st_size
    assert 400_000 < made["POSIX_BYTES_WRITTEN"].sum() <= size
    assert made["POSIX_BYTES_READ"].sum() > 400_000


def test_training_is_bit_identical(job):
    # GIVEN three trainings from one seed, the second one profiled in all ways at once
    losses = job.run(
        """
        tf.keras.utils.set_random_seed(7)
        tf.config.experimental.enable_op_determinism()

        @tf.function
        def load(path):
            data = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)[:1000]
            return tf.cast(data, tf.float32) + tf.random.uniform((1000,)), 1.0

        class Losses(tf.keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs=None):
                found.append(float(logs["loss"]).hex())

        def train(*callbacks):
            tf.keras.utils.set_random_seed(7)
            files = tf.data.Dataset.from_tensor_slices(paths).shuffle(40)
            files = files.map(load, num_parallel_calls=2).batch(4)
            model = tf.keras.Sequential(
                [tf.keras.Input((1000,)), tf.keras.layers.Dense(16), tf.keras.layers.Dropout(0.3),
                 tf.keras.layers.Dense(1)]
            )
            model.compile(tf.keras.optimizers.SGD(1e-5), "mse")
            model.fit(files, epochs=3, verbose=0, callbacks=[Losses(), *callbacks])

        runs = []
        for profiled in (False, True, False):
            found = []
            if profiled:
                tfdarshan.enable()
                board = tf.keras.callbacks.TensorBoard("board", profile_batch=(3, 8), write_graph=False)
                with tfdarshan.profile("logs"):
                    train(board)
            else:
                train()
            runs.append(found)
        print(json.dumps(runs))
        """
    )

    # THEN every loss of every batch has the same bits
    assert len(losses[0]) == 30
    assert len(set(losses[0])) > 20
    assert losses[0] == losses[1] == losses[2]
    assert len(traces(job.folder)) == 2


def test_session_ends_with_the_interpreter(job):
    # WHEN the job ends within a session
    job.run('tf.profiler.experimental.start("logs")\nread_all()\nprint("null")', before="tfdarshan.enable()")

    # THEN TensorFlow has written nothing, and ours is whole
    assert traces(job.logdir) == []
    files = tfdarshan.open_session(job.logdir).files
    assert files[files["path"].str.endswith(".bin")]["POSIX_OPENS"].sum() == FILES
    assert list(job.spool.iterdir()) == []
    assert "Traceback" not in job.stderr


def test_interpreter_ends_during_a_capture(job):
    # WHEN the job ends while somebody captures it
    job.run(
        """
        import socket, threading
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        tf.profiler.experimental.server.start(port)
        capture = threading.Thread(
            target=tf.profiler.experimental.client.trace,
            # Longer than any end of this job takes: a thread that comes back from TensorFlow while Python
            # ends aborts it, with and without us.
            args=(f"grpc://localhost:{port}", "logs", 200_000), daemon=True
        )
        capture.start()
        from tfdarshan.native import _bridge
        while not _bridge.last_tensorflow_session().recording:
            time.sleep(0.01)
        read_all()
        print("null", flush=True)
        """,
        before="tfdarshan.enable()",
    )

    # THEN it ended as it would have, and left nothing
    assert list(job.spool.iterdir()) == []


def test_killed_job_can_be_recovered(job):
    # GIVEN
    with pytest.raises(AssertionError):
        job.run(
            f"""
            tf.profiler.experimental.start("logs")
            read_all()
            os.kill(os.getpid(), {int(signal.SIGKILL)})
            """,
            before="tfdarshan.enable()",
        )

    # WHEN
    assert main(["recover", str(job.logdir)]) == 0

    # THEN
    files = tfdarshan.open_session(job.logdir).files
    assert files[files["path"].str.endswith(".bin")]["POSIX_BYTES_READ"].sum() == sum(SIZES)
    assert list(job.spool.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        "del pywrap_tf_session.TF_LoadPluggableDeviceLibrary",
        "pywrap_tf_session.TF_LoadPluggableDeviceLibrary = lambda path: None",
    ],
    ids=["missing", "takes nothing"],
)
def test_tensorflow_without_the_plugin_interface_is_said_once(job, damage):
    # WHEN
    job.run(
        f"""
        from tensorflow.python.client import pywrap_tf_session
        {damage}
        tfdarshan.enable()
        for _ in range(2):
            with tfdarshan.profile("logs"):
                read_all()
        tf.profiler.experimental.start("own")
        read_all()
        tf.profiler.experimental.stop()
        print("null")
        """
    )

    # THEN
    assert job.stderr.count("TensorFlow's profiles will not show I/O") == 1
    sessions = [tfdarshan.open_session(path) for path in tfdarshan.find_sessions(job.logdir)]
    assert len(sessions) == 2
    for session in sessions:
        files = session.files
        assert files[files["path"].str.endswith(".bin")]["POSIX_OPENS"].sum() == FILES
    assert traces(job.logdir) == []
    assert len(traces(job.folder / "own")) == 1
