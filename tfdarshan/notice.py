"""Say something to whoever runs the job, without ever disturbing it."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress

from tfdarshan.file_name import printable


def say(sentence: str) -> None:
    """Say it on stderr in one line; never raises: the job goes on."""
    with suppress(OSError, ValueError, AttributeError):  # closed, full, or none
        print(f"tfdarshan: {printable(sentence)}", file=sys.stderr, flush=True)


def warn(sentence: str, *, stacklevel: int = 4) -> None:
    """Say it on stderr, as a warning where those are shown; never raises: the job goes on."""
    sentence = printable(sentence)
    try:
        warnings.warn(f"tfdarshan: {sentence}", RuntimeWarning, stacklevel=stacklevel)
        shown = not _ignored(RuntimeWarning)
    except RuntimeWarning:
        shown = False
    if not shown:
        print(f"tfdarshan: {sentence}", file=sys.stderr)


def _ignored(category: type[Warning]) -> bool:
    general = (entry for entry in warnings.filters if entry[1] is None and entry[3] is None and entry[4] == 0)
    return next((entry[0] for entry in general if issubclass(category, entry[2])), "default") == "ignore"
