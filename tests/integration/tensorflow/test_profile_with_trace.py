"""tfdarshan.profile() where TensorFlow is imported: a session of TensorFlow's profiler runs beside it."""

from __future__ import annotations

import pytest

import tfdarshan
from tests.integration.tensorflow.conftest import FILES, SIZES
from tests.integration.tensorflow.xplane import (
    IO_PLANE,
    io_calls,
    plane_of,
    read_space,
    recorded_calls,
    traces,
)

JOB = """
    said = {}

    with tfdarshan.profile("logs") as session:
        read_all()
    said["auto"] = str(session.path)

    with tfdarshan.profile("without", tf_profiler=False):
        read_all()

    # One of the job's own runs already.
    tf.profiler.experimental.start("own")
    with tfdarshan.profile("beside"):
        read_all()
    tf.profiler.experimental.stop()

    # The job starts one of its own within.
    with tfdarshan.profile("around"):
        read_all()
        tf.profiler.experimental.start("inner")
        read_all()
        tf.profiler.experimental.stop()
        read_all()

    with tfdarshan.profile("bounded", tf_profiler_max_s=1):
        read_all()
        time.sleep(1.5)
        read_all()

    # Two of TensorFlow's at once are refused by TensorFlow, two of ours by us.
    tfdarshan.enable()
    tf.profiler.experimental.start("first")
    for name, start in (
        ("tensorflow", lambda: tf.profiler.experimental.start("second")),
        ("tfdarshan", tfdarshan.profile("second").start),
    ):
        try:
            start()
        except Exception as error:
            said[name] = f"{type(error).__name__}: {error}"
    read_all()
    tf.profiler.experimental.stop()
    print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(shared_job):
    """Run the job."""
    return shared_job.run(JOB)


@pytest.fixture
def folder(said, shared_job):
    """Where its logdirs are."""
    return shared_job.folder


def without_times(call):
    return (*call[:2], *call[4:])


def opens(session):
    files = session.files
    return files[files["path"].str.endswith(".bin")]["POSIX_OPENS"].sum()


def test_trace_and_session_have_one_stamp(said, folder):
    (trace,) = traces(folder / "logs")
    session = tfdarshan.open_session(folder / "logs")
    assert str(session.path) == said["auto"]
    assert session.path.name == trace.parent.name
    assert io_calls(plane_of(read_space(trace), IO_PLANE)) == recorded_calls(session)
    assert opens(session) == FILES


def test_tf_profiler_false_runs_none(folder):
    assert traces(folder / "without") == []
    assert opens(tfdarshan.open_session(folder / "without")) == FILES


def test_a_session_of_the_jobs_own_goes_on(folder):
    # THEN ours was recorded without a trace, and the job's trace is its own
    assert traces(folder / "beside") == []
    assert opens(tfdarshan.open_session(folder / "beside")) == FILES
    assert len(traces(folder / "own")) == 1


def test_a_session_that_the_job_starts_comes_first(folder):
    # THEN ours of TensorFlow's ended where the job's began, and our own went on
    (around,), (inner,) = traces(folder / "around"), traces(folder / "inner")
    session = tfdarshan.open_session(folder / "around")
    assert opens(session) == 3 * FILES
    assert session.path.name == around.parent.name
    calls = io_calls(plane_of(read_space(around), IO_PLANE))
    assert sum(call[1] == "open" and call[6].endswith(".bin") for call in calls) == FILES
    # while a recording goes on the clocks' ratio is known a little less well than at its end
    recorded = recorded_calls(session)
    assert [without_times(call) for call in calls] == [without_times(call) for call in recorded]
    assert max(abs(a[2] - b[2]) for a, b in zip(calls, recorded, strict=True)) < 1_000
    inner_calls = io_calls(plane_of(read_space(inner), IO_PLANE))
    assert sum(call[4] for call in inner_calls if call[1] == "pread") == sum(SIZES)


def test_trace_ends_after_tf_profiler_max_s(folder):
    (trace,) = traces(folder / "bounded")
    session = tfdarshan.open_session(folder / "bounded")
    assert opens(session) == 2 * FILES
    calls = io_calls(plane_of(read_space(trace), IO_PLANE))
    assert sum(call[1] == "open" and call[6].endswith(".bin") for call in calls) == FILES
    assert 1e9 <= session.meta[0]["tensorflow"]["end_ns"] < session.meta[0]["duration_ns"] - 0.3e9


def test_two_sessions_at_once_are_refused(said, folder):
    assert "AlreadyExistsError" in said["tensorflow"]
    assert "SessionActiveError: a session already records this process, into" in said["tfdarshan"]
    assert opens(tfdarshan.open_session(folder / "first")) == FILES
    assert not (folder / "second").exists()


def test_tf_profiler_true_without_tensorflow_is_said(tmp_path):
    with tfdarshan.profile(tmp_path / "logs", tf_profiler=True) as session:
        pass
    assert "tf_profiler=True has no effect: the job never imported TensorFlow" in session.meta[0]["bounds"]
