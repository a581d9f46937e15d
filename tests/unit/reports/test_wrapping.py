"""Lines never end between a number and its unit."""

from __future__ import annotations

import pytest

from tfdarshan.terminal.wrapping import TIED, wrap

TEXT = (
    "37.5 MB in 2,413 reads; 3.402 s, 18.3 % of the session; 11.0 MB/s meanwhile; at 9 ms each, 1 B, 3 us, "
    "12 ns; 4 stats of 2 sessions, 5 Bytes. Expected: 1.27x (1.22x to 1.30x)."
)


@pytest.mark.parametrize("width", range(16, 120))
def test_a_number_stays_beside_its_unit(width):
    lines = wrap(TEXT, width)

    assert " ".join(lines) == TEXT
    assert max(map(len, lines)) <= max(width, len("(1.22x to 1.30x)."))
    for line in lines[1:]:
        assert not line.startswith(("MB", "%", "s,", "ms", "B,", "us", "ns", "MB/s", "to ", "1.30x"))


def test_what_is_no_unit_is_not_tied():
    # WHEN the width ends a line after "4" and after "2"
    assert wrap("4 stats of 2 sessions", 5) == ["4", "stats", "of 2", "sessions"]


def test_lines_begin_as_they_are_told():
    assert wrap("one two three", 9, "* ", "  ") == ["* one two", "  three"]
    assert wrap("one two", 6, "  ") == ["  one", "  two"]


def test_no_tie_is_left():
    assert TIED not in "".join(wrap(TEXT, 30))
