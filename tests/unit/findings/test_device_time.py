"""Copies and communication in a trace of TensorFlow, made with the classes that its wheel has for traces."""

import importlib.util

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="needs its wheel")

from tests.integration.tensorflow.xplane import messages  # noqa: E402
from tests.unit.findings.made_up_training import epochs_of_steps, training  # noqa: E402
from tfdarshan.findings.measurement import measure  # noqa: E402
from tfdarshan.sessions.traces.tf_device_time import read_device_time  # noqa: E402

MS_PS = 1_000_000_000
IO_LINE_NS = 5_000


def write_trace(path, events):
    """Write a trace with our plane and a GPU's: events of (name, start_ms, end_ms)."""
    space = messages().XSpace()
    space.planes.add(name="/device:CUSTOM:I/O").lines.add(timestamp_ns=IO_LINE_NS)
    plane = space.planes.add(name="/device:GPU:0")
    line = plane.lines.add(timestamp_ns=IO_LINE_NS)
    for number, (name, start_ms, end_ms) in enumerate(events, 1):
        plane.event_metadata[number].id = number
        plane.event_metadata[number].name = name
        line.events.add(
            metadata_id=number, offset_ps=start_ms * MS_PS, duration_ps=(end_ms - start_ms) * MS_PS
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(space.SerializeToString())


def test_copies_and_communication_are_told_from_kernels(tmp_path):
    # GIVEN two copies that overlap, one of another kind, a kernel and two collectives
    trace = tmp_path / "host.xplane.pb"
    write_trace(
        trace,
        [
            ("MemcpyH2D", 0, 10), ("MemcpyH2D", 5, 15), ("MemcpyD2H", 20, 30), ("volta_sgemm_128x64", 30, 60),
            ("ncclDevKernel_AllReduce_Sum_f32", 60, 70), ("all-reduce.1", 80, 85),
        ],
    )  # fmt: skip

    # WHEN the trace began 100 ms into the session
    found = read_device_time(trace, 100_000_000)

    # THEN
    ms = 1_000_000
    np.testing.assert_array_equal(found.copies, [[100 * ms], [115 * ms]])
    np.testing.assert_array_equal(found.communication, [[160 * ms, 180 * ms], [170 * ms, 185 * ms]])


def test_a_step_says_what_copies_and_communication_take(tmp_path):
    # GIVEN 10 steps of 100 ms, 40 of them waiting, with 5 ms of copies and 20 of communication in each
    trace = tmp_path / "plugins" / "profile" / "run" / "host.xplane.pb"
    write_trace(
        trace,
        [("MemcpyH2D", 100 * n + 40, 100 * n + 45) for n in range(10)]
        + [("ncclAllReduce", 100 * n + 70, 100 * n + 90) for n in range(10)],
    )
    about = {"tensorflow": {"trace": "plugins/profile/run/host.xplane.pb", "start_ns": 0}}
    calls = [(100 * n, 100 * n + 40, 1, "pread", 0, 1000) for n in range(10)]
    session = training(tmp_path, calls, epochs_of_steps(10, 100, 40), meta=about)

    # WHEN
    measures = measure(session)

    # THEN
    assert (measures.model.data_s, measures.model.weights_s) == pytest.approx((0.005, 0.020))


def test_without_a_trace_of_a_device_nothing_is_said_of_them(tmp_path):
    calls = [(100 * n, 100 * n + 40, 1, "pread", 0, 1000) for n in range(10)]
    measures = measure(training(tmp_path, calls, epochs_of_steps(10, 100, 40)))

    assert (measures.model.data_s, measures.model.weights_s) == (None, None)
