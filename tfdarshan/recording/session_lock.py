"""Who records in this process: one recording at a time, which holds the process until it is released."""

from __future__ import annotations

import atexit
import functools
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from tfdarshan.errors import SessionActiveError, StorageError, TfdarshanError
from tfdarshan.file_name import shell_word
from tfdarshan.frameworks import batch_log, following
from tfdarshan.frameworks.all_frameworks import adapters
from tfdarshan.native import _bridge
from tfdarshan.native.interrupt import HeldInterrupt, end_by_interrupt, keep_pythons_end
from tfdarshan.notice import warn
from tfdarshan.options import Options, make_options
from tfdarshan.recording import steps
from tfdarshan.recording.active_recording import (
    Recording,
    earlier_session,
    joined_session,
    start_recording,
)
from tfdarshan.sessions import background_writer
from tfdarshan.sessions.rank_folder import logdir_of
from tfdarshan.sessions.session_directory import checked_logdir

_lock = threading.Lock()
_active: Recorder | None = None


class Recorder:
    """Records this process into a logdir, from `begin()` to `end()`, while nobody else does.

    Args:
        logdir: Local folder; the session goes to `<logdir>/plugins/tfdarshan/<session>/`.
        options: See `tfdarshan.options.Options`.

    Raises:
        ConfigurationError: `logdir` or an option cannot be used.
    """

    # What the user did to have it recorded, for the metadata: advice speaks of the same.
    started_by = "tensorflow"

    def __init__(self, logdir: str | os.PathLike[str], **options: Any) -> None:
        self.logdir = checked_logdir(logdir)
        self.options: Options = make_options(options)
        self._recording: Recording | None = None
        self._path: Path | None = None

    def begin(self) -> None:
        """Attach to this process and start recording.

        Raises:
            SessionActiveError: A session is recording in this process already.
            ConfigurationError: An option cannot be used now.
            StorageError: The logdir or the spool folder cannot be written.
            UnsupportedPlatformError: tfdarshan cannot work here.
        """
        global _active
        # The writer of an earlier session would be in this one, and libdarshan's records would be lost to it.
        background_writer.wait()
        try:
            with HeldInterrupt(lambda: None):
                with _lock:
                    holder = _current_holder()
                    if holder is not None and holder.in_this_process():
                        self._meet(holder)
                        return
                    if holder is None and (earlier := earlier_session()) is not None:
                        _leave_earlier_program(earlier)
                    joined = joined_session() if holder is None else holder.path
                    if joined is not None:
                        self._meet_elsewhere(joined)
                        return
                    self._attach()
                    _active = self
                atexit.register(self._end_at_exit)
                # First, as steps are of its clock.
                self._follow()
                steps.begin_log()
                self._attached()
        except KeyboardInterrupt:
            self._abandon()
            raise

    def end(self) -> None:
        """Detach and write the session.

        A session that cannot be written does not raise: the job's results matter more. A warning says so, and
        what was recorded stays in the spool for `tfdarshan recover`. Ctrl-C waits until it is written; a
        second one does not, and what was recorded stays as well.

        Raises:
            SessionActiveError: This session is not recording.
            KeyboardInterrupt: Ctrl-C was pressed meanwhile.
        """
        if self._recording is None:
            raise SessionActiveError(f"the session in {self.logdir} is not recording: call start() first.")
        with HeldInterrupt(self._recording.say_interrupt_waits):
            self.detach()
            recording = self.release()
            if recording is None:
                return
            with recording.kept_when_interrupted():
                self._before_write(recording)
                self._path = recording.directory
                recording.write()

    def detach(self) -> None:
        """End the recording without writing it; a second call does nothing."""
        if self.in_this_process() and self._recording is not None:
            # What detaching takes is no part of the step that lasts.
            steps.end_log()
            with suppress(StorageError):  # said when it is written
                self._recording.detach()

    def release(self) -> Recording | None:
        """Hand over what was recorded, to be written; None in a forked child, where its parent does that."""
        global _active
        with _lock:
            recording, self._recording = self._recording, None
            if _active is self:
                _active = None
        atexit.unregister(self._end_at_exit)
        if recording is None:
            return None
        if recording.in_this_process():
            steps.end_log()
            recording.extra.update(following.end())
            return recording
        recording.stop_in_child()
        return None

    def in_this_process(self) -> bool:
        """Return whether this process started the recording; a forked child did not."""
        return self._recording is not None and self._recording.in_this_process()

    @property
    def path(self) -> Path:
        """The session directory.

        Raises:
            SessionActiveError: Nothing was recorded yet.
        """
        if self._path is None:
            raise SessionActiveError(
                "this session was never started: use it in a `with` statement, or call start()."
            )
        return self._path

    def _meet(self, holder: Recorder) -> None:
        """Is called in place of a start where `holder` records already."""
        raise SessionActiveError(
            f"a session already records this process, into {holder.path}: "
            "stop it first; a process is in one session at a time."
        )

    def _meet_elsewhere(self, directory: Path) -> None:
        """Is called in place of a start where a session of another process records this one."""
        raise SessionActiveError(
            f"the session {directory}, of the process that started this one, records it already: "
            "a process is in one session at a time."
        )

    def _attach(self) -> None:
        if _bridge.session_active():
            raise SessionActiveError(
                "a profile that TensorFlow's profiler was asked for already records this process: "
                "wait for it to end; a process is in one session at a time."
            )
        _reset_lock_in_children()
        # Before anything is recorded: an import reads folders.
        adapters()
        batch_log.native()
        self._before_attach()
        self._recording = start_recording(self.logdir, self.options, self.started_by)
        self._path = self._recording.directory

    def _follow(self) -> None:
        """Have every framework tell of steps, waits and the input pipeline."""
        if self._recording is not None:
            following.begin(self._recording.spool_directory, self._recording.note_start)

    def _before_attach(self) -> None:
        """Is called when nobody records and we are about to."""

    def _attached(self) -> None:
        """Is called when we record."""

    def _before_write(self, recording: Recording) -> None:
        """Is called between a recording's end and its writing."""

    def _abandon(self) -> None:
        """Forget a session whose start was interrupted."""
        recording = self.release()
        if recording is not None:
            recording.discard()

    def _end_at_exit(self) -> None:
        try:
            if self.in_this_process():
                keep_pythons_end()
                with suppress(SessionActiveError):
                    self.end()
        except KeyboardInterrupt:
            end_by_interrupt()
            if self.in_this_process():  # it came before it could be held back
                self.end()


