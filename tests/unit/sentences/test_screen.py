"""`summary` answers on one screen, whatever the session: the verdict, and the fix's own lines."""

from __future__ import annotations

import pytest

from tests.terminal import rows_taken
from tests.unit.sentences.sessions import SESSIONS
from tfdarshan.reports.text.brief_text import SCREEN, brief_text
from tfdarshan.terminal.paint import Paint

WIDTHS = (50, 80, 100, 120)


def test_a_screen_is_what_people_have():
    assert SCREEN == 25


@pytest.mark.parametrize("name", SESSIONS)
def test_the_answer_is_on_the_first_screen(name, shown):
    # GIVEN
    measures, diagnosis = shown.measures(name), shown.diagnosis(name)
    fix = None if diagnosis.named is None else diagnosis.named.fix

    for width in WIDTHS:
        # WHEN
        lines = brief_text(measures.summary, diagnosis, Paint(width=width)).splitlines()

        # THEN all of it is a screen
        if width >= 80:
            assert rows_taken(lines, width) <= SCREEN, "\n".join(lines)
        # ... and on a narrower terminal the answer is the first one
        seen: list[str] = []
        while lines and rows_taken([*seen, lines[0]], width) <= SCREEN:
            seen.append(lines.pop(0))
        assert " ".join(" ".join(seen).split()).startswith(diagnosis.verdict.sentence)
        said = {line.strip().removeprefix("+ ").removeprefix("- ") for line in seen}
        if fix is not None:
            assert {line.strip() for line in f"{fix.line}\n{fix.instead_of}".splitlines() if line} <= said


@pytest.mark.parametrize("name", SESSIONS)
def test_no_number_is_left_out_to_keep_a_screen(name, shown):
    # GIVEN
    measures, diagnosis = shown.measures(name), shown.diagnosis(name)
    posix, stdio = measures.summary.posix, measures.summary.stdio
    counts = {
        f" {posix.reads + stdio.reads:,} read": posix.reads + stdio.reads,
        f" {posix.writes + stdio.writes:,} write": posix.writes + stdio.writes,
        f" {posix.opens + stdio.opens:,} open": True,
        f" {measures.summary.files:,} file": True,
        " Job python": measures.summary.command.startswith("python"),
        " Seen ": not measures.summary.not_known,
        " tfdarshan summary -v ": True,
    }

    for width in WIDTHS:
        # WHEN
        text = " ".join(brief_text(measures.summary, diagnosis, Paint(width=width)).split())

        # THEN
        assert [words for words, there in counts.items() if there and words not in text] == []
