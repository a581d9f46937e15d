"""What xprof, TensorBoard's Profile tab, makes of a trace with our planes: its own converter says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.integration.tensorflow.conftest import FILES, SIZES
from tests.integration.tensorflow.xplane import IO_PLANE, plane_of, read_space, traces
from tfdarshan.sessions.traces.xspace_session import SESSION_PLANE

JOB = """
    import socket, threading

    @tf.function
    def load(path):
        data = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)[:1000]
        return tf.cast(data, tf.float32), 1.0

    files = tf.data.Dataset.from_tensor_slices(paths).map(load).batch(4)
    model = tf.keras.Sequential([tf.keras.Input((1000,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    tf.profiler.experimental.start("logs")
    model.fit(files, verbose=0)
    tf.profiler.experimental.stop()

    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    tf.profiler.experimental.server.start(port)
    ended = threading.Event()

    def train():
        while not ended.is_set():
            model.fit(files, verbose=0)

    trainer = threading.Thread(target=train)
    trainer.start()
    tf.profiler.experimental.client.trace(f"grpc://localhost:{port}", "captured", 500)
    ended.set()
    trainer.join()
    print("null")
"""


LOGDIRS = ("logs", "captured")
TOOLS = ("overview_page", "input_pipeline_analyzer", "framework_op_stats")
VIEWER = "trace_viewer@"
OURS = (IO_PLANE, SESSION_PLANE)


def convert(*wanted):
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.tensorflow.convert", json.dumps(wanted)],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def copy_of(trace, folder, planes_left_out=()):
    """Copy a trace, without some planes; xprof leaves its own files in the folder."""
    space = read_space(trace)
    kept = [plane for plane in space.planes if plane.name not in planes_left_out]
    del space.planes[:]
    space.planes.extend(kept)
    folder.mkdir()
    copy = folder / "host.xplane.pb"
    copy.write_bytes(space.SerializeToString())
    return str(copy)


@pytest.fixture(scope="module")
def folder(shared_job):
    """Profile a training, once from the job itself and once over the network."""
    shared_job.run(JOB, before="tfdarshan.enable()")
    return shared_job.folder


@pytest.fixture(scope="module")
def copies(folder, tmp_path_factory):
    """Return copies of both traces, as they are and without our planes, by folder and what they lack."""
    top = tmp_path_factory.mktemp("copies")
    return {
        (logdir, lacking): copy_of(trace, top / f"{logdir}-{len(lacking)}", lacking)
        for logdir in LOGDIRS
        for trace in traces(folder / logdir)
        for lacking in ((), OURS)
    }


@pytest.fixture(scope="module")
def made(copies):
    """Return what each tool makes of each copy: all of it by one process, as xprof takes long to start."""
    wanted = [(copy, tool) for copy in copies.values() for tool in TOOLS] + [(copies["logs", ()], VIEWER)]
    return dict(zip(wanted, convert(*[(*one, {}) for one in wanted]), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("logdir", LOGDIRS)
def test_other_tools_are_unchanged_by_our_planes(folder, copies, made, logdir):
    # GIVEN a trace as it is and without our planes
    (trace,) = traces(folder / logdir)
    names = {plane.name for plane in read_space(trace).planes}
    assert IO_PLANE in names
    assert (SESSION_PLANE in names) == (logdir == "captured")

    # WHEN
    with_ours, without = ([made[copies[logdir, lacking], tool] for tool in TOOLS] for lacking in ((), OURS))

    # THEN
    assert with_ours == without
    assert all(with_ours)


def test_trace_viewer_has_our_process(folder, copies, made):
    # GIVEN
    (trace,) = traces(folder / "logs")
    plane = plane_of(read_space(trace), IO_PLANE)

    # WHEN
    events = made[copies["logs", ()], VIEWER]["traceEvents"]

    # THEN it is the first process of the list
    (process,) = [e for e in events if e["name"] == "process_name" and e["args"]["name"].endswith(IO_PLANE)]
    order = {e["pid"]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
    assert min(order, key=order.get) == process["pid"]

    # THEN it has every thread, and every call of each
    ours = [event for event in events if event["pid"] == process["pid"]]
    threads = {e["tid"]: e["args"]["name"] for e in ours if e["name"] == "thread_name"}
    lines = {line.id: line for line in plane.lines if line.name.startswith("I/O thread")}
    assert threads == {tid: line.name for tid, line in lines.items()}
    drawn = Counter((e["tid"], e["name"]) for e in ours if e["ph"] == "X")
    assert drawn == Counter(
        (tid, plane.event_metadata[event.metadata_id].name)
        for tid, line in lines.items()
        for event in line.events
    )
    assert sum(count for (_, name), count in drawn.items() if name == "pread") == 2 * FILES
    counters = {e["name"] for e in ours if e["ph"] == "C"}
    assert counters == {"read MB/s", "write MB/s", "I/O operations in flight"}


def test_a_call_that_is_clicked_shows_bytes_offset_and_file(copies, made):
    # GIVEN a call as the viewer draws it
    copy = copies["logs", ()]
    call = next(event for event in made[copy, VIEWER]["traceEvents"] if event["name"] == "pread")

    # WHEN the viewer asks for it
    clicked = {
        "event_name": "pread",
        "start_time_ms": str(call["ts"] / 1e3),
        "duration_ms": str(call["dur"] / 1e3),
        "unique_id": str(call["args"]["uid"]),
    }
    (answer,) = convert((copy, VIEWER, clicked))

    # THEN
    (event,) = [event for event in answer["traceEvents"] if event["name"] == "pread"]
    path = Path(event["args"]["file"])
    assert SIZES[int(path.stem)] == path.stat().st_size == int(event["args"]["bytes"])
    assert int(event["args"]["offset"]) == 0
