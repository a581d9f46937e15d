"""Which of the programs that a job started were not recorded, by its notes."""

import os

from tfdarshan.recording.writing.program_notes import Note, not_recorded, not_waited_for, parse_notes

GONE = 1 << 22  # no process has so high a number


def note(letter, pid, at_ns, path="/bin/a", parent_pid=GONE + 9):
    return Note(letter, pid, parent_pid, at_ns, path)


def names(notes):
    return [note.path for note in notes]


def test_lines_that_are_no_notes_are_left_out():
    lines = ["processes that are not recorded", "s /bin/static", "n 5 4 3 /a b/c", "n 5 4", "x 5 4 6 ", ""]

    assert parse_notes(lines) == [Note("n", 5, 4, 3, "/a b/c", 15), Note("x", 5, 4, 6, "", 9)]


def test_a_note_settles_with_what_joins_after_it():
    # GIVEN programs of one number, which is used again
    notes = [note("n", 5, at, f"/{at}") for at in (10, 20, 30, 40)]

    # THEN each that joins is the last that was noted before it
    assert names(not_recorded(notes, [(5, 11), (5, 35)])) == ["/20", "/40"]
    assert names(not_recorded(notes, [(5, 9), (6, 50)])) == ["/10", "/20", "/30", "/40"]


def test_what_could_not_be_started_is_taken_back():
    notes = [note("n", 5, 10), note("x", 5, 11, ""), note("H", 0, 12, "/bin/sh")]

    assert names(not_recorded(notes, [])) == ["/bin/sh"]


def test_who_was_not_waited_for():
    alive, here = os.getppid(), os.getpid()
    notes = [
        note("n", GONE + 1, 1, "waited for", here),
        note("i", GONE + 2, 1, "ignored", here),
        note("N", alive, 1, "runs", here),
        note("n", GONE + 3, 1, "left", GONE + 8),
        note("n", GONE + 4, 1, "adopted", alive),
        note("n", GONE + 5, 1, "waited for by a parent that ended", GONE + 7),
        note("H", 0, 1, "a shell", here),
    ]
    ends = [note("o", GONE + 8, 2, "")]

    found = not_waited_for(notes, ends, {here})

    assert names(found) == ["ignored", "runs", "left", "adopted"]
