"""Tables that fit a terminal: nothing is wider, nothing is lost without a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tfdarshan.reports.text.command_text import as_typed
from tfdarshan.terminal.columns import Columns
from tfdarshan.terminal.layout import Layout, begun, fact_lines

SHAPE = Columns("  ", -20, 15, 15, "   ", 0)
ROWS = [("file", "read", "written", "path"), ("a", "1.0 MB", "22 B", "/data/train/0001.jpg")]


def test_a_wide_terminal_has_the_table_as_given():
    assert Layout(SHAPE, ROWS, 100).all_lines(ROWS) == [
        "  file                           read        written   path",
        "  a                            1.0 MB           22 B   /data/train/0001.jpg",
    ]


def test_columns_are_as_wide_as_their_cells_where_that_is_enough():
    assert Layout(SHAPE, ROWS, 50).all_lines(ROWS) == [
        "  file    read  written  path",
        "  a     1.0 MB     22 B  /data/train/0001.jpg",
    ]


def test_what_ends_a_row_stands_below_it_where_there_is_no_room():
    assert Layout(SHAPE, ROWS, 30).all_lines(ROWS) == [
        "  file    read  written",
        "    path",
        "  a     1.0 MB     22 B",
        "    /data/train/0001.jpg",
    ]


def test_what_ends_a_row_is_folded_where_some_words_have_room():
    long = [*ROWS, ("b", "3 B", "0 B", "a sentence of several words that goes on and on")]
    assert Layout(SHAPE, long, 60).lines(long[-1]) == [
        "  b        3 B      0 B  a sentence of several words that",
        "                         goes on and on",
    ]


def test_an_end_that_must_not_stand_below_stays_and_another_column_goes():
    layout = Layout(SHAPE, ROWS, 40, least=(2, 1), below=False)

    assert layout.all_lines(ROWS) == ["  file    read  path", "  a     1.0 MB  /data/train/0001.jpg"]
    assert layout.left_out == ["written"]


def test_columns_that_say_least_go_and_are_named():
    layout = Layout(SHAPE, ROWS, 18, least=(2, 1))

    assert layout.all_lines(ROWS)[::2] == ["  file    read", "  a     1.0 MB"]
    assert layout.note() == "Not shown in 18 columns: written (--json has them)."
    assert Layout(SHAPE, ROWS, 50, least=(2, 1)).note() == ""


def test_a_last_cell_is_cut_where_most_of_it_has_room():
    long = [*ROWS, ("b", "3 B", "0 B", "a sentence of several words that goes on and on")]
    assert Layout(SHAPE, long, 60, cut=begun).lines(long[-1]) == [
        "  b        3 B      0 B  a sentence of several words that..."
    ]


@given(
    some.lists(
        some.tuples(*[some.text("abc", max_size=12)] * 3, some.text("abc ", max_size=60)),
        min_size=1,
        max_size=5,
    ),
    some.integers(50, 120),
)
def test_no_line_is_wider_and_no_word_is_lost(rows, width):
    table = [("name", "one", "two", "said"), *rows]
    layout = Layout(SHAPE, table, width, least=(2, 1))
    lines = layout.all_lines(table)

    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)
    assert layout.left_out == []
    assert " ".join(lines).split() == " ".join(cell for row in table for cell in row).split()


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (80, ["  readers    2.0; 1.7 calls at a time", "  re-reads   none"]),
        (50, ["  readers: 2.0; 1.7 calls at a time", "  re-reads: none"]),
    ],
)
def test_facts_have_a_column_of_names_where_there_is_room(width, lines):
    facts = [("readers", "2.0; 1.7 calls at a time"), ("re-reads", "none")]
    assert fact_lines(facts, width, 11, "  ") == lines


@pytest.mark.parametrize(
    ("recorded", "typed"),
    [
        ("/opt/venv/bin/python /opt/venv/bin/tfdarshan run train.py -e 3", "tfdarshan run train.py -e 3"),
        ("/usr/bin/python3.11 train.py", "python3.11 train.py"),
        ("python -m train", "python -m train"),
        ("/home/me/simulate --fast", "/home/me/simulate --fast"),
        ("/opt/bin/python", "python"),
        ("/opt/bin/pythonic x", "/opt/bin/pythonic x"),
        ("", ""),
    ],
)
def test_a_command_is_shown_as_typed(recorded, typed):
    assert as_typed(recorded) == typed
