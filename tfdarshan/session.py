"""Reads sessions: what `profile()` gives back, and what the command line and the TensorBoard tab read."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdarshan import pending
from tfdarshan.errors import SessionDataError
from tfdarshan.overlap import overlapping
from tfdarshan.process_data import ProcessData, read_process
from tfdarshan.session_directory import MARKER, META_SUFFIX, no_logdir, walk_sessions
from tfdarshan.units import plural

if TYPE_CHECKING:
    import pandas as pd

STAMP_LENGTH = len("2024_01_31_23_59_59")


class Session:
    """One recorded session. Tables are read when first asked for.

    Attributes:
        path: The session directory.
        processes: The recorded processes, the one that started the session first.
        problems: What could not be read, one sentence each; empty unless damaged parts are skipped.
        chosen_from: The logdir of which it was the newest session; None where it was named itself.
    """

    def __init__(
        self,
        path: Path,
        processes: list[ProcessData],
        problems: list[str],
        chosen_from: Path | None = None,
    ) -> None:
        self.path = path
        self.processes = processes
        self.problems = problems
        self.chosen_from = chosen_from

    def __repr__(self) -> str:
        return f"<tfdarshan session {str(self.path)!r}, {len(self.processes)} processes>"

    def _repr_html_(self) -> str | None:
        """Gives what a notebook shows; None, and so the plain text, where the data cannot be read."""
        from tfdarshan.export.notebook import session_html

        try:
            return session_html(self)
        except SessionDataError:
            return None

    @property
    def meta(self) -> list[dict[str, Any]]:
        """The metadata of each process, the session's owner first."""
        return [process.meta for process in self.processes]

    @cached_property
    def overlapping(self) -> list[Path]:
        """The other sessions of the logdir it was chosen from that recorded while it did, oldest first."""
        if self.chosen_from is None:
            return []
        return overlapping(self.path, find_sessions(self.chosen_from))

    @cached_property
    def files(self) -> pd.DataFrame:
        """One row per process, file and module: `schema.files_columns()`.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.frames import files_frame

        return files_frame(self.processes)

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per segment, sorted by start: `schema.EVENT_COLUMNS` and `schema.EVENT_PATH`.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.frames import events_frame

        return events_frame(self.processes)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """One row per training step: `schema.STEP_COLUMNS`. Empty where nothing says what a step is.

        Steps are those that the job or Keras marked, else those that TensorFlow's trace beside it shows.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.step_table import steps_frame

        return steps_frame(self.processes)

    @cached_property
    def step_bounds(self) -> pd.DataFrame:
        """The steps without their I/O, whatever the number of calls: `step_table.step_marks`."""
        from tfdarshan.step_table import step_marks

        return step_marks(self.processes)

    def summary(self) -> str:
        """Gives the session's summary as text, at most 100 columns wide; the verdict on it comes first."""
        from tfdarshan.findings.diagnosis import diagnose
        from tfdarshan.findings.text import verdict_text
        from tfdarshan.summary import render
        from tfdarshan.summary_data import summarize

        return render(summarize(self), verdict_text(diagnose(self)))


def open_session(path: str | os.PathLike[str], *, skip_damaged: bool = False) -> Session:
    """Opens a session directory, or the newest finished session of a logdir.

    Args:
        path: The session directory, the logdir, or `LOGDIR:RUN` for a run or a session below it.
        skip_damaged: Leave out processes whose data cannot be read, and say so in `Session.problems`.

    Raises:
        SessionDataError: There is no finished session, or its data is damaged or of a newer schema.
    """
    folder = _named_run(Path(path))
    directory = locate_session(folder)
    problems: list[str] = []
    processes = []
    for meta_path in sorted(directory.glob(f"*{META_SUFFIX}")):
        try:
            process = read_process(meta_path)
            if skip_damaged:
                process.check_tables()
            processes.append(process)
        except SessionDataError as error:
            if not skip_damaged:
                raise
            problems.append(str(error))
    if not processes:
        raise SessionDataError(
            f"no process's data in the session {directory} can be read: {' '.join(problems)}"
        )
    processes.sort(
        key=lambda process: (not process.meta["owner"], process.meta["start_ns"], process.meta["pid"])
    )
    return Session(directory, processes, problems, None if directory == folder else folder)


