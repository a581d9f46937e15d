"""A session that a URL names, as workers on other machines read it: by a copy that each machine makes."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tfdarshan.errors import SessionDataError, reason
from tfdarshan.sessions.remote_session import copy_folder
from tfdarshan.sessions.session_directory import COPY_FOLDER, host_name

# Is in a copy that was made for workers, which nobody else removes.
BROUGHT = "brought"


@dataclass(frozen=True)
class WorkerCopy:
    """A copy of a session, at the same path on each machine.

    Tasks name tables by the path of the copy that was made where they were thought of. On another machine
    the first task copies the session once more, into a folder of the same name.

    Attributes:
        url: The session's own URL.
        folder: The temporary folder of the copy.
        place: Where in it the session is.
    """

    url: str
    folder: Path
    place: Path

    def bring(self) -> None:
        """Make the copy unless it is there; of several workers of a machine one makes it.

        Raises:
            ConfigurationError: fsspec, or what it needs for such a URL, is not installed there.
            SessionDataError: The session cannot be copied.
        """
        try:
            if self._is_there():
                return
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self._beside(".lock")):
                if not self._is_there():
                    self._make()
        except OSError as error:
            raise SessionDataError(
                f"the worker on {host_name()} cannot copy {self.url} to {self.folder}: {reason(error)}."
            ) from error

    def remove(self) -> None:
        """Remove what was brought to this machine, which is nothing where the first copy is."""
        for path in (self._beside(".part"), *([self.folder] if self._was_brought() else [])):
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            self._beside(".lock").unlink()

    def _make(self) -> None:
        part = self._beside(".part")
        shutil.rmtree(part, ignore_errors=True)  # of a worker that was killed
        part.mkdir(mode=0o700)
        copy_folder(self.url, part / self.place)
        (part / BROUGHT).touch()
        part.rename(self.folder)

    def _is_there(self) -> bool:
        """Return whether the copy is there, and no folder that somebody else has put in its place."""
        try:
            owner = self.folder.lstat().st_uid
        except FileNotFoundError:
            return False
        if owner != os.geteuid():
            raise PermissionError(f"{self.folder} is somebody else's")
        return True

    def _was_brought(self) -> bool:
        return (self.folder / BROUGHT).exists()

    def _beside(self, suffix: str) -> Path:
        return self.folder.with_name(self.folder.name + suffix)


def worker_copy(url: str, session: Path) -> WorkerCopy:
    """Return what workers need to read a session as it was copied here.

    Args:
        url: What was copied: the session, or the logdir it is in.
        session: The session's folder in the copy that `copied_session` made.
    """
    folder = next(parent for parent in session.parents if parent.name.startswith(COPY_FOLDER))
    place = session.relative_to(folder)
    below = "/".join(("", *place.parts[1:]))  # the first one is the folder that the URL names
    return WorkerCopy(url.rstrip("/") + below, folder, place)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
