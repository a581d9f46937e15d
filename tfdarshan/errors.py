"""The project's own errors: one base class, few children."""

from __future__ import annotations

import os
from collections.abc import Sequence

# Share of letters in common, from which on a name is a misspelled one.
NEARLY = 0.75


class TfdarshanError(Exception):
    """Base of every error tfdarshan raises on purpose."""


class ConfigurationError(TfdarshanError, ValueError):
    """An option, argument or path that cannot be used as given."""


class UnsupportedPlatformError(TfdarshanError):
    """This machine, C library or installation cannot run the hook layer."""


class EngineError(TfdarshanError):
    """The engine asked for cannot count here: no libdarshan, or one that cannot be used."""


class SessionActiveError(TfdarshanError):
    """A session is already recording in this process, or this one still is."""


class SessionDataError(TfdarshanError):
    """Session data that is missing, damaged, incomplete or of a newer schema."""


class DataFileError(TfdarshanError):
    """A training data file that is damaged, of another format, or changed while it was read."""


class StorageError(TfdarshanError, OSError):
    """A directory or file that could not be created, written or read."""


# Errors of taking values out of decoded JSON of any content: nested too deeply, of another type, missing,
# or too large.
NOT_AS_WRITTEN = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)


def meant(name: str, names: Sequence[str], otherwise: str) -> str:
    """Return "did you mean NAME?" for a name that is nearly one of `names`, else another hint."""
    import difflib

    near = difflib.get_close_matches(name, names, 1, cutoff=NEARLY)
    return f"did you mean {near[0]}?" if near else otherwise


def reason(error: BaseException) -> str:
    """Return why `error` happened in a few words: strerror where there is one."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.strerror or os.strerror(error.errno)
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
