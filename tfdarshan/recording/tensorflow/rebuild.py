"""Makes sessions of the traces that carry one: captures asked for over the network.

Whoever asks TensorFlow's profiler for such a capture writes the trace, often on another machine, and names
it. So the session is made where the trace is: by the TensorBoard tab, or `tfdarshan rebuild`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdarshan.errors import SessionDataError, StorageError, reason
from tfdarshan.native.versions import VERSION
from tfdarshan.recording.tensorflow.tf_trace import PROFILE_FOLDER, TRACE_SUFFIX
from tfdarshan.sessions.session_directory import PLUGIN_FOLDER, Marker, host_name, no_logdir, walk_logdir
from tfdarshan.sessions.traces.xspace import Space
from tfdarshan.sessions.traces.xspace_session import SESSION_PLANE, XspaceReader


@dataclass(frozen=True)
class Rebuilt:
    """A session made of a trace."""

    path: Path
    trace: Path
    segments: int


@dataclass(frozen=True)
class FoundTraces:
    """The traces below a logdir that carry a session, the oldest first, and why others cannot be read."""

    carrying: tuple[Path, ...]
    unreadable: tuple[str, ...]

    @property
    def missing(self) -> tuple[Path, ...]:
        """Those whose session has not been made yet."""
        return tuple(trace for trace in self.carrying if not (_target(trace) / _done_name(trace)).exists())


def find_traces(logdir: Path) -> FoundTraces:
    """Look at the traces below a logdir.

    Raises:
        SessionDataError: The logdir does not exist.
    """
    if not logdir.is_dir():
        raise no_logdir(Path(logdir), "give the folder that has plugins/profile in it")
    found = []
    for folder, names in walk_logdir(logdir):
        if "plugins" in names:
            names.remove("plugins")
            found += sorted((Path(folder) / PROFILE_FOLDER).glob(f"*/*{TRACE_SUFFIX}"))
        names.sort()
    carrying, unreadable = [], []
    for trace in found:
        try:
            if SESSION_PLANE in Space(trace).plane_names():
                carrying.append(trace)
        except SessionDataError as error:
            unreadable.append(str(error))
    return FoundTraces(tuple(carrying), tuple(unreadable))


def rebuild_session(trace: str | os.PathLike[str], *, to: str | os.PathLike[str] | None = None) -> Rebuilt:
    """Write the session that a trace carries, with the trace's stamp.

    Args:
        trace: `<logdir>/plugins/profile/<stamp>/<host>.xplane.pb`.
        to: Another logdir to write into, where the trace's own cannot be written.

    Raises:
        SessionDataError: The trace is damaged, or carries no session of this version of tfdarshan.
        StorageError: The session cannot be written.
    """
    from tfdarshan.recording.writing.writer import write_process

    trace = Path(trace)
    reader = XspaceReader(Space(trace))
    directory = _target(trace) if to is None else Path(to).absolute() / PLUGIN_FOLDER / trace.parent.name
    info = reader.info()
    marker = Marker(
        session=directory.name,
        spool_directory="",
        host=info.host,
        pid=info.pid,
        process_start=0,
        boot_id="",
        pid_namespace="",
        start_realtime_ns=info.start_realtime_ns,
        options={},
        notes=_notes(reader),
        versions={"tfdarshan": VERSION},
        started_by="tensorflow",
    )
    extra: dict[str, Any] = {
        "children": {"recorded": 0, "silent": 0, "unreadable": []},
        "attach": {"start": {}, "stop": {}},
        "tensorflow": {
            "trace": str(Path(*trace.parts[-4:])),
            "start_ns": reader.window_start_ns,
            "end_ns": min(reader.window_end_ns, max(info.duration_ns, info.last_event_ns) + 1),
            "events": info.segments,
            "left_out": info.events_dropped,
        },
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        write_process(directory, marker, reader, extra, here=info.host == host_name())
        (directory / _done_name(trace)).touch()
    except OSError as error:
        raise StorageError(
            f"the session {directory} cannot be written: {reason(error)}; write it elsewhere with --to DIR."
        ) from error
    return Rebuilt(directory, trace, info.segments)


def _notes(reader: XspaceReader) -> list[str]:
    info = reader.info()
    notes = ["made of a trace of TensorFlow's profiler: the flags of calls are not known"]
    if reader.window_start_ns:
        notes.append(
            "the profile was taken while a longer session recorded: segments are those of the profile, "
            "counters those of the session up to its end"
        )
    elif info.events_dropped:
        notes.append(
            f"the trace has the {info.segments:,} longest of {info.events:,} segments: bandwidth over time "
            "lacks the others, and the counters have all"
        )
    return notes


def _target(trace: Path) -> Path:
    return trace.parents[3] / PLUGIN_FOLDER / trace.parent.name


def _done_name(trace: Path) -> str:
    """Name the empty file that says this host's trace was made a session of."""
    return f".{trace.name.removesuffix(TRACE_SUFFIX)}.rebuilt"
