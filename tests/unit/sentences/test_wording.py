"""What every command says of every made-up session: no wrong number, no figure that says nothing."""

import re

import pytest

from tests.unit.sentences.sessions import EDGES, SESSIONS
from tests.unit.sentences.shown_sessions import COMMANDS

COUNTED = (
    r"stat\(\) call|call|checkpoint|epoch|file|open|pause|process|read|session|shard|stat|step|sync|"
    "thread|write"
)
WRONG = {
    "a plural of one": rf"(?<![\d.,])1 (?:{COUNTED}|process)e?s\b",
    "a singular of several": rf"(?<![\d.,])(?:[2-9]|\d\d+) (?:{COUNTED})\b(?!\(| (?:runs|at a "
    "time|call|tier))",
    "one of which there are several": r"(?<![\d.,])1 (?:files|reads|writes) (?:are|take|return)\b",
    "no bytes of anything": r"mapped(?: files)?:? 0 B|(?<!\d)0 B in all",
    "less than one a step": r"\bmakes 0 \w+",
    "a number that is none": r"\b(?:nan|None|infx?)\b|-0(?:\.0)? ",
    "a whole that is more": r"\b(?:1\d[1-9]|1[1-9]\d|[2-9]\d\d)\.\d % of (?:step|the session|the bytes|that)",
    "a fit on nothing": r"fitted on 0 files|R2 0\.00",
    "a part of a count": r"\b\d+\.0 times each|\breads? of 0 B",
    "two rests": r"none of .* the rest",
}


def _prose(text: str) -> str:
    """Join the lines of sentences; rows of tables are apart, and so are their cells."""
    rows = [re.sub(r" {2,}", " | ", line.strip()) for line in text.splitlines()]
    return " ".join(f"| {row} |" if "|" in row else row for row in rows)


@pytest.mark.parametrize("defect", WRONG)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 files", "a plural of one"),
        ("3 file", "a singular of several"),
        ("through mapped files: 0 B", "no bytes of anything"),
        ("the job makes 0 stat() calls a step", "less than one a step"),
        ("gain nan", "a number that is none"),
        ("up to infx", "a number that is none"),
        ("120.1 % of step time", "a whole that is more"),
        ("fitted on 0 files", "a fit on nothing"),
        ("files are opened 100.0 times each", "a part of a count"),
        ("none of the passes over files: the page cache serves the rest", "two rests"),
        ("21 files, 1 file, 0.1 times, 100.0 % of the session", ""),
    ],
)
def test_what_is_wrong_is_found(defect, text, expected):
    assert bool(re.search(WRONG[defect], text)) == (defect == expected)


@pytest.mark.parametrize("name", SESSIONS)
def test_no_command_says_something_wrong(name, shown):
    # GIVEN what each command prints of a session, its lines joined
    texts = {command: _prose(shown.printed(name, command)) for command in COMMANDS}

    # THEN
    found = [
        (command, defect, match[0])
        for command, text in texts.items()
        for defect, pattern in WRONG.items()
        if (match := re.search(pattern, text))
    ]
    assert found == []
    assert all(texts.values())


@pytest.mark.parametrize("name", EDGES)
def test_a_session_at_the_edge_has_an_answer(name, shown):
    # THEN its first sentence is one
    first = re.split(r"\n(?:\n|  )", shown.printed(name, "summary"))[0]
    assert re.match(r"[A-Z0-9>].*\.$", " ".join(first.split())), first
