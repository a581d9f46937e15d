"""One recorded session as data: its processes, and their tables read when first asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tfdarshan.errors import SessionDataError
from tfdarshan.native.package_versions import check_packages
from tfdarshan.sessions.find import find_sessions, is_written, locate_session, locate_sessions, named_run
from tfdarshan.sessions.gathered_processes import LIST
from tfdarshan.sessions.joint_session import Joint, Rank, join_ranks
from tfdarshan.sessions.overlap import overlapping
from tfdarshan.sessions.process_data import ProcessData, read_gathered, read_process
from tfdarshan.sessions.rank_folder import rank_folders
from tfdarshan.sessions.session_directory import META_SUFFIX
from tfdarshan.units import plural

if TYPE_CHECKING:
    import pandas as pd

Opened = TypeVar("Opened", bound="SessionData")


class SessionData:
    """One recorded session. Tables are read when first asked for.

    Attributes:
        path: The session directory.
        processes: The recorded processes, the one that started the session first.
        problems: What could not be read, one sentence each; empty unless damaged parts are skipped.
        chosen_from: The logdir of which it was the newest session; None where it was named itself.
        joint: Of a session of several ranks, who they are; None for that of one process and its children.
    """

    def __init__(
        self,
        path: Path,
        processes: list[ProcessData],
        problems: list[str],
        chosen_from: Path | None = None,
        joint: Joint | None = None,
    ) -> None:
        self.path = path
        self.processes = processes
        self.problems = problems
        self.chosen_from = chosen_from
        self.joint = joint

    def __repr__(self) -> str:
        return f"<tfdarshan session {str(self.path)!r}, {len(self.processes)} processes>"

    @property
    def meta(self) -> list[dict[str, Any]]:
        """The metadata of each process, the session's owner first."""
        return [process.meta for process in self.processes]

    @property
    def left_out(self) -> bool:
        """Whether something was left out, as it cannot be read."""
        return len(self.problems) > (0 if self.joint is None else len(self.joint.sentences()))

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
        from tfdarshan.sessions.frames import files_frame

        return files_frame(self.processes)

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per segment, sorted by start: `schema.EVENT_COLUMNS` and `schema.EVENT_PATH`.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.sessions.frames import events_frame

        return events_frame(self.processes)

    @cached_property
    def layers(self) -> pd.DataFrame:
        """What a Darshan log has above and below POSIX and STDIO, one row per record: `schema.LAYER_COLUMNS`.

        MPI-IO, HDF5, PnetCDF, Lustre's striping, and FIFOs and sockets, which are no files. Empty for a
        session that is not of a log.

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        from tfdarshan.sessions.frames import layers_frame

        return layers_frame(self.processes)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """One row per training step: `schema.STEP_COLUMNS`. Empty where nothing says what a step is.

        Steps are those that the job or Keras marked, else PyTorch's, else those of TensorFlow's trace. Of
        several ranks they are those of the rank that findings are about, with the calls of that rank alone.

        Raises:
            SessionDataError: A table is damaged or missing.
        """
        from tfdarshan.sessions.step_table import steps_frame

        return steps_frame(self.processes)

    @cached_property
    def batches(self) -> pd.DataFrame:
        """One row per batch that the job took from a loader: `schema.BATCH_COLUMNS` and `schema.BATCH_RANK`.

        Empty if none is known.

        Raises:
            SessionDataError: The table is damaged or missing.
        """
        from tfdarshan.sessions.frames import batches_frame

        return batches_frame(self.processes)

    @cached_property
    def step_bounds(self) -> pd.DataFrame:
        """The steps without their I/O, whatever the number of calls: `step_table.step_marks`."""
        from tfdarshan.sessions.step_table import step_marks

        return step_marks(self.processes)

    @classmethod
    def open(cls: type[Opened], path: str | os.PathLike[str], *, skip_damaged: bool = False) -> Opened:
        """Open a session directory, or the newest finished session of a logdir.

        Args:
            path: The session directory, the logdir, or `LOGDIR:RUN` for a run or a session below it.
            skip_damaged: Leave out processes whose data cannot be read, and say so in `problems`.

        Raises:
            SessionDataError: There is no finished session, or its data is damaged or of a newer schema.
            UnsupportedPlatformError: The packages that read it do not work together.
        """
        check_packages()
        folder = named_run(Path(path))
        directory = locate_session(folder)
        joint, processes, problems = _read_session(directory, skip_damaged)
        return cls(directory, processes, problems, None if directory == folder else folder, joint)

    @property
    def leading(self: Opened) -> Opened:
        """The session of the rank that waits most, alone; without ranks this one."""
        return self if self.joint is None else self.of_rank(self.joint.leading)

    def of_rank(self: Opened, rank: Rank) -> Opened:
        """Return the session of one rank alone, with the times that it wrote."""
        return type(self)(rank.directory, rank.processes, [])

    @classmethod
    def open_newest(cls: type[Opened], path: str | os.PathLike[str], count: int) -> list[Opened]:
        """Open the newest `count` finished sessions of a logdir, oldest first; a session directory is one.

        Raises:
            SessionDataError: There are fewer, or one's data is damaged or of a newer schema.
        """
        folder = named_run(Path(path))
        sessions = [cls.open(found) for found in locate_sessions(folder, count)]
        for session in sessions:
            session.chosen_from = None if session.path == folder else folder
        return sessions


def _read_session(directory: Path, skip_damaged: bool) -> tuple[Joint | None, list[ProcessData], list[str]]:
    """Read all processes; those of a joint session are put on one clock."""
    written = [part for part in rank_folders(directory) if is_written(part)]
    if not written:
        processes, problems = _read_processes(directory, skip_damaged)
        return None, processes, problems
    problems, ranks = [], []
    for part in written:
        try:
            processes, unread = _read_processes(part, skip_damaged)
            problems += unread
            ranks.append((part, processes))
        except SessionDataError as error:
            if not skip_damaged:
                raise
            problems.append(str(error))
    ranks = [(part, processes) for part, processes in ranks if "job" in processes[0].meta]
    if not ranks:
        raise SessionDataError(f"no rank's data in the session {directory} can be read: {' '.join(problems)}")
    joint, processes = join_ranks(ranks)
    return joint, processes, [*problems, *joint.sentences()]


def _read_processes(directory: Path, skip_damaged: bool) -> tuple[list[ProcessData], list[str]]:
    """Read the processes of a session, its owner first, and say what of them cannot be read."""
    problems: list[str] = []
    processes: list[ProcessData] = []
    metas = sorted(directory.glob(f"*{META_SUFFIX}"))
    for read in (*(partial(_own, path) for path in metas), partial(_gathered, directory, processes)):
        try:
            processes += read()
        except SessionDataError as error:
            if not skip_damaged:
                raise
            problems.append(str(error))
    if skip_damaged:
        processes, damaged = _undamaged(processes)
        problems += damaged
    if not processes:
        raise SessionDataError(
            f"no process's data in the session {directory} can be read: {' '.join(problems)}"
        )
    processes.sort(
        key=lambda process: (not process.meta["owner"], process.meta["start_ns"], process.meta["pid"])
    )
    return processes, problems


def _own(meta_path: Path) -> list[ProcessData]:
    return [read_process(meta_path)]


def _gathered(directory: Path, others: Sequence[ProcessData]) -> list[ProcessData]:
    """Return the processes whose files are together, if there are as many as the session's owner counted."""
    found = read_gathered(directory)
    owners = [process.meta for process in others if process.meta["owner"]]
    expected = sum((meta.get("children") or {}).get("gathered", 0) for meta in owners)
    if owners and len(found) != expected:
        raise SessionDataError(
            f"{directory / LIST} has {len(found):,} of {plural(expected, 'process', 'processes')}: copy the "
            "session again, with all of its files."
        )
    return found


def _undamaged(processes: Sequence[ProcessData]) -> tuple[list[ProcessData], list[str]]:
    """Return the processes whose tables can be read, and what is wrong with those of the others."""
    whole, problems = [], []
    for process in processes:
        try:
            process.check_tables()
            whole.append(process)
        except SessionDataError as error:
            problems.append(str(error))
    return whole, list(dict.fromkeys(problems))
