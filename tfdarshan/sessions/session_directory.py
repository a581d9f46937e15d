"""Names and makes session directories, and keeps the marker of a recording that has not been written yet."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tfdarshan.durable.durable_file import durable_file
from tfdarshan.errors import ConfigurationError, SessionDataError, StorageError, reason
from tfdarshan.file_name import shell_word
from tfdarshan.sessions.rank_folder import is_rank_folder, rank_folder, rank_folders
from tfdarshan.sessions.whole_file import JSON_GROWTH, read_whole

PLUGIN_FOLDER = Path("plugins") / "tfdarshan"
MARKER = "recording.json"
# Where a burst buffer keeps its own files, in the fast and in the slow folder.
BURST_CONTROL = ".tfdarshan-burst"
META_SUFFIX = ".meta.json"
# What the names of temporary folders begin with that Darshan logs are imported into to be read once.
LOG_FOLDER = "tfdarshan-log-"
# And that copies are in of what URLs name.
COPY_FOLDER = "tfdarshan-copy-"
STAMP_FORMAT = "%Y_%m_%d_%H_%M_%S"
REMOTE_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class Marker:
    """What the marker says: enough to find the spool, and to tell whether its process still runs."""

    session: str
    spool_directory: str
    host: str
    pid: int
    process_start: int
    boot_id: str
    pid_namespace: str
    start_realtime_ns: int
    options: dict[str, Any]
    notes: list[str]
    versions: dict[str, str]
    started_by: str = ""
    copies: str = ""
    job: dict[str, Any] | None = None


def checked_logdir(logdir: str | os.PathLike[str]) -> Path:
    """Return the logdir as an absolute local path.

    Raises:
        ConfigurationError: It is no path, or a remote URL.
        StorageError: It is below a working directory that was removed.
    """
    if not isinstance(logdir, (str, os.PathLike)) or not os.fspath(logdir):
        raise ConfigurationError(f"logdir must be a path, not {logdir!r}.")
    path = os.fsdecode(os.fspath(logdir))
    if REMOTE_URL.match(path):
        raise ConfigurationError(
            f"logdir {path} is remote and tfdarshan writes local files only: "
            "give a local folder and copy it afterwards."
        )
    try:
        return Path(path).absolute()
    except FileNotFoundError as error:
        raise StorageError(
            f"logdir {path} is below the working directory, which was removed: give a path from / on."
        ) from error


def directory_of(logdir: Path, marker: Marker) -> Path:
    """Return the directory that a marker's session is written to in a logdir."""
    session = logdir / PLUGIN_FOLDER / marker.session
    return session if marker.job is None else rank_folder(session, int(marker.job["rank"]))


def make_session_directory(
    logdir: Path, clock: time.struct_time | None = None, *, name: str | None = None
) -> Path:
    """Make `<logdir>/plugins/tfdarshan/<stamp>/`; `_2`, `_3` ... is added to a stamp that is taken.

    Args:
        logdir: The logdir.
        clock: The time that the stamp says, now by default.
        name: In place of the stamp.

    Raises:
        StorageError: It cannot be made.
    """
    stamp = name or time.strftime(STAMP_FORMAT, clock or time.localtime())
    parent = logdir / PLUGIN_FOLDER
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            directory = parent / (stamp if number == 1 else f"{stamp}_{number}")
            try:
                directory.mkdir()
            except FileExistsError:
                continue
            return directory
    except OSError as error:
        raise unwritable_logdir(logdir, error) from error
    raise StorageError(f"logdir {logdir} already holds 999 sessions stamped {stamp}: choose another one.")


def unwritable_logdir(logdir: Path, error: OSError) -> StorageError:
    """Return the error for a logdir in which a folder could not be made."""
    if logdir.is_symlink() and not logdir.exists():
        return StorageError(
            f"logdir {logdir} is a link to {logdir.readlink()}, which is not there: "
            "make that folder, or choose another one."
        )
    return StorageError(
        f"logdir {logdir} cannot be written: {reason(error)}; choose a folder you can write to."
    )


