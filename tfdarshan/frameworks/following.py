"""Follows every framework while a session records."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tfdarshan.errors import reason
from tfdarshan.frameworks import batch_log
from tfdarshan.frameworks.all_frameworks import adapters
from tfdarshan.notice import warn


def begin(folder: Path, at_start: Callable[[], object]) -> None:
    """Follow all of them; of one that cannot be followed a warning says so, and the job goes on.

    Args:
        folder: Where processes note.
        at_start: Is called as the first step or pass of this process begins.
    """
    batch_log.begin(folder, at_start)
    for adapter in adapters():
        try:
            adapter.begin()
        except Exception as error:
            warn(f"steps of {adapter.name} are not followed: {reason(error)}.")


def end() -> dict[str, Any]:
    """Stop that, and return entries for the metadata of the session's owner."""
    entries: dict[str, Any] = {}
    for adapter in adapters():
        with suppress(Exception):
            entries |= adapter.end()
    batch_log.end()
    return entries
