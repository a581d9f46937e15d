"""Which programs a job started: those that were recorded, those that were not or could not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tfdarshan.native.process_identity import ProcessIdentity
from tfdarshan.recording.spool import UNSEEN, UNSEEN_HEAD
from tfdarshan.recording.writing.program_notes import SHELL, Note, not_recorded, not_waited_for, parse_notes
from tfdarshan.units import plural

# By the letter that csrc/job/unseen_program.h gives each.
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
# A list of more bytes may have had no room for another line: csrc/job/program_list.c.
FULL_BYTES = (256 << 10) - 600


class StartedPrograms:
    """Gathers what became of the programs of one session.

    Args:
        spool_directory: Where the list of programs is.
        owner: The number of the session's owner.
    """

    def __init__(self, spool_directory: Path, owner: int = 0) -> None:
        lines = _lines(spool_directory / UNSEEN)
        self._recorded: Counter[str] = Counter()
        self._unseen = _unseen(lines)
        self._notes = parse_notes(lines)
        self._noted_bytes = _noted_bytes(spool_directory / UNSEEN)
        self._began_ns: dict[int, int] = {owner: 0}
        self._joined: list[tuple[int, int]] = []
        self._other_user = 0

    def saw(self, identity: ProcessIdentity) -> None:
        """Take a process that has a spool, whether or not it recorded anything."""
        begun_ns = identity.start_realtime_ns
        self._began_ns[identity.pid] = min(self._began_ns.get(identity.pid, begun_ns), begun_ns)
        if identity.joined:
            self._joined.append((identity.pid, begun_ns))

    @property
    def not_recorded(self) -> list[Note]:
        """Those that were started and have no spool."""
        return not_recorded(self._notes, self._joined)

    @property
    def not_waited_for(self) -> list[Note]:
        """Those of them that the kernel's figures of the job may lack."""
        return not_waited_for(self.not_recorded, self._notes, self._began_ns)

    @property
    def noted_bytes(self) -> int:
        """Bytes that processes wrote into that list and the kernel counts as the recorded job's."""
        apart = set(self.not_waited_for)
        others = (note for note in self._notes if note in apart or note.by_parent or self._is_earlier(note))
        return self._noted_bytes - sum(note.size_bytes for note in others)

    def _is_earlier(self, note: Note) -> bool:
        """Return whether a process noted it before it was recorded, when the kernel's figures are known."""
        return note.at_ns < self._began_ns.get(note.pid, 0)

    def add(self, command: str) -> None:
        """Count one that was recorded, by its command line."""
        self._recorded[Path(command.split(" ", 1)[0]).name] += 1

    def add_other_user(self, starts: int) -> None:
        """Count those that a process started as another user, who may not write to the session's spools."""
        self._other_user += starts

    def block(self) -> dict[str, Any]:
        """Return how many there were of each, as the owner's metadata has it."""
        unseen = [
            {"program": program, "why": why, "starts": starts}
            for (program, why), starts in sorted(self._unseen.items())
        ]
        left = {"not_waited_for": len(self.not_waited_for)}
        return {"recorded": dict(sorted(self._recorded.items())), "unseen": unseen, **left}

    def block_of_others(self) -> dict[str, Any]:
        """Return the same of those that were not recorded; empty if there are none."""
        others = Counter(map(_name, self.not_recorded))
        if not others:
            return {}
        return {
            "not_recorded": dict(sorted(others.items())),
            "not_waited_for": len(self.not_waited_for),
            "list_full": self._noted_bytes > FULL_BYTES,
        }

    def sentences(self) -> list[str]:
        """Describe those that could not be recorded, or how many they are."""
        said = []
        if self._unseen:
            total = plural(sum(self._unseen.values()), "process", "processes")
            said.append(f"{total} that the job started could not be recorded: {_named(self._unseen.items())}")
        if self._other_user:
            total = plural(self._other_user, "program")
            said.append(f"{total} that the job started as another user could not be recorded")
        return said


def _lines(path: Path) -> list[str]:
    """Return the lines of a list of programs; one that is not there is empty."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError:
        return []


def _unseen(lines: Iterable[str]) -> Counter[tuple[str, str]]:
    """Return how many processes could not be recorded, by the path of their program and the reason."""
    return Counter((line[2:], REASONS[line[0]]) for line in lines if line[1:2] == " " and line[0] in REASONS)


def _name(note: Note) -> str:
    """Return what a program is called: the name of its file."""
    name = Path(note.path).name or note.path
    return f"{name} of system() or popen()" if note.letter == SHELL else name


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
