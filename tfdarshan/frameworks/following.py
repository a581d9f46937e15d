"""Follows every framework while a session records, and in started processes those that they may train in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tfdarshan.errors import reason
from tfdarshan.frameworks import batch_log
from tfdarshan.frameworks.adapter import Adapter
from tfdarshan.frameworks.all_frameworks import adapters
from tfdarshan.notice import warn

# In the spool folder, for processes that join at their start: what the session's clock is ahead of
# CLOCK_MONOTONIC in ns, and the modules whose import has them followed. csrc/joining/interpreter.c reads it.
FOLLOWED = "followed"


def offer(folder: Path, ahead_ns: int) -> None:
    """Have processes that join at their start followed, once they import a framework that they may train in.

    Args:
        folder: Where processes note.
        ahead_ns: What the session's clock is ahead of CLOCK_MONOTONIC.
    """
    modules = " ".join(one.trains_in for one in adapters() if one.trains_in)
    (folder / FOLLOWED).write_text(f"{ahead_ns} {modules}\n", encoding="ascii")


def begin(folder: Path, at_start: Callable[[], object]) -> None:
    """Follow all of them; of one that cannot be followed a warning says so, and the job goes on.

    Args:
        folder: Where processes note.
        at_start: Is called as the first step or pass of this process begins.
    """
    if batch_log.current() is not None:  # this process had joined another one's session
        end()
    batch_log.begin(folder, at_start)
    _begin(adapters())


def join(folder: str, ahead_ns: int) -> None:
    """Follow, in a process that joined the session at its start, the frameworks that it may train in.

    Args:
        folder: Where processes note.
        ahead_ns: What the session's clock is ahead of CLOCK_MONOTONIC.
    """
    batch_log.begin(Path(folder), batch_log.note_rank, ahead_ns)
    _begin([one for one in adapters() if one.trains_in])


def _begin(followed: Sequence[Adapter]) -> None:
    for adapter in followed:
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
