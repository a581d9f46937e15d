"""Which programs without Python a job started, and which processes of it could not be recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tfdarshan.recording.spool import UNSEEN, UNSEEN_HEAD
from tfdarshan.units import plural

# By the letter that csrc/spool/unseen_program.h gives each.
REASONS = {
    "s": "statically linked",
    "l": "of another C library or machine",
    "a": "built with a sanitizer",
    "p": "run with other privileges",
    "u": "not readable",
    "g": "started where tfdarshan's library cannot be reached",
    "r": "started by a relative path, with actions that may change the folder",
    "e": "started with too long an environment or command",
    "m": "run with limited memory",
    "j": "could not begin its recording",
}
MOST_NAMED = 4


class StartedPrograms:
    """Gathers what became of the programs of one session.

    Attributes:
        noted_bytes: What the session's processes wrote into that list: the kernel counts it as the job's.

    Args:
        spool_directory: Where the list of the processes is that could not be recorded.
    """

    def __init__(self, spool_directory: Path) -> None:
        self._recorded: Counter[str] = Counter()
        self._unseen = read_unseen(spool_directory / UNSEEN)
        self.noted_bytes = _noted_bytes(spool_directory / UNSEEN)
        self._other_user = 0

    def add(self, command: str) -> None:
        """Counts one that was recorded, by its command line."""
        self._recorded[Path(command.split(" ", 1)[0]).name] += 1

    def add_other_user(self, starts: int) -> None:
        """Counts those that a process started as another user, who may not write to the session's spools."""
        self._other_user += starts

    def block(self) -> dict[str, Any]:
        """Gives how many there were of each, as the owner's metadata has it."""
        unseen = [
            {"program": program, "why": why, "starts": starts}
            for (program, why), starts in sorted(self._unseen.items())
        ]
        return {"recorded": dict(sorted(self._recorded.items())), "unseen": unseen}

    def sentences(self) -> list[str]:
        """Says of those that could not be recorded which they are, or how many."""
        said = []
        if self._unseen:
            total = plural(sum(self._unseen.values()), "process", "processes")
            said.append(f"{total} that the job started could not be recorded: {_named(self._unseen.items())}")
        if self._other_user:
            total = plural(self._other_user, "program")
            said.append(f"{total} that the job started as another user could not be recorded")
        return said


def read_unseen(path: Path) -> Counter[tuple[str, str]]:
    """Gives how many processes could not be recorded, by the path of their program and the reason.

    Args:
        path: The list; one that is not there is empty, and lines that say nothing are left out.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError:
        return Counter()
    return Counter((line[2:], REASONS[line[0]]) for line in lines if line[1:2] == " " and line[0] in REASONS)


def _noted_bytes(path: Path) -> int:
    try:
        return max(path.stat().st_size - len(UNSEEN_HEAD), 0)
    except OSError:
        return 0


def _named(counted: Iterable[tuple[tuple[str, str], int]]) -> str:
    ranked = sorted(counted, key=lambda entry: (-entry[1], entry[0]))
    words = [
        f"{program} ({why}{f', {starts:,} times' if starts > 1 else ''})"
        for (program, why), starts in ranked[:MOST_NAMED]
    ]
    more = len(ranked) - MOST_NAMED
    return ", ".join([*words, *([f"{more} more"] if more > 0 else [])])