def discard_session_directory(directory: Path) -> None:
    """Remove a session directory in which nothing was recorded, and the folders made for it."""
    try:
        (directory / MARKER).unlink(missing_ok=True)
        # Another rank may be about to come into the session: only its own folder is this one's.
        above = () if is_rank_folder(directory) else (directory.parent, directory.parent.parent)
        for folder in (directory, *above):
            folder.rmdir()
    except OSError:
        pass


def write_marker(directory: Path, marker: Marker) -> None:
    """Write the marker durably.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        write_json(directory / MARKER, _plain(marker))
    except OSError as error:
        raise StorageError(
            f"logdir {directory} cannot be written: {reason(error)}; choose a folder you can write to."
        ) from error


def write_spool_marker(marker: Marker) -> None:
    """Write the marker into the spool folder too: the logdir may be removed while the session runs.

    Raises:
        StorageError: It cannot be written.
    """
    spool = Path(marker.spool_directory)
    try:
        write_json(spool / MARKER, _plain(marker))
    except OSError as error:
        raise StorageError(
            f"the spool {spool} cannot be written: {reason(error)}; name another folder with spool_dir."
        ) from error


def _plain(marker: Marker) -> dict[str, Any]:
    """Return the marker as JSON has it: only that of a rank speaks of a job."""
    fields = dataclasses.asdict(marker)
    return {name: value for name, value in fields.items() if name != "job" or value is not None}


def read_marker(directory: Path) -> Marker:
    """Read the marker of an interrupted session, from its session directory or its spool folder.

    Raises:
        SessionDataError: It is missing or damaged.
    """
    from tfdarshan.sessions.checked_json import DecodingError, decode, plain
    from tfdarshan.sessions.meta_shape import RecordingShape

    path = directory / MARKER
    try:
        shape = decode(read_whole(path, growth=JSON_GROWTH), RecordingShape)
    except OSError as error:
        raise SessionDataError(f"{path} cannot be read: {reason(error)}.") from error
    except DecodingError as error:
        raise SessionDataError(
            f"{path} is damaged ({error}): the spool it named cannot be found from here."
        ) from error
    fields = {name: getattr(shape, name) for name in shape.__struct_fields__}
    return Marker(**fields | {"job": plain(shape.job)})


def write_json(path: Path, value: Any) -> None:
    """Write JSON under a temporary name, make it durable, and rename it."""
    with durable_file(path) as file:
        file.write((json.dumps(value, indent=1) + "\n").encode())


def walk_sessions(logdir: Path, refused: list[Path] | None = None) -> Iterator[Path]:
    """Yield the session directories below a logdir, complete or not, past other plug-ins' folders.

    Args:
        logdir: The logdir.
        refused: Links that are not followed are added.
    """
    for folder, names in walk_logdir(logdir, refused):
        if "plugins" in names:
            names.remove("plugins")
            sessions = Path(folder) / PLUGIN_FOLDER
            yield from (sessions / name for name in _folders_in(sessions, Path(folder) == logdir))
        names.sort()


def _folders_in(sessions: Path, needed: bool) -> list[str]:
    """List the names of the folders in one that may not be there; of one that cannot be read none.

    Raises:
        SessionDataError: It cannot be read, and is needed.
    """
    try:
        with os.scandir(sessions) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError as error:
        if needed and not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            _refuse_unreadable(str(sessions), error)
    return []


def _refuse_unreadable(logdir: str, error: OSError) -> None:
    """A folder below the logdir that cannot be listed is passed over; the logdir itself is not."""
    if error.filename == logdir:
        raise SessionDataError(
            f"the logdir {logdir} cannot be read: {reason(error)}; give one that you can read."
        ) from error


def walk_logdir(logdir: Path, refused: list[Path] | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield the folders below a logdir with the names of those in them, which may be changed on the way.

    A link in the logdir leads to a run that the user chose, which TensorBoard shows, too. It is followed
    unless it leads to what holds the logdir, or was walked; a link below such a run is not.

    Args:
        logdir: The logdir.
        refused: Links that are not followed are added, but for those into the logdir.

    Raises:
        SessionDataError: The logdir cannot be read.
    """
    links: list[Path] = []
    yield from _walk(logdir, links)
    top = logdir.resolve()
    walked = [top]
    below: list[Path] = []
    for link in sorted(links):
        target = link.resolve()
        if any(target.is_relative_to(one) for one in walked):
            continue
        if any(one.is_relative_to(target) for one in walked):
            below.append(link)
            continue
        walked.append(target)
        yield from _walk(link, below)
    if refused is not None:
        refused += [link for link in below if not link.resolve().is_relative_to(top)]


