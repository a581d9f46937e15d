"""What a job's sessions say about the job as a whole: its time, its threads, what storage was charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfdarshan.analysis.session_readers import session_readers
from tfdarshan.analysis.step_windows import step_windows, steps_to_judge
from tfdarshan.analysis.trace_span import trace_span
from tfdarshan.analysis.wall_clock import measure_wall_clock
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.step_table import FROM_TRACE


@dataclass(frozen=True)
class RunFacts:
    """Sums over all sessions.

    Attributes:
        duration_s: Time recorded.
        io_s: Wall-clock time in which at least one file call was running, None if a session does not say.
        thread_s: All calls' durations added up.
        readers: Threads that read at a time, as findings count them (`analysis.reader_count`).
        read_bytes: Bytes the kernel charged as fetched from storage, None if a session does not say or its
            storage was emulated.
        paths: The session directories.
        steps_s: Time from the first step's start to the last one's end, None if a session has no steps or
            they end before its input does.
        input_wait: Share of the steps' time in which training waited for input, None if no step says so.
        traces: What each session whose trace lacks calls says of the part that it covers.
    """

    duration_s: float
    io_s: float | None
    thread_s: float
    readers: float
    read_bytes: int | None
    paths: tuple[str, ...]
    steps_s: float | None = None
    input_wait: float | None = None
    traces: tuple[str, ...] = ()

    @property
    def training_s(self) -> float:
        """The time that epochs are counted in: that of the steps, or all that was recorded, start-up too."""
        return self.duration_s if self.steps_s is None else self.steps_s

    @property
    def busy_share(self) -> float:
        """The share of the time in which the readers were in file calls, 0 to 1 and a little more."""
        return self.thread_s / (max(self.readers, 1.0) * self.training_s) if self.training_s > 0 else 0.0

    @property
    def concurrency(self) -> float:
        """Calls at a time while at least one was running; `readers` where the sessions do not say."""
        return self.thread_s / self.io_s if self.io_s and self.thread_s else self.readers


def run_facts(
    sessions: Sequence[SessionData], read_s: float, stepped: Sequence[SessionData] | None = None
) -> RunFacts:
    """Gathers the facts.

    Args:
        sessions: The sessions, all of one job or of like ones.
        read_s: Time of all calls added up, from the files tables; used where a log has nothing better.
        stepped: Whose steps count, where `sessions` are single processes of these.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    clocks = [measure_wall_clock(session.processes) for session in sessions]
    io = [clock.io_s if clock.io_s is not None else clock.read_s for clock in clocks]
    thread = [clock.thread_s for clock in clocks]
    stepped = stepped or sessions
    steps_s = [_steps_s(session) for session in stepped]
    read_bytes = [_storage_bytes(session) for session in sessions]
    return RunFacts(
        duration_s=sum(clock.duration_s for clock in clocks),
        io_s=None if None in io else sum(value or 0.0 for value in io),
        thread_s=read_s if None in thread else sum(value or 0.0 for value in thread),
        readers=_readers(sessions, stepped, thread),
        read_bytes=None if None in read_bytes else sum(value or 0 for value in read_bytes),
        paths=tuple(str(session.path.absolute()) for session in sessions),
        steps_s=None if None in steps_s else sum(value or 0.0 for value in steps_s),
        input_wait=_input_wait(stepped),
        traces=tuple(
            span.sentence for span in map(trace_span, (s.meta for s in sessions)) if span is not None
        ),
    )


def _steps_s(session: SessionData) -> float | None:
    """Gives the time from a session's first step to its last one, None where they do not last to its end."""
    steps, owner = session.step_bounds, session.meta[0]
    if len(steps) == 0 or owner.get("steps", {}).get("left_out"):
        return None
    if (steps["source"] == FROM_TRACE).any() and _trace_ended_early(owner):
        return None
    return float(steps["end_ns"].max() - steps["start_ns"].min()) / 1e9


def _trace_ended_early(owner: dict[str, Any]) -> bool:
    """Says whether TensorFlow's trace ended before the session's last call."""
    end_ns = owner.get("tensorflow", {}).get("end_ns") or 0
    return 0 < int(end_ns) < int(owner["time"].get("last_event_ns") or 0)


def _input_wait(sessions: Sequence[SessionData]) -> float | None:
    found = [step_windows(steps_to_judge(session.step_bounds)) for session in sessions]
    known = [windows for windows in found if windows is not None and windows.wait_s is not None]
    span_s = sum(windows.span_s for windows in known)
    return sum(windows.wait_s or 0.0 for windows in known) / span_s if span_s else None


def _readers(
    sessions: Sequence[SessionData], stepped: Sequence[SessionData], thread_s: Sequence[float | None]
) -> float:
    """Gives the readers by which all sessions' time in calls is to be divided."""
    readers = [
        session_readers(session.processes, step_windows(whole.step_bounds))
        for session, whole in zip(sessions, stepped, strict=True)
    ]
    weights = [1.0 if None in thread_s else value or 0.0 for value in thread_s]
    if not any(weights):
        return 1.0
    return sum(weights) / sum(weight / count for weight, count in zip(weights, readers, strict=True))


def _storage_bytes(session: SessionData) -> int | None:
    """Gives `read_bytes` of /proc/PID/io over a session; a child that was waited for is in its parent's."""
    owner, children = session.meta[0], session.meta[1:]
    if owner.get("options", {}).get("as_if") is not None:
        # Emulated storage serves every byte, whatever the page cache holds.
        return None
    sources = [owner, *(meta for meta in children if meta["kernel"].get("counted") == "own")]
    if not all(meta["kernel"]["valid"] for meta in sources):
        return None
    return sum(int(meta["kernel"].get("read_bytes", 0)) for meta in sources)
