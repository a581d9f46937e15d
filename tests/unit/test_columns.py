"""Columns of text."""

import pytest

from tfdarshan.terminal.columns import Columns, fitted


def test_cells_stand_at_the_side_of_their_column():
    # GIVEN
    columns = Columns("  ", -8, 10, "  of ", 0)

    # WHEN
    line = columns.row("reads", 1_234_567, "all")

    # THEN
    assert line == "  reads    1,234,567  of all"


def test_a_wide_cell_moves_what_follows_and_is_whole():
    assert Columns(-4, 4, "  ", 0).row("reading", 123_456, "x") == "reading 123,456  x"


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        ((12_345, 1_234_567, "x"), "12,345 1,234,567  x"),
        ((1, 123_456_789, "x"), "     1 123,456,789  x"),
        (("1.2", "100.0 %", "x"), "   1.2  100.0 %  x"),
        (("", 123_456_789, "x"), "      123,456,789  x"),
    ],
)
def test_cells_that_fill_their_columns_are_not_read_as_one_number(cells, line):
    assert Columns(6, 9, "  ", 0).row(*cells) == line


def test_cells_left_out_leave_no_blanks():
    assert Columns(-8, 10, "   ", 0).row("step") == "step"


def test_fitted_columns_are_as_wide_as_their_widest_cell():
    assert fitted([("what", "here"), ("longest", "1"), ("a", "")]) == ["what     here", "longest  1", "a"]


def test_no_cell_is_left_out_unseen():
    with pytest.raises(ValueError, match="3 cells for 2 columns"):
        Columns(-8, "  ", 0).row("reads", 3, "more")
