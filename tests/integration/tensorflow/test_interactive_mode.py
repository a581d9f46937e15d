"""A capture asked for over the network: it passes no Python, and its trace carries the session."""

from __future__ import annotations

import json

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
from tfdarshan.commands import main
from tfdarshan.recording.tensorflow.rebuild import find_traces
from tfdarshan.sessions.traces.xspace import Space

JOB = """
    import socket, threading

    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    tf.profiler.experimental.server.start(port)
    ended = threading.Event()

    def read_on():
        while not ended.is_set():
            read_all()

    reader = threading.Thread(target=read_on)
    reader.start()
    tf.profiler.experimental.client.trace(f"grpc://localhost:{port}", "logs", 1_000)
    refused = None
    capture = threading.Thread(
        target=tf.profiler.experimental.client.trace, args=(f"grpc://localhost:{port}", "second", 1500)
    )
    capture.start()
    from tfdarshan.native import _bridge
    while not _bridge.last_tensorflow_session().recording:
        time.sleep(0.01)
    try:
        tfdarshan.profile("other", tf_profiler=False).start()
    except tfdarshan.SessionActiveError as error:
        refused = str(error)
    capture.join()
    ended.set()
    reader.join()
    print(json.dumps([refused, _bridge.session_active(), _bridge.slots_holding_wrappers()]))
"""


@pytest.fixture(scope="module")
def ended(shared_job):
    """Run the job."""
    return shared_job.run(JOB, before="tfdarshan.enable()")


@pytest.fixture(scope="module")
def interactive(shared_job, ended):
    """A capture and the session made of it."""
    (trace,) = traces(shared_job.logdir)
    assert find_traces(shared_job.logdir).missing == (trace,)
    assert main(["rebuild", str(shared_job.logdir)]) == 0
    return read_space(trace), tfdarshan.open_session(shared_job.logdir), trace


def test_session_made_of_the_trace_has_its_stamp(interactive, shared_job):
    _, session, trace = interactive
    assert session.path == trace.parents[2] / "tfdarshan" / trace.parent.name
    assert find_traces(shared_job.logdir).missing == ()


def test_calls_of_the_trace_are_those_that_were_counted(interactive):
    # GIVEN the counters, which were folded from the recording itself
    space, session, _ = interactive
    calls, files = io_calls(plane_of(space, IO_PLANE)), session.files
    reads = [call for call in calls if call[1] == "pread" and call[6].endswith(".bin")]
    mine = files[files["path"].str.endswith(".bin")]

    # THEN
    assert calls == recorded_calls(session)
    assert len(reads) > 0
    assert (mine["POSIX_READS"].sum(), mine["POSIX_BYTES_READ"].sum()) == (
        len(reads),
        sum(call[4] for call in reads),
    )
    assert mine["TFD_ZERO_READS"].sum() == sum(call[4] == 0 for call in reads)
    assert session.meta[0]["counts"]["events"] == len(calls)


def test_session_made_of_a_trace_can_be_read_like_any_other(interactive):
    session = interactive[1]
    assert session.meta[0]["kernel"]["valid"]
    assert session.meta[0]["mounts"]
    assert "flags of calls are not known" in session.summary()
    assert session.files["size_bytes"].min() >= 0


def test_profile_during_a_capture_is_refused(ended, shared_job):
    refused, active, wrappers = ended
    assert "a profile that TensorFlow's profiler was asked for already records this process" in refused
    assert (active, wrappers) == (False, 0)
    assert not (shared_job.folder / "other").exists()
    assert list(shared_job.spool.iterdir()) == []


def test_rebuild_says_what_it_did(interactive, shared_job, capsys):
    # WHEN
    assert main(["rebuild", "--json", "--force", str(shared_job.logdir)]) == 0
    done = json.loads(capsys.readouterr().out)

    # THEN
    assert [entry["path"] for entry in done["rebuilt"]] == [str(interactive[1].path)]
    assert done["rebuilt"][0]["segments"] == len(interactive[1].events)
    assert main(["rebuild", str(shared_job.logdir)]) == 0
    assert "nothing to rebuild" in capsys.readouterr().out


def test_every_plane_is_read_as_tensorflow_reads_it(interactive):
    # GIVEN the trace as TensorFlow's own classes have it
    theirs, _, trace = interactive
    ours = Space(trace)
    assert ours.plane_names() == [plane.name for plane in theirs.planes]

    # WHEN / THEN every line, event and value is the same
    values = 0
    for their_plane in theirs.planes:
        plane = ours.plane(their_plane.name)
        assert plane.event_names == {n: entry.name for n, entry in their_plane.event_metadata.items()}
        assert plane.stat_names == {n: entry.name for n, entry in their_plane.stat_metadata.items()}
        assert len(plane.stats) == len(their_plane.stats)
        for line, their_line in zip(plane.lines, their_plane.lines, strict=True):
            assert (line.id, line.name.decode()) == (their_line.id, their_line.name)
            assert line.timestamp_ns == their_line.timestamp_ns
            for event, their_event in zip(line.events, their_line.events, strict=True):
                assert numbers_of(event) == numbers_of(their_event)
                values += len(event.stats)
    assert values > 100


def numbers_of(event):
    """Return an event's numbers and its stats' values, text as bytes."""
    values = []
    for stat in event.stats:
        value = getattr(stat, stat.WhichOneof("value"))
        values.append((stat.metadata_id, value.encode() if isinstance(value, str) else value))
    return event.metadata_id, event.offset_ps, event.duration_ps, values


def test_damaged_trace_is_one_sentence(interactive, tmp_path, capsys):
    # GIVEN a trace cut in the middle
    trace = tmp_path / "plugins" / "profile" / "2026_01_01_00_00_00" / "host.xplane.pb"
    trace.parent.mkdir(parents=True)
    whole = interactive[2].read_bytes()
    at = whole.index(b"/tfdarshan")
    trace.write_bytes(whole[: at + 3_000])

    # WHEN / THEN: it carries nothing that can be told, or says what is wrong
    code = main(["rebuild", str(tmp_path)])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert code == 1
    assert str(trace) in said.err