def note_copies(folder: str) -> None:
    """Note in the session of this process, if there is one, which folder's copies the job opens."""
    holder = _current_holder()
    if holder is not None and holder._recording is not None and holder.in_this_process():
        holder._recording.note_copies(folder)


def _current_holder() -> Recorder | None:
    """Return who records in this process; in a forked child that is its parent's."""
    global _active
    if _active is not None and not _bridge.session_active():
        _active = None
    return _active


def _leave_earlier_program(directory: Path) -> None:
    """Write the session of the program that this process ran before, which can no longer do that."""
    from tfdarshan.recording.recover import recover_session

    if _bridge.session_active():
        _bridge.stop_session()
    try:
        recover_session(directory, succeeds=True)
        said = f"is written to {directory}"
    except TfdarshanError as error:
        later = f"tfdarshan recover {shell_word(logdir_of(directory))}"
        said = f"is not written: {str(error).rstrip('.')}. Later, run `{later}`"
    warn(
        "this process became another program while it was recorded: the session of the program before "
        f"{said}. This program's session is one of its own."
    )


@functools.lru_cache(maxsize=1)
def _reset_lock_in_children() -> None:
    """A child forked while another thread held the lock would wait for it for ever."""

    def reset() -> None:
        global _lock
        _lock = threading.Lock()

    os.register_at_fork(after_in_child=reset)
