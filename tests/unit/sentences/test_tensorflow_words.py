"""What is said of TensorFlow's profiler and its traces: each where it is so, and where it is not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.unit.sentences.made_up_spool import info_of
from tests.unit.sentences.shown import printed
from tfdarshan.errors import ConfigurationError, StorageError
from tfdarshan.native import _bridge
from tfdarshan.options import Options
from tfdarshan.recording.tensorflow import rebuild, session_proxy, tf_plugin, tf_profiler, tf_trace
from tfdarshan.recording.tensorflow.tf_trace import LOST, TensorflowTrace, WrittenTrace


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is warned of."""
    texts: list[str] = []
    for module in (session_proxy, tf_plugin, tf_profiler, tf_trace):
        monkeypatch.setattr(module, "warn", texts.append)
    return texts


ALWAYS = "made of a trace of TensorFlow's profiler: the flags of calls are not known"
LONGER = (
    "the profile was taken while a longer session recorded: segments are those of the profile, counters "
    "those of the session up to its end"
)
LONGEST = (
    "the trace has the 700 longest of 1,000 segments: bandwidth over time lacks the others, and the counters "
    "have all"
)
NOTES: list[tuple[int, int, list[str]]] = [
    (0, 0, [ALWAYS]),
    (5, 0, [ALWAYS, LONGER]),
    (5, 300, [ALWAYS, LONGER]),
    (0, 300, [ALWAYS, LONGEST]),
]


@pytest.mark.parametrize(("window_ns", "dropped", "notes"), NOTES)
def test_a_session_of_a_trace_says_what_it_lacks(window_ns, dropped, notes):
    info = info_of(events=1000, segments=1000 - dropped, events_dropped=dropped)

    assert rebuild._notes(cast(Any, SimpleNamespace(info=lambda: info, window_start_ns=window_ns))) == notes


@pytest.mark.parametrize("carrying", [(), ("/logs/a.xplane.pb",)])
def test_a_logdir_without_traces_has_nothing_to_rebuild(carrying, tmp_path, monkeypatch):
    found = SimpleNamespace(missing=carrying, carrying=carrying, unreadable=())
    monkeypatch.setattr(rebuild, "find_traces", lambda _: found)
    monkeypatch.setattr(rebuild, "rebuild_session", lambda *_, **__: SimpleNamespace(path="/logs/session"))

    text = printed("rebuild", str(tmp_path))

    nothing = f"nothing to rebuild in {tmp_path}"
    assert text == (
        "rebuilt /logs/session; see it with: tfdarshan summary /logs/session" if carrying else nothing
    )


@pytest.mark.parametrize(
    ("load", "registered", "why"),
    [
        ("", True, ""),
        ("", False, "TensorFlow did not take the plug-in"),
        ("no symbol TF_InitProfiler.", False, "no symbol TF_InitProfiler"),
    ],
)
def test_a_profiler_that_takes_no_plug_in_is_said_to_once(load, registered, why, warned, monkeypatch):
    loaded: list[str] = []

    def load_once() -> str:
        loaded.append(load)
        return load

    monkeypatch.setattr(tf_plugin, "_problem", None)
    monkeypatch.setattr(tf_plugin, "_load", load_once)
    monkeypatch.setattr(_bridge, "tensorflow_registered", lambda: registered and bool(loaded))

    for _ in range(2):
        assert tf_plugin.load_plugin() == registered

    words = (
        f"TensorFlow's profiles will not show I/O: {why} (its profiler's plug-in interface is missing or "
        "another one); tfdarshan.profile() works without it."
    )
    assert warned == ([words] if why else [])


@pytest.mark.parametrize("known", [True, False])
def test_a_profiler_that_cannot_be_followed_is_said_to_be(known, warned, monkeypatch):
    def stand_in(_: Any) -> None:
        if not known:
            raise AttributeError("no ProfilerSession")

    monkeypatch.setattr(tf_profiler, "load_plugin", lambda: True)
    monkeypatch.setattr(tf_profiler, "stand_in", stand_in)

    assert tf_profiler.join()

    words = (
        "TensorFlow's profiler cannot be followed from Python: no ProfilerSession. Its traces show I/O; "
        "sessions beside them are made by `tfdarshan rebuild LOGDIR`."
    )
    assert warned == ([] if known else [words])


class AlreadyExistsError(Exception):
    """TensorFlow's, where a session of the job's own runs."""


@pytest.mark.parametrize("error", [None, RuntimeError("no memory"), AlreadyExistsError("running")])
def test_a_profiler_that_does_not_start_says_why(error, warned, tmp_path, monkeypatch):
    def functions() -> Any:
        if error is not None:
            raise error
        return SimpleNamespace(ProfilerSession=object)

    monkeypatch.setattr(tf_profiler, "original_functions", functions)
    monkeypatch.setattr(tf_profiler, "TensorflowTrace", lambda *_: "running")
    monkeypatch.setattr(tf_profiler, "_running", None)

    found = tf_profiler._start_trace(tmp_path, {}, 60)

    said = ["TensorFlow's profiler did not start: no memory."]
    assert warned == (said if isinstance(error, RuntimeError) else [])
    assert (found is None) == (error is not None)


@pytest.mark.parametrize("fails", [True, False])
def test_a_trace_that_was_not_written_says_why(fails, warned, tmp_path, monkeypatch):
    def export() -> None:
        if fails:
            raise OSError(28, "No space left on device")

    trace = TensorflowTrace.__new__(TensorflowTrace)
    trace._logdir, trace._before, trace._trace = tmp_path, {}, None
    monkeypatch.setattr(tf_trace, "written_trace", lambda *_: None)

    trace._export(SimpleNamespace(export_to_tb=export))

    assert warned == (["TensorFlow's profiler wrote no trace: No space left on device."] if fails else [])


class Refusing:
    """Stands for a recorder that does not begin, for a reason."""

    def __init__(self, error: Exception | None) -> None:
        self.logdir, self._error = Path("/logs"), error

    def begin(self) -> None:
        """Begin."""
        if self._error is not None:
            raise self._error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (None, []),
        (StorageError("no room"), ["TensorFlow's profile gets no session beside it: no room"]),
        # What is remote has its session in the trace.
        (ConfigurationError("gs:// is remote"), []),
    ],
)
def test_a_profile_without_a_session_says_why(error, words, warned, monkeypatch):
    monkeypatch.setattr(session_proxy, "Recorder", lambda *_, **__: Refusing(error))
    monkeypatch.setattr(session_proxy, "list_traces", lambda _: {})
    monkeypatch.setattr(_bridge, "tensorflow_session_written", lambda _: None)

    session_proxy._Follower(Options).start("/logs")

    assert warned == words


@pytest.mark.parametrize("lost", [True, False])
def test_a_trace_that_another_process_wrote_over_is_lost(lost, tmp_path):
    (tmp_path / "plugins/profile/a").mkdir(parents=True)
    path = tmp_path / "plugins/profile/a/host.xplane.pb"
    path.write_bytes(b"trace")
    notes: list[str] = []
    recording = SimpleNamespace(
        add_note=notes.append, rename=lambda _: None, extra={}, directory=tmp_path, logdir=tmp_path
    )
    mark = _bridge.last_tensorflow_session()

    tf_trace.put_beside(cast(Any, recording), WrittenTrace(None if lost else path, mark))

    assert LOST == (
        "another process of this host wrote over the trace of TensorFlow's profiler, which TensorFlow names "
        "by host and second: the steps in it are not known"
    )
    assert (LOST in notes) == lost
