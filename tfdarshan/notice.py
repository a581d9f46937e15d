"""Say something to whoever runs the job, without ever disturbing it."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress

from tfdarshan.file_name import printable


def say(sentence: str) -> None:
    """Say it on stderr in one line; never raises: the job goes on."""
    with suppress(OSError, ValueError, AttributeError):  # full, closed, or none
        sys.stderr.write(f"tfdarshan: {printable(sentence)}\n")
        sys.stderr.flush()


def warn(sentence: str, *, stacklevel: int = 4) -> None:
    """Say it on stderr, as a warning where those are shown; never raises: the job goes on."""
    shown = False
    with suppress(RuntimeWarning, ValueError):  # made an error by the job; stderr is closed
        warnings.warn(f"tfdarshan: {printable(sentence)}", RuntimeWarning, stacklevel=stacklevel)
        shown = not _ignored(RuntimeWarning)
    if not shown:
        say(sentence)


def _ignored(category: type[Warning]) -> bool:
    general = (entry for entry in warnings.filters if entry[1] is None and entry[3] is None and entry[4] == 0)
    return next((entry[0] for entry in general if issubclass(category, entry[2])), "default") == "ignore"
