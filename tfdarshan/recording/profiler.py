"""`tfdarshan.profile(logdir)`: attaches, records, detaches, and writes the session."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tfdarshan.errors import (
    ConfigurationError,
    SessionActiveError,
    SessionDataError,
    UnsupportedPlatformError,
)
from tfdarshan.file_name import shell_word
from tfdarshan.notice import warn
from tfdarshan.recording.active_recording import Recording
from tfdarshan.recording.chosen_steps import ChosenSteps, checked_steps
from tfdarshan.recording.keyword_options import documents_options, option_values, says_wrong_arguments
from tfdarshan.recording.session_lock import Recorder
from tfdarshan.recording.steps import watch_steps, watched_steps
from tfdarshan.recording.tensorflow.tf_profiler import TraceBeside
from tfdarshan.recording.tensorflow.tf_trace import brought_beside, put_beside

if TYPE_CHECKING:
    import pandas as pd

    from tfdarshan.session import Diagnosis, Session, Verdict

P = ParamSpec("P")
R = TypeVar("R")

# The profile of `tfdarshan run`.
_run: Profile | None = None


@documents_options()
class Profile(Recorder):
    """A session to be recorded: a context manager, a decorator, or `start()` and `stop()`.

    Once stopped, it gives what was recorded: `path`, `files`, `events`, `steps`, `batches`, `meta`,
    `summary()`, and as people read it `files_brief` and `steps_brief`. It can be started again; it then
    stands for the newest session.

    Args:
        logdir: Local folder; the session goes to `<logdir>/plugins/tfdarshan/<session>/`.
        steps: The first and the last step to record, such as (100, 200), or one; the session begins with the
            request for the first one's batch and ends with the last step. Steps are those that the job marks
            with `tfdarshan.steps()` or `tfdarshan.step()`, from 0 on. Default: all of the time.
        {options}

    Raises:
        ConfigurationError: `logdir` or an option cannot be used, or there is no such option.
    """

    started_by = "profile"

    @says_wrong_arguments
    def __init__(
        self,
        logdir: str | os.PathLike[str],
        *,
        steps: int | tuple[int, int] | None = None,
        engine: str = "auto",
        darshan_library: str | os.PathLike[str] | None = None,
        darshan_files: int = 1_000_000,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        default_excludes: bool = True,
        memory_cap_mb: int = 1024,
        trace: bool = True,
        trace_memory_mb: int | None = None,
        spool_dir: str | os.PathLike[str] | None = None,
        follow_children: bool = True,
        programs: bool = False,
        mapped: bool | str = False,
        as_if: str | None = None,
        as_if_paths: Sequence[str] = (),
        tf_profiler: bool | str = "auto",
        tf_profiler_max_s: int = 60,
        probe: bool = False,
        job: str | None = None,
    ) -> None:
        super().__init__(logdir, **option_values(locals()))
        self._steps = checked_steps(steps)
        self._chosen: ChosenSteps | None = None
        self._trace: TraceBeside | None = None
        self._joined: Profile | None = None
        # The profile of `tfdarshan run` that this one joined, also after this one has ended.
        self._shared: Profile | None = None
        # Another process's session records this one, and writes it.
        self._elsewhere = False
        self._accepts_joins = False
        self._joins = True
        self._session: Session | None = None

    def start(self) -> Profile:
        """Attach to this process and start recording; if steps were chosen, as the first one begins.

        Raises:
            SessionActiveError: A session is recording in this process already, or waits for its steps.
            StorageError: The logdir or the spool folder cannot be written.
            UnsupportedPlatformError: tfdarshan cannot work here.
        """
        if self._steps is None:
            self.begin()
            return self
        if watched_steps() is not None:
            self._meet_waiting()
            return self
        self._chosen = ChosenSteps(*self._steps, self.begin, self._stop_chosen, self._put_off)
        watch_steps(self._chosen)
        return self

    def stop(self) -> None:
        """Detach and write the session.

        A session that cannot be written does not raise: the job's results matter more. A warning says so, and
        what was recorded stays in the spool for `tfdarshan recover`. Ctrl-C waits until it is written; a
        second one does not, and what was recorded stays as well.

        Raises:
            SessionActiveError: This session is not recording.
            KeyboardInterrupt: Ctrl-C was pressed meanwhile.
        """
        chosen, self._chosen = self._chosen, None
        if chosen is not None:
            watch_steps(None)
            if not chosen.recording:
                if chosen.unreached:
                    warn(chosen.unreached)
                return
        self._stop()

    def _stop(self) -> None:
        if self._joined is None and not self._elsewhere:
            self.end()
        if self._joined is not None:
            self._path = self._joined._path
        self._joined = None

    def _stop_chosen(self) -> None:
        watch_steps(None)
        self._stop()

    def _put_off(self) -> None:
        self._abandon()
        self._path = None

    def _before_attach(self) -> None:
        self._trace = TraceBeside(self.logdir, self.options)
        self._trace.prepare()

    def _attached(self) -> None:
        self._session, self._shared, self._elsewhere = None, None, False
        if self._trace is not None:
            self._trace.start()

    def _before_write(self, recording: Recording) -> None:
        trace, self._trace = self._trace, None
        if trace is not None:
            put_beside(recording, brought_beside(recording, trace.end()))
            if trace.lacks:
                recording.add_note(trace.lacks)

    def _abandon(self) -> None:
        trace, self._trace = self._trace, None
        if trace is not None:
            trace.end()
        super()._abandon()

    def __enter__(self) -> Profile:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if any((self._recording, self._joined, self._elsewhere, self._chosen)):
            self.stop()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function or coroutine function: every call is a session of its own."""
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
    def recorded(self) -> bool:
        """Whether a session has begun."""
        return self._path is not None

    @property
    def unreached(self) -> str:
        """Why nothing has been recorded of the steps that were chosen, as a sentence; "" if something was."""
        return "" if self._chosen is None else self._chosen.unreached

    @property
    def path(self) -> Path:
        """The session directory.

        Raises:
            SessionActiveError: Nothing was recorded yet.
        """
        if self._nothing:
            raise SessionActiveError(self._nothing)
        return super().path if self._joined is None else self._joined.path

    @property
    def _nothing(self) -> str:
        """Why the joined session of `tfdarshan run` has nothing, as a sentence; "" if it has."""
        if self._shared is None or self._shared.recorded:
            return ""
        return self._shared.unreached or "nothing was recorded: an earlier warning says why."

    @property
    def session(self) -> Session:
        """What was recorded; of the session of `tfdarshan run` that was joined, what it has recorded so far.

        Raises:
            SessionActiveError: It is still recording.
            SessionDataError: It could not be written.
        """
        if self._recording is not None or self._joined is not None or self._elsewhere:
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
        from tfdarshan.recording.live_snapshot import live_snapshot

        return live_snapshot(recording, open_session)

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
    def batches(self) -> pd.DataFrame:
        """One row per batch that the job took from a loader."""
        return self._table("batches")

    @property
    def files_brief(self) -> pd.DataFrame:
        """One row per path with what people read of it, the slowest first."""
        return self._table("files_brief")

    @property
    def steps_brief(self) -> pd.DataFrame:
        """One row per training step, times in ms."""
        return self._table("steps_brief")

    @property
    def meta(self) -> list[dict[str, Any]]:
        """The metadata of each process, the session's owner first."""
        return self.session.meta

    @property
    def verdict(self) -> Verdict:
        """The sentence that comes first, with the gain of the fix that it names."""
        return self.session.verdict

    @property
    def findings(self) -> Diagnosis:
        """What makes the job slow: the verdict, findings with what they cost, and what is not known."""
        return self.session.findings

    def summary(self, *, verbose: bool = False) -> str:
        """Return the session's summary as text: on one screen, or all of it."""
        if self._nothing:
            return self._nothing
        ended = self._shared is None or self._shared._recording is None
        if ended and not self._elsewhere:
            return self.session.summary(verbose=verbose)
        see = f"tfdarshan summary {shell_word(self.path)}"
        if self._elsewhere:
            return f"The session is another process's: see it after the job with: {see}"
        later = f"See all of it after the job with: {see}"
        try:
            text = self.session.summary(verbose=verbose)
        except SessionDataError as error:
            return f"The session is still recording, and {str(error).rstrip('.')}.\n{later}"
        return f"The session is still recording: this is what it has so far.\n{later}\n\n{text}"

    def _table(self, name: str) -> pd.DataFrame:
        """Return a table of the session: an empty one, and why, where a joined session cannot be read yet."""
        try:
            table: pd.DataFrame = getattr(self.session, name)
        except (SessionActiveError, SessionDataError) as error:
            if self._shared is None and not self._elsewhere:
                raise
            unread = f"{str(error).rstrip('.')}; read {self._path} after the job."
            warn(unread if self._path is not None else str(error))
            from tfdarshan.sessions.frames import empty_frame

            return empty_frame(name)
        return table

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows: the session; None, so plain text, if it cannot be read (yet)."""
        try:
            return self.session._repr_html_()
        except (SessionActiveError, SessionDataError, UnsupportedPlatformError):
            return None

    def _again(self) -> Profile:
        return profile(self.logdir, steps=self._steps, **self.options.as_dict())

    def _meet_elsewhere(self, directory: Path) -> None:
        """Leave it at that: this process is in the session."""
        if not self._joins:
            return super()._meet_elsewhere(directory)
        warn(
            f"this process is recorded by the session {directory} of the process that started it: "
            f"profile({str(self.logdir)!r}) adds nothing."
        )
        self._elsewhere, self._path, self._session = True, directory, None
        return None

    def _meet_waiting(self) -> None:
        """Join the session that `tfdarshan run` begins with the first step that it was told.

        Raises:
            SessionActiveError: Who waits for steps is another one.
        """
        run = _run
        if run is None or run._steps is None or run._chosen is not watched_steps() or not self._joins:
            raise SessionActiveError("another session waits for its steps: stop it first.")
        first, last = run._steps
        warn(
            f"this process runs under `tfdarshan run --steps {first}-{last}`: "
            f"profile({str(self.logdir)!r}) joins its session."
        )
        self._joined = self._shared = run
        self._path = self._session = None

    def _meet(self, holder: Recorder) -> None:
        """Join the session of `tfdarshan run`."""
        if not self._joins or not isinstance(holder, Profile) or holder is self:
            return super()._meet(holder)
        if not holder._accepts_joins:
            return super()._meet(holder)
        warn(
            f"this process runs under `tfdarshan run`: profile({str(self.logdir)!r}) joins its session "
            f"{holder.path}."
        )
        self._joined = self._shared = holder
        self._path, self._session = holder.path, None
        return None


@documents_options()
@says_wrong_arguments
def profile(  # noqa: D417 - options are put in
    logdir: str | os.PathLike[str],
    *,
    steps: int | tuple[int, int] | None = None,
    engine: str = "auto",
    darshan_library: str | os.PathLike[str] | None = None,
    darshan_files: int = 1_000_000,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    default_excludes: bool = True,
    memory_cap_mb: int = 1024,
    trace: bool = True,
    trace_memory_mb: int | None = None,
    spool_dir: str | os.PathLike[str] | None = None,
    follow_children: bool = True,
    programs: bool = False,
    mapped: bool | str = False,
    as_if: str | None = None,
    as_if_paths: Sequence[str] = (),
    tf_profiler: bool | str = "auto",
    tf_profiler_max_s: int = 60,
    probe: bool = False,
    job: str | None = None,
) -> Profile:
    """Record the file I/O of this process and of the children it forks.

    Use it as `with profile("logs"):`, as a decorator, or with `.start()` and `.stop()`.

    Args:
        logdir: Local folder; the session goes to `<logdir>/plugins/tfdarshan/<session>/`.
        steps: The first and the last step to record, such as (100, 200), or one; the session begins with the
            request for the first one's batch and ends with the last step. Steps are those that the job marks
            with `tfdarshan.steps()` or `tfdarshan.step()`, from 0 on. Default: all of the time.
        {options}

    Returns:
        The session to be recorded; once stopped, it gives what was recorded.

    Raises:
        ConfigurationError: `logdir` or an option cannot be used, or there is no such option.
    """
    return Profile(**locals())


def start_shared(
    logdir: str | os.PathLike[str], options: dict[str, Any], steps: tuple[int, int] | None = None
) -> Profile:
    """Start a session that `profile()` calls of the same process join, as `tfdarshan run` does."""
    global _run
    shared = profile(logdir, steps=steps, **options)
    shared._accepts_joins, shared.started_by = True, "run"
    _run = shared
    return shared.start()


def start_alone(logdir: str | os.PathLike[str], options: dict[str, Any]) -> Profile:
    """Start a session that joins no other one, whose figures would be of more than this one's time.

    Raises:
        SessionActiveError: Another session records this process.
    """
    alone = profile(logdir, **options)
    alone._joins = False
    return alone.start()
