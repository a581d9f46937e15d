"""Sessions in storage that is named by a URL, such as s3://bucket/logs: copied to read them, by fsspec."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from tfdarshan.durable.user_folders import temporary_folder
from tfdarshan.errors import ConfigurationError, SessionDataError, reason
from tfdarshan.sessions.find import locate_session
from tfdarshan.sessions.session_directory import COPY_FOLDER, MARKER, META_SUFFIX, REMOTE_URL

# What says which sessions there are; all else is copied of one alone.
TELLING = (META_SUFFIX, MARKER, "session.json")


def is_url(path: str) -> bool:
    """Return whether a path is a URL."""
    return REMOTE_URL.match(path) is not None


@contextmanager
def copied_session(url: str) -> Iterator[Path]:
    """Yield a copy of a session, or of the newest finished one of a logdir; it is removed in the end.

    Args:
        url: The session's folder, or the logdir.

    Raises:
        ConfigurationError: fsspec, or what it needs for such a URL, is not installed.
        SessionDataError: There is no finished session, or it cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix=COPY_FOLDER, dir=temporary_folder()) as folder:
        try:
            copy = _copied(url, Path(folder))
        except (ConfigurationError, SessionDataError):
            raise
        except (OSError, ValueError) as error:
            raise SessionDataError(f"{url} cannot be read: {reason(error)}.") from error
        yield copy


def copy_folder(url: str, folder: Path) -> None:
    """Copy a folder with all that is below it.

    Raises:
        ConfigurationError: fsspec, or what it needs for such a URL, is not installed.
        OSError: A file cannot be written.
        SessionDataError: There is nothing, or the storage does not answer.
    """
    storage, root = storage_of(url)
    with clients_errors(url):
        _copy(storage, _copies(url, storage, root, folder))


def _copied(url: str, folder: Path) -> Path:
    storage, root = storage_of(url)
    # A folder keeps its name: it is the session's if it is one.
    logdir = folder / (PurePosixPath(root).name or "logs")
    copies = _copies(url, storage, root, logdir)
    telling = {name: to for name, to in copies.items() if name.endswith(TELLING)}
    with clients_errors(url):
        _copy(storage, telling)
    logdir.mkdir(parents=True, exist_ok=True)
    session = locate_session(logdir)
    for to in telling.values():
        # Of other sessions there are no tables here: nobody is to find them.
        if session not in to.parents:
            to.unlink()
    rest = {name: to for name, to in copies.items() if session in to.parents and not to.exists()}
    with clients_errors(url):
        _copy(storage, rest)
    return session


def _copies(url: str, storage: Any, root: str, folder: Path) -> dict[str, Path]:
    """Name what is below a folder in a storage, and where it goes to."""
    with clients_errors(url):
        names = sorted(storage.find(root))
    if not names:
        raise SessionDataError(f"there is nothing in {url}: give a session's folder, or a logdir.")
    return {name: folder / PurePosixPath(name).relative_to(root) for name in names if _is_below(name, root)}


@contextmanager
def clients_errors(url: str) -> Iterator[None]:
    """Word what a storage's client raises: each has exceptions of its own, as botocore without an answer.

    Raises:
        OSError: As the client raised it.
        SessionDataError: The client raised something else.
    """
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        told = " ".join(str(error).split()) or type(error).__name__
        raise SessionDataError(f"{url} cannot be read: {told.rstrip('.')}.") from error


def storage_of(url: str) -> tuple[Any, str]:
    """Return fsspec's storage of a URL, and the path in it, without a slash at its end.

    Raises:
        ConfigurationError: fsspec, or what it needs for such a URL, is not installed.
    """
    try:
        from fsspec.core import url_to_fs

        storage, root = url_to_fs(url)
    except ImportError as error:
        raise ConfigurationError(
            f"{url} needs fsspec and its module for such URLs ({error}): "
            "pip install 'tfdarshan[remote]', and s3fs or gcsfs."
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            f"{url} is not a URL that fsspec knows: {str(error).rstrip('.')}."
        ) from error
    return storage, str(root).rstrip("/")


def _is_below(name: str, root: str) -> bool:
    """Return whether an object is below a folder: names of objects may be anything, and lead elsewhere."""
    path = PurePosixPath(name)
    return path.is_relative_to(root) and ".." not in path.parts


def _copy(storage: Any, copies: dict[str, Path]) -> None:
    for name, to in copies.items():
        to.parent.mkdir(parents=True, exist_ok=True)
        storage.get_file(name, os.fspath(to))