def _walk(top: Path, links: list[Path]) -> Iterator[tuple[str, list[str]]]:
    """Yield folders as `walk_logdir()`; links to folders among what is left of them are added to `links`."""
    for folder, names, _files in os.walk(top, onerror=partial(_refuse_unreadable, str(top))):
        yield folder, names
        links += [path for name in names if (path := Path(folder, name)).is_symlink()]


def leads_below(path: Path, folder: Path) -> bool:
    """Return whether a path is in a folder once links are followed; a link to itself is where it stands."""
    # Path.resolve() raises RuntimeError for a link to itself before Python 3.13.
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def is_complete(directory: Path) -> bool:
    """Return whether all of a session was written, its owner's metadata last; of a job's, one rank's part."""
    if (directory / MARKER).exists():
        marker = read_marker(directory)
        return (directory / f"{marker.host}.{marker.pid}{META_SUFFIX}").exists()
    return any(directory.glob(f"*{META_SUFFIX}")) or any(map(is_complete, rank_folders(directory)))


def is_of_a_log(directory: Path) -> bool:
    """Return whether a session is that of a log that is read without being imported: it is removed again."""
    return any(parent.name.startswith(LOG_FOLDER) for parent in directory.parents)


def is_of_a_url(directory: Path) -> bool:
    """Return whether a session is the copy of one that a URL names: it is removed again."""
    return any(parent.name.startswith(COPY_FOLDER) for parent in directory.parents)


def no_logdir(
    path: Path, give: str = "give the folder that tfdarshan.profile() or `tfdarshan run --logdir` wrote to"
) -> SessionDataError:
    """Return the error for a path that is to be a logdir and is no folder."""
    if path.is_symlink() and not path.exists():
        return SessionDataError(
            f"the logdir {path} is a link to {path.readlink()}, which is not there: {give}."
        )
    if not path.exists():
        return SessionDataError(f"there is no logdir {path}: {give}.")
    if path.suffix == ".darshan":
        give = f"make a session of it with `tfdarshan import {shell_word(path)} --logdir DIR`"
    elif (path.parent / MARKER).exists() or any(path.parent.glob(f"*{META_SUFFIX}")):
        give = f"give the session it is in, {path.parent}"
    return SessionDataError(f"{path} is a file, not a logdir: {give}.")


def host_name() -> str:
    """Return this host's name as files and tables have it."""
    return platform.node() or "localhost"


def boot_id() -> str:
    """Return the kernel's identifier of this boot, "" where it is hidden."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def host_id() -> str:
    """Return what tells hosts apart: the kernel's identifier of this boot, else the host's name."""
    return boot_id() or host_name()


def process_start(pid: int) -> int:
    """Return when a process began, in clock ticks since boot: 0 where there is none, or it has ended.

    Source: fields 3 and 22 of /proc/PID/stat, proc_pid_stat(5). A process id may be somebody else's later.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return 0 if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, IndexError, ValueError):
        return 0


def pid_namespace() -> str:
    """Name the pid namespace of this process, "" where it is hidden."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
