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
    assert Columns(-4, 4, "  ", 0).row("reading", 123_456, "x") == "reading123,456  x"


def test_cells_left_out_leave_no_blanks():
    assert Columns(-8, 10, "   ", 0).row("step") == "step"


def test_fitted_columns_are_as_wide_as_their_widest_cell():
    assert fitted([("what", "here"), ("longest", "1"), ("a", "")]) == ["what     here", "longest  1", "a"]


def test_no_cell_is_left_out_unseen():
    with pytest.raises(ValueError, match="3 cells for 2 columns"):
        Columns(-8, "  ", 0).row("reads", 3, "more")
