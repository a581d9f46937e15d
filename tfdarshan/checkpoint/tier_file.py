"""Reads the small JSON files that a tier keeps, and says what is wrong with one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tfdarshan.checkpoint.burst_errors import BurstBufferError

if TYPE_CHECKING:
    from tfdarshan.checkpoint.tier_shape import IdentityShape

Shape = TypeVar("Shape")


def read_tier_json(path: Path) -> Any:
    """Return a file's JSON; None where there is no file or only a part of it, as after a crash.

    Raises:
        BurstBufferError: It has text that is none.
        OSError: It cannot be read.
    """
    from tfdarshan.sessions.checked_json import DecodingError, NotJsonError, decode_json

    try:
        return decode_json(path.read_bytes())
    except (FileNotFoundError, NotJsonError):
        return None
    except DecodingError as error:
        raise damaged(path, str(error)) from error


def shaped(path: Path, data: Any, shape: type[Shape]) -> Shape:
    """Return a file's data as `shape`.

    Raises:
        BurstBufferError: It is not.
    """
    from tfdarshan.sessions.checked_json import DecodingError, check

    try:
        return check(data, shape)
    except DecodingError as error:
        raise damaged(path, str(error)) from error


def read_identity(path: Path) -> IdentityShape:
    """Return a tier's identity, with the id "" where it has none.

    Raises:
        BurstBufferError: The file is damaged.
        OSError: It cannot be read.
    """
    from tfdarshan.checkpoint.tier_shape import IdentityShape

    data = read_tier_json(path)
    return IdentityShape("") if data is None else shaped(path, data, IdentityShape)


def is_plain(name: str) -> bool:
    """Return whether a name is that of something in the folder where it is looked for."""
    return bool(name) and not {"/", "\0"} & set(name) and name not in (".", "..")


def damaged(path: Path, what: str) -> BurstBufferError:
    """Return the error for a file that is not what a burst buffer writes."""
    return BurstBufferError(f"{path} is damaged: {what}; move it away to go on without it.")
