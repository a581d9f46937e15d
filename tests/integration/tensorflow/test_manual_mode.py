"""tf.profiler.experimental.start() and stop(): TensorFlow's trace and our session show the same calls."""

from __future__ import annotations

from itertools import pairwise

import pytest

import tfdarshan
from tests.integration.tensorflow.conftest import FILES, SIZES
from tests.integration.tensorflow.xplane import (
    COUNTERS,
    IO_PLANE,
    host_events,
    io_calls,
    plane_of,
    read_space,
    recorded_calls,
    stats_of,
    traces,
)

JOB = """
    odd = os.path.join(b"data", bytes([0xff, 0xc3, 0xa9, 0xed, 0xa0, 0x80]) + b".odd")
    with open(odd, "wb") as file:
        file.write(bytes(77))

    tf.profiler.experimental.start("logs")
    read_all(1)
    handle = os.open(odd, os.O_RDONLY)
    os.read(handle, 100)
    os.close(handle)
    tf.profiler.experimental.stop()

    tf.profiler.experimental.start("parallel")
    read_all(2)
    tf.profiler.experimental.stop()

    tf.profiler.experimental.start("unsaved")
    read_all()
    tf.profiler.experimental.stop(save=False)
    from tfdarshan.native import _bridge
    after = [_bridge.session_active(), _bridge.slots_holding_wrappers()]

    tfdarshan.disable()
    tf.profiler.experimental.start("disabled")
    read_all()
    tf.profiler.experimental.stop()
    print(json.dumps(after))
"""


@pytest.fixture(scope="module")
def after_unsaved(shared_job):
    """Run the job."""
    return shared_job.run(JOB, before="tfdarshan.enable()")


def profile_in(logdir):
    (trace,) = traces(logdir)
    return read_space(trace), tfdarshan.open_session(logdir), trace


@pytest.fixture(scope="module")
def manual(shared_job, after_unsaved):
    """A session made by start() and stop(), one file read at a time."""
    return profile_in(shared_job.logdir)


def data_calls(plane):
    return [call for call in io_calls(plane) if call[6] and call[6].endswith(".bin")]


def test_trace_has_the_calls_that_were_recorded(manual):
    space, session, _ = manual

    # THEN they are the recorder's, to the nanosecond
    plane = plane_of(space, IO_PLANE)
    assert io_calls(plane) == recorded_calls(session)

    # THEN every file has two reads, the second finds its end
    reads = [call for call in data_calls(plane) if call[1] == "pread"]
    assert len(reads) == 2 * FILES
    assert sum(read[4] for read in reads) == sum(SIZES)
    assert sorted(read[5] for read in reads) == sorted([0] * FILES + SIZES)
    assert len([call for call in data_calls(plane) if call[1] == "open"]) == FILES


def test_session_beside_the_trace_has_its_stamp(manual):
    _, session, trace = manual
    assert session.path.name == trace.parent.name
    assert session.path.parent.parent == trace.parent.parent.parent
    assert session.meta[0]["session"] == session.path.name
    assert session.meta[0]["tensorflow"]["trace"] == str(trace.relative_to(trace.parents[3]))
    assert session.meta[0]["tensorflow"]["left_out"] == 0
    assert session.files["POSIX_BYTES_READ"].sum() >= sum(SIZES)


def test_calls_lie_within_the_operation_that_made_them(manual):
    space = manual[0]
    plane = plane_of(space, IO_PLANE)
    origin_ns = next(line.timestamp_ns for line in plane.lines if line.name.startswith("I/O thread"))
    operations = host_events(space, "ReadFile")
    assert len(operations) == FILES

    # GIVEN each file's calls, from the first to the last
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for _, name, start_ns, end_ns, _, _, path in data_calls(plane):
        if name in ("open", "pread", "close"):
            spans.setdefault(path, []).append((origin_ns + start_ns, origin_ns + end_ns, name))

    # THEN one ReadFile, and one only, contains all of them
    owners = []
    for calls in spans.values():
        assert [name for *_, name in sorted(calls)] == ["open", "pread", "pread", "close"]
        first, last = min(call[0] for call in calls), max(call[1] for call in calls)
        inside = [index for index, (start, end) in enumerate(operations) if start <= first and last <= end]
        assert len(inside) == 1
        owners += inside
    assert sorted(owners) == list(range(FILES))


def test_each_thread_has_its_line(shared_job, after_unsaved):
    # GIVEN files that two threads read
    space, session, _ = profile_in(shared_job.folder / "parallel")
    plane = plane_of(space, IO_PLANE)

    # THEN
    assert io_calls(plane) == recorded_calls(session)
    lines = {line.id: line for line in plane.lines if line.name.startswith("I/O thread")}
    assert set(lines) == set(session.events["tid"])
    names = {thread["tid"]: thread["name"] for thread in session.meta[0]["threads"]}
    for tid, line in lines.items():
        assert (line.display_id, line.name) == (tid, f"I/O thread {tid} ({names[tid]})")
        assert {event.offset_ps for event in line.events} == {
            call[2] * 1000 for call in io_calls(plane) if call[0] == tid
        }


def test_counter_tracks_add_up_to_the_bytes_read(manual):
    space = manual[0]
    plane = plane_of(space, IO_PLANE)
    (line,) = [line for line in plane.lines if line.name == COUNTERS]

    # GIVEN the read rate as steps, each until the next
    steps = [
        (event.offset_ps / 1e12, stats_of(plane, event.stats)["MB/s"])
        for event in line.events
        if plane.event_metadata[event.metadata_id].name == "read MB/s"
    ]
    area = sum(rate * (end - start) for (start, rate), (end, _) in pairwise(steps))

    # THEN
    read = sum(call[4] for call in io_calls(plane) if call[1] in ("read", "pread", "fread"))
    assert area * 1e6 == pytest.approx(read)
    assert steps[-1][1] == 0
    tracks = {plane.event_metadata[event.metadata_id].name for event in line.events}
    assert tracks == {"read MB/s", "write MB/s", "I/O operations in flight"}


def test_paths_that_are_not_utf8_are_escaped(manual):
    plane = plane_of(manual[0], IO_PLANE)
    calls = [call for call in io_calls(plane) if call[6] and call[6].endswith(".odd")]
    assert {call[6].rpartition("/")[2] for call in calls} == {"\\xffé\\xed\\xa0\\x80.odd"}
    assert [call[4] for call in calls if call[1] == "read"] == [77]


def test_disabled_again_there_is_no_plane(shared_job, after_unsaved):
    (trace,) = traces(shared_job.folder / "disabled")
    assert IO_PLANE not in {plane.name for plane in read_space(trace).planes}
    assert not (shared_job.folder / "disabled" / "plugins" / "tfdarshan").exists()


def test_session_that_is_not_saved_leaves_nothing(shared_job, after_unsaved):
    assert after_unsaved == [False, 0]
    assert list(shared_job.spool.iterdir()) == []
    assert not list((shared_job.folder / "unsaved").rglob("*"))
