"""Finds sessions and Darshan logs below folders, each with what tells whether it changed. Opens no file."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from tfdarshan.errors import ConfigurationError, SessionDataError, reason
from tfdarshan.fleet.job_columns import LOG, SESSION
from tfdarshan.sessions.rank_folder import RANK_FOLDER
from tfdarshan.sessions.remote_session import is_url
from tfdarshan.sessions.session_directory import BURST_CONTROL, MARKER, META_SUFFIX, PLUGIN_FOLDER

SUFFIX = ".darshan"
# What to do about a folder that cannot be used.
GIVE = "give folders with sessions or Darshan logs"


@dataclass
class InputList:
    """What was found.

    Attributes:
        roots: The folders, files and patterns that were asked for, absolute.
        kinds: SESSION or LOG, by path.
        fingerprints: What tells one state of an input from another, by path.
        unreadable: Folders that could not be looked into, with the reason.
    """

    roots: tuple[str, ...]
    kinds: dict[str, str] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    def would_find(self, path: str) -> bool:
        """Return whether an input of this path would have been found if it were there."""
        if any(_is_below(path, folder) for folder in self.unreadable):
            return False
        return any(
            _is_matched(Path(path).parts, Path(root).parts) if _is_pattern(root) else _is_below(path, root)
            for root in self.roots
        )


def find_inputs(given: Sequence[str]) -> InputList:
    """Find all inputs: logs by their suffix, or named as they are; sessions where logdirs have them.

    Args:
        given: Folders, files, or patterns as a shell has them; `**` stands for any number of folders.

    Raises:
        ConfigurationError: One is a URL.
        SessionDataError: One of them is not there.
    """
    url = next(filter(is_url, given), None)
    if url is not None:
        raise ConfigurationError(
            f"{url} is a URL, and a fleet is read from folders: copy or mount it, "
            "or read one session of it with `tfdarshan summary`."
        )
    found = InputList(tuple(os.path.abspath(path) for path in given))  # noqa: PTH100
    for path in found.roots:
        for one in _matching(path):
            _add(found, one)
    _leave_each_once(found)
    return found


def _leave_each_once(found: InputList) -> None:
    """Leave out other names of an input, such as a link to the newest log: a job counts once."""
    names: dict[tuple[int, int], list[str]] = {}
    for path in found.kinds:
        with suppress(OSError):  # it has gone meanwhile
            about = os.stat(path)  # noqa: PTH116
            names.setdefault((about.st_dev, about.st_ino), []).append(path)
    for paths in names.values():
        own = min(paths, key=lambda path: (os.path.realpath(path) != path, path))
        for path in paths:
            if path != own:
                del found.kinds[path], found.fingerprints[path]


def _matching(path: str) -> Iterable[str]:
    if os.path.lexists(path) or not _is_pattern(path):
        return [path]
    matching = glob.glob(path, recursive=True)  # noqa: PTH207
    if not matching:
        raise SessionDataError(f"nothing matches {path}: {GIVE}.")
    return matching


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) and not os.path.lexists(path)


def _is_matched(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether `glob.glob()` of a pattern finds a path, or a folder above it."""
    if not pattern or not parts:
        return not pattern
    is_hidden = parts[0].startswith(".") and not pattern[0].startswith(".")
    if pattern[0] == "**":
        return _is_matched(parts, pattern[1:]) or (not is_hidden and _is_matched(parts[1:], pattern))
    return not is_hidden and fnmatch.fnmatchcase(parts[0], pattern[0]) and _is_matched(parts[1:], pattern[1:])


def _add(found: InputList, path: str) -> None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError as error:
        raise SessionDataError(f"{path} cannot be read: {reason(error)}; {GIVE}.") from error
    if not os.path.isdir(path):  # noqa: PTH112
        found.kinds[path], found.fingerprints[path] = LOG, _fingerprint_of_log(status)
        return
    if _add_session(found, path):
        return
    _walk(found, path)
    if path in found.unreadable:
        raise SessionDataError(f"{path} cannot be read: {found.unreadable[path]}; {GIVE}.")


def _walk(found: InputList, top: str) -> None:
    """Go through folders; those of sessions are found where logdirs have them, and not gone into."""
    folders = [top]
    while folders:
        folder = folders.pop()
        of_sessions = folder.endswith(f"{os.sep}{PLUGIN_FOLDER}")
        for entry in _entries(found, folder):
            try:
                if entry.name.endswith(SUFFIX) and entry.is_file():
                    found.kinds[entry.path] = LOG
                    found.fingerprints[entry.path] = _fingerprint_of_log(entry.stat())
                elif (
                    entry.is_dir(follow_symlinks=False)
                    and entry.name != BURST_CONTROL
                    and not (of_sessions and _add_session(found, entry.path))
                ):
                    folders.append(entry.path)
            except OSError:
                continue  # it has gone meanwhile


def _entries(found: InputList, folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError as error:
        found.unreadable[folder] = reason(error)


def _fingerprint_of_log(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}"


def _add_session(found: InputList, folder: str) -> bool:
    """Add a session; say whether the folder is one."""
    files: list[str] = []
    is_session = _add_files(folder, "", files)
    if is_session:
        found.kinds[folder] = SESSION
        state = "\n".join(sorted(files)).encode("utf-8", "surrogateescape")
        found.fingerprints[folder] = blake2b(state, digest_size=12).hexdigest()
    return is_session


def _add_files(folder: str, below: str, files: list[str]) -> bool:
    """Add a session's files with sizes and times; say whether there is metadata or a marker among them."""
    is_session = False
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not below and RANK_FOLDER.match(entry.name) and entry.is_dir():
                    is_session |= _add_files(entry.path, f"{entry.name}/", files)
                elif entry.is_file() and not entry.name.startswith("."):
                    is_session |= entry.name == MARKER or entry.name.endswith(META_SUFFIX)
                    files.append(f"{below}{entry.name}:{_fingerprint_of_log(entry.stat())}")
    except OSError:
        return is_session
    return is_session


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top.rstrip('/')}/")
