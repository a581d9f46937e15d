"""`tfdarshan.profile(logdir)`: attaches, records, detaches, and writes the session."""

from __future__ import annotations

import atexit
import functools
import inspect
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tfdarshan import steps, tf_profiler
from tfdarshan.errors import ConfigurationError, SessionActiveError, SessionDataError, StorageError
from tfdarshan.native import _bridge
from tfdarshan.native.interrupt import HeldInterrupt, end_by_interrupt, keep_pythons_end
from tfdarshan.notice import warn
from tfdarshan.options import Options, make_options
from tfdarshan.recording import ActiveRecording, start_recording
from tfdarshan.sessions import pending
from tfdarshan.sessions.session_directory import checked_logdir
from tfdarshan.tf_trace import TensorflowTrace, Traces, put_beside

if TYPE_CHECKING:
    import pandas as pd

    from tfdarshan.session import Session

P = ParamSpec("P")
R = TypeVar("R")

_lock = threading.Lock()
_active: Profile | None = None


class Profile:
    """A session to be recorded: a context manager, a decorator, or `start()` and `stop()`.

    Once stopped, it gives what was recorded: `path`, `files`, `events`, `steps`, `meta`, `summary()`. It can
    be started again; it then stands for the newest session.

    Args:
        logdir: Local folder; the session goes to `<logdir>/plugins/tfdarshan/<session>/`.
        options: See `tfdarshan.options.Options`.

    Raises:
        ConfigurationError: `logdir` or an option cannot be used.
    """

    def __init__(self, logdir: str | os.PathLike[str], **options: Any) -> None:
        self.logdir = checked_logdir(logdir)
        self.options: Options = make_options(options)
        self._recording: ActiveRecording | None = None
        self._trace: TensorflowTrace | None = None
        self._joined: Profile | None = None
        # The profile of `tfdarshan run` that this one joined, also after this one has ended.
        self._shared: Profile | None = None
        self._accepts_joins = False
        self._path: Path | None = None
        self._session: Session | None = None

    def start(self) -> Profile:
        """Attaches to this process and starts recording.

        Raises:
            SessionActiveError: A session is recording in this process already.
            ConfigurationError: `tf_profiler` is True and TensorFlow is not imported.
            StorageError: The logdir or the spool folder cannot be written.
            UnsupportedPlatformError: tfdarshan cannot work here.
        """
        global _active
        # The writer of an earlier session would be in this one, and libdarshan's records would be lost to it.
        pending.wait()
        try:
            with HeldInterrupt(lambda: None):
                with _lock:
                    holder = _current_holder()
                    if holder is not None:
                        self._join(holder)
                        return self
                    traces = self._begin()
                    _active = self
                atexit.register(self._stop_at_exit)
                steps.begin_log()
                self._trace = tf_profiler.start_trace(self.logdir, traces, self.options.tf_profiler_max_s)
        except KeyboardInterrupt:
            self._abandon()
            raise
        return self

    def _begin(self) -> Traces | None:
        """Attaches, and gives the traces of TensorFlow's profiler that are there already."""
        if _bridge.session_active():
            raise SessionActiveError(
                "a profile that TensorFlow's profiler was asked for already records this process: "
                "wait for it to end; a process is in one session at a time."
            )
        _reset_lock_in_children()
        traces = tf_profiler.prepare_trace(self.logdir, self.options)
        self._recording = start_recording(self.logdir, self.options)
        self._path, self._session, self._shared = self._recording.directory, None, None
        return traces

    def _abandon(self) -> None:
        """Forgets a session whose start was interrupted."""
        trace, self._trace = self._trace, None
        if trace is not None:
            trace.end()
        recording = self.release()
        if recording is not None:
            recording.discard()

    def stop(self) -> None:
        """Detaches and writes the session.

        A session that cannot be written does not raise: the job's results matter more. A warning says so, and
        what was recorded stays in the spool for `tfdarshan recover`. Ctrl-C waits until it is written; a
        second one does not, and what was recorded stays as well.

        Raises:
            SessionActiveError: This session is not recording.
            KeyboardInterrupt: Ctrl-C was pressed meanwhile.
        """
        if self._joined is not None:
            self._joined = None
            return
        if self._recording is None:
            raise SessionActiveError(f"the session in {self.logdir} is not recording: call start() first.")
        with HeldInterrupt(self._recording.say_interrupt_waits):
            trace, self._trace = self._trace, None
            self.detach()
            recording = self.release()
            if recording is None:
                return
            with recording.kept_when_interrupted():
                if trace is not None:
                    put_beside(recording, trace.end())
                self._path = recording.directory
                recording.write()

    def detach(self) -> None:
        """Ends the recording without writing it; a second call does nothing."""
        if self.in_this_process() and self._recording is not None:
            with suppress(StorageError):  # said when it is written
                self._recording.detach()

    def release(self) -> ActiveRecording | None:
        """Hands over what was recorded, to be written; None in a forked child, where its parent does that."""
        global _active
        with _lock:
            recording, self._recording = self._recording, None
            if _active is self:
                _active = None
        atexit.unregister(self._stop_at_exit)
        if recording is None:
            return None
        if recording.in_this_process():
            recording.extra.update(steps.end_log())
            return recording
        recording.stop_in_child()
        return None

    def __enter__(self) -> Profile:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._recording is not None or self._joined is not None:
            self.stop()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorates a function or coroutine function: every call is a session of its own."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise ConfigurationError(
                f"{function.__qualname__} is a generator, which runs while others do: "
                "use `with tfdarshan.profile(...)` around the loop over it."
            )
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def profiled_coroutine(*args: P.args, **kwargs: P.kwargs) -> Any:
                with self._again():
                    return await function(*args, **kwargs)

            return profiled_coroutine  # type: ignore[return-value]

        @functools.wraps(function)
        def profiled(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._again():
                return function(*args, **kwargs)

        return profiled

    @property
    def path(self) -> Path:
        """The session directory.

        Raises:
            SessionActiveError: Nothing was recorded yet.
        """
        if self._joined is not None:
            return self._joined.path
        if self._path is None:
            raise SessionActiveError(
                "this session was never started: use it in a `with` statement, or call start()."
            )
        return self._path

    @property
    def session(self) -> Session:
        """What was recorded; of the session of `tfdarshan run` that was joined, what it has recorded so far.

        Raises:
            SessionActiveError: It is still recording.
            SessionDataError: It could not be written.
        """
        if self._recording is not None or self._joined is not None:
            raise SessionActiveError(
                f"the session {self.path} is still recording: read it after it is stopped."
            )
        if self._session is None:
            self._session = self._read()
        return self._session

    def _read(self) -> Session:
        from tfdarshan.session import open_session

        recording = None if self._shared is None else self._shared._recording
        if recording is None:
            return open_session(self.path)
        from tfdarshan.so_far import session_so_far

        return session_so_far(recording, open_session)

    @property
    def files(self) -> pd.DataFrame:
        """One row per file and module, with Darshan's counters as columns."""
        return self._table("files")

    @property
    def events(self) -> pd.DataFrame:
        """One row per segment."""
        return self._table("events")

    @property
    def steps(self) -> pd.DataFrame:
        """One row per training step."""
        return self._table("steps")

    @property
    def meta(self) -> list[dict[str, Any]]:
        """The metadata of each process, the session's owner first."""
        return self.session.meta

    def summary(self) -> str:
        """Gives the session's summary as text."""
        if self._shared is None:
            return self.session.summary()
        later = f"See all of it after the job with: tfdarshan summary {self.path}"
        try:
            text = self.session.summary()
        except SessionDataError as error:
            return f"The session is still recording, and {str(error).rstrip('.')}.\n{later}"
        return f"The session is still recording: this is what it has so far.\n{later}\n\n{text}"

    def _table(self, name: str) -> pd.DataFrame:
        """Gives a table of the session: an empty one, and why, where a joined session cannot be read yet."""
        try:
            table: pd.DataFrame = getattr(self.session, name)
        except SessionDataError as error:
            if self._shared is None:
                raise
            warn(f"{str(error).rstrip('.')}; read {self.path} after the job.")
            from tfdarshan.sessions.frames import empty_frame

            return empty_frame(name)
        return table

    def _repr_html_(self) -> str | None:
        """Gives what a notebook shows: the session; None, and so the plain text, where there is none yet."""
        try:
            return self.session._repr_html_()
        except (SessionActiveError, SessionDataError):
            return None

    def _again(self) -> Profile:
        return profile(self.logdir, **self.options.as_dict())

    def _join(self, holder: Profile) -> None:
        if holder is self or not holder._accepts_joins or not holder.in_this_process():
            whose = "this process" if holder.in_this_process() else "this process's parent and its children"
            raise SessionActiveError(
                f"a session already records {whose}, into {holder.path}: "
                "stop it first; a process is in one session at a time."
            )
        warn(
            f"this process runs under `tfdarshan run`: profile({str(self.logdir)!r}) joins its session "
            f"{holder.path}."
        )
        self._joined = holder
        self._path, self._session, self._shared = holder.path, None, holder

    def in_this_process(self) -> bool:
        """Says whether this process started the recording; a forked child did not."""
        return self._recording is not None and self._recording.in_this_process()

    def _stop_at_exit(self) -> None:
        try:
            if self.in_this_process():
                keep_pythons_end()
                with suppress(SessionActiveError):
                    self.stop()
        except KeyboardInterrupt:
            end_by_interrupt()
            if self.in_this_process():  # it came before it could be held back
                self.stop()


def profile(logdir: str | os.PathLike[str], **options: Any) -> Profile:
    """Records the file I/O of this process and of the children it forks.

    Use it as `with profile("logs"):`, as a decorator, or with `.start()` and `.stop()`.

    Args:
        logdir: Local folder; the session goes to `<logdir>/plugins/tfdarshan/<session>/`.
        **options: The fields of `tfdarshan.options.Options`, such as `include`, `exclude` or `memory_cap_mb`.

    Raises:
        ConfigurationError: `logdir` or an option cannot be used.
    """
    return Profile(logdir, **options)


def start_shared(logdir: str | os.PathLike[str], options: dict[str, Any]) -> Profile:
    """Starts a session that `profile()` calls of the same process join, as `tfdarshan run` does."""
    shared = profile(logdir, **options)
    shared._accepts_joins = True
    return shared.start()


def _current_holder() -> Profile | None:
    """Gives the profile that records in this process; in a forked child that is its parent's."""
    global _active
    if _active is not None and not _bridge.session_active():
        _active = None
    return _active


@functools.lru_cache(maxsize=1)
def _reset_lock_in_children() -> None:
    """A child forked while another thread held the lock would wait for it for ever."""

    def reset() -> None:
        global _lock
        _lock = threading.Lock()

    os.register_at_fork(after_in_child=reset)