def open_newest(path: str | os.PathLike[str], count: int) -> list[Session]:
    """Opens the newest `count` finished sessions of a logdir, oldest first; of a session directory itself.

    Raises:
        SessionDataError: There are fewer, or one's data is damaged or of a newer schema.
    """
    folder = _named_run(Path(path))
    sessions = [open_session(found) for found in locate_sessions(folder, count)]
    for session in sessions:
        session.chosen_from = None if session.path == folder else folder
    return sessions


def find_sessions(logdir: str | os.PathLike[str]) -> list[Path]:
    """Lists the directories of the finished sessions of a logdir and of the runs below it, oldest first.

    Raises:
        SessionDataError: The logdir does not exist.
    """
    pending.wait()
    folder = Path(logdir)
    if not folder.is_dir():
        raise no_logdir(folder)
    return sorted((path for path in walk_sessions(folder) if _has_data(path)), key=_age)


def locate_sessions(path: str | os.PathLike[str], count: int) -> list[Path]:
    """Gives the newest `count` finished sessions of a logdir, oldest first; of a session directory itself.

    Raises:
        SessionDataError: There are fewer.
    """
    folder = _named_run(Path(path))
    newest = locate_session(folder)
    if count == 1:
        return [newest]
    found = find_sessions(folder)[-count:] if newest != folder else [newest]
    if len(found) < count:
        there = plural(len(found), "finished session")
        raise SessionDataError(f"{folder} has {there}, not {count}: record more, or ask for fewer.")
    return found


def locate_session(path: Path) -> Path:
    """Gives the session directory that `path` is, or the newest finished one below it.

    `LOGDIR:RUN` is the run of that name, a folder below the logdir, or the session of that name.

    Raises:
        SessionDataError: There is none.
    """
    pending.wait()
    path = _named_run(path)
    if path.is_dir() and _has_data(path):
        return path
    if (path / MARKER).exists():
        raise _unfinished(path, path)
    sessions = find_sessions(path)
    if sessions:
        return sessions[-1]
    unfinished = [directory for directory in walk_sessions(path) if (directory / MARKER).exists()]
    if unfinished:
        raise _unfinished(unfinished[-1], path)
    raise SessionDataError(
        f"there is no session in {path}: record one with tfdarshan.profile({str(path)!r})."
    )


def _named_run(path: Path) -> Path:
    """Resolves `LOGDIR:RUN`; gives every other path as it is."""
    logdir, colon, run = str(path).rpartition(":")
    if path.exists() or not colon or not Path(logdir).is_dir():
        return path
    folder = Path(logdir) / run
    if folder.is_dir():
        return folder
    sessions = list(walk_sessions(Path(logdir)))
    named = [session for session in sessions if session.name == run]
    if named:
        return named[-1]
    runs = {str(session.parents[2].relative_to(logdir)) for session in sessions} - {"."}
    names = [*sorted(runs), *(session.name for session in sessions)]
    there = f"it has {', '.join(names[:10])}" if names else "it has no session"
    raise SessionDataError(f"the logdir {logdir} has no run or session {run!r}: {there}.")


def _unfinished(directory: Path, given: Path) -> SessionDataError:
    return SessionDataError(
        f"the session {directory} is still recording or was interrupted: "
        f"if its process has ended, run `tfdarshan recover {given}`."
    )


def _has_data(directory: Path) -> bool:
    return not (directory / MARKER).exists() and any(directory.glob(f"*{META_SUFFIX}"))


def _age(directory: Path) -> tuple[str, int, str]:
    """Sorts by the stamp in the name and the number added to it; `recover` writes old sessions late."""
    stamp, _, number = directory.name[STAMP_LENGTH:].rpartition("_")
    return (directory.name[:STAMP_LENGTH] + stamp, int(number) if number.isdecimal() else 0, str(directory))
