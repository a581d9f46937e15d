"""The programs that a job started, as processes note them, and which of these were not recorded.

A program that joins the session after its note is recorded. Of the others the kernel's figures of the job
hold what those moved that were waited for.

Source: csrc/job/started_program.h.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

STARTED, UNCOUNTED, SHELL, SETTLED, CHILDREN_LEFT = "nN", "iI", "H", "x", "o"
LETTERS = STARTED + UNCOUNTED + SHELL + SETTLED + CHILDREN_LEFT
FIELDS = 5


@dataclass(frozen=True)
class Note:
    """A line of the list.

    Attributes:
        letter: What is noted.
        pid: The process that it is about, 0 if unknown.
        parent_pid: Who started that.
        at_ns: When, ns since the epoch.
        path: The program; "" where none was started.
        size_bytes: Bytes of the line.
    """

    letter: str
    pid: int
    parent_pid: int
    at_ns: int
    path: str
    size_bytes: int = 0

    @property
    def by_parent(self) -> bool:
        """Whether the parent wrote it, in which its bytes count as the recorder's own."""
        return self.letter.isupper()


def parse_notes(lines: Iterable[str]) -> list[Note]:
    """Return the notes among the lines of a session's list of programs."""
    found = []
    for line in lines:
        fields = line.split(" ", FIELDS - 1)
        if len(fields) == FIELDS and fields[0] in tuple(LETTERS):
            letter, pid, parent_pid, at_ns, path = fields
            size = len(line.encode("utf-8", "surrogateescape")) + 1
            found.append(Note(letter, int(pid), int(parent_pid), int(at_ns), path, size))
    return found


def not_recorded(notes: Sequence[Note], joined: Iterable[tuple[int, int]]) -> list[Note]:
    """Return the notes of programs that were started and never joined.

    Args:
        notes: All of the session's.
        joined: Number and time in ns of each process that joined as a program.
    """
    started: defaultdict[int, list[Note]] = defaultdict(list)
    for note in sorted(notes, key=lambda note: note.at_ns):
        if note.letter in STARTED + UNCOUNTED + SHELL:
            started[note.pid].append(note)
    settled = [*joined, *((note.pid, note.at_ns) for note in notes if note.letter == SETTLED)]
    for pid, at_ns in sorted(settled, key=lambda end: end[1]):
        before = [note for note in started[pid] if note.at_ns <= at_ns]
        if before:
            started[pid].remove(before[-1])
    return [note for of_process in started.values() for note in of_process]


def not_waited_for(programs: Iterable[Note], notes: Sequence[Note], recorded: Collection[int]) -> list[Note]:
    """Return those of some programs that nobody may have waited for: their bytes are in no figure of the job.

    They still run, the kernel cleared them away, or their parent ended first.

    Args:
        programs: Those that were not recorded.
        notes: All of the session's.
        recorded: The numbers of the session's processes.
    """
    left = {note.pid for note in notes if note.letter == CHILDREN_LEFT}

    def may_be(note: Note) -> bool:
        adopted = note.parent_pid not in recorded and _exists(note.parent_pid)
        return note.letter in UNCOUNTED or note.parent_pid in left or adopted or _exists(note.pid)

    return [note for note in programs if note.letter != SHELL and may_be(note)]


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
