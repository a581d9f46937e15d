"""The arithmetic and the tables of `make bench`; what it measures is asserted nowhere."""

import pytest

from tests.perf.call_cost import beside_rows, contender_rows, floor_ratios, tail_rows
from tests.perf.contender import FLOOR, Loop
from tests.perf.row import added_row, quartiles, single_row
from tests.perf.table import page_tables, replace_measured, tables
from tests.perf.timing import Timing


def test_added_row_is_the_median_of_paired_differences():
    # GIVEN pairs of (without, with), one of them disturbed
    pairs = [
        (Timing(100, 90), Timing(130, 115)),
        (Timing(200, 91), Timing(231, 117)),
        (Timing(110, 92), Timing(990, 119)),
    ]

    # WHEN
    row = added_row("calls", "pread", pairs, subject="tfdarshan", wanted=40)

    # THEN
    assert (row.value, row.base, row.cpu, row.runs) == (31, 110, 26, 3)
    assert row.ratio == pytest.approx(1.3)


@pytest.mark.parametrize("version", ["", " 3.5.0"])
def test_the_darshan_engine_may_cost_what_both_cost_alone(version):
    # GIVEN what each contender adds to a call, in ns
    added = {
        "tfdarshan": 30,
        "tfdarshan, trace off": 90,
        "tfdarshan, darshan engine": 170,
        f"Darshan{version}": 150,
        f"Darshan{version} with DXT": 190,
    }
    measured = {name: [(Timing(100, 90), Timing(100 + ns, 90 + ns))] for name, ns in added.items()}

    # WHEN the rows are made
    rows = {row.subject: row for row in contender_rows(measured, Loop("pread", "pread", 10), 1, 40.0)}

    # THEN its bound is the sum of the two, and only tfdarshan itself has the given one
    assert rows["tfdarshan, darshan engine"].wanted == 180
    assert rows["tfdarshan"].wanted == 40
    assert rows["tfdarshan, trace off"].wanted is None


def test_ratios_are_to_the_recorder_that_uses_its_memory_again():
    # GIVEN what each adds to its callers' CPU time in two rounds, and a thread beside them
    added = {FLOOR: (20, 30), "floor, in new pages": (40, 40), "tfdarshan": (50, 25), "Darshan": (100, 100)}
    measured = {
        name: [(Timing(100, 90), Timing(100, 90 + ns, 7)) for ns in rounds] for name, rounds in added.items()
    }
    loop = Loop("pread", "pread", 10)

    # WHEN the rows are made
    ratios = {row.subject: row for row in floor_ratios(measured, loop, 2)}
    beside = {row.subject: row.value for row in beside_rows(measured, loop, 2)}

    # THEN
    assert ratios["tfdarshan"].name == "pread, 2 threads: tfdarshan"
    assert (ratios["tfdarshan"].value, ratios["tfdarshan"].wanted) == (1.5, 1.15)
    assert (ratios["Darshan"].value, ratios["Darshan"].wanted) == (4.0, None)
    assert beside == {"tfdarshan": 7, "Darshan": 7}
    assert floor_ratios({"tfdarshan": measured["tfdarshan"]}, loop, 2) == []


def test_calls_of_many_threads_may_wait_a_microsecond_beyond_the_floor():
    # GIVEN what 99.9 % of calls took at most
    tails = {FLOOR: 400, "tfdarshan, trace off": 900}
    measured = {name: [(Timing(1, 1), Timing(1, 1, 0, ns))] for name, ns in tails.items()}

    # WHEN the rows are made
    rows = {row.subject: row for row in tail_rows(measured, Loop("pread_each", "pread", 10), 64)}

    # THEN
    assert (rows[FLOOR].value, rows[FLOOR].wanted) == (400, None)
    assert (rows["tfdarshan, trace off"].value, rows["tfdarshan, trace off"].wanted) == (900, 1_400)


def test_without_darshan_the_engine_has_no_bound():
    # GIVEN no run of Darshan itself
    measured = {
        name: [(Timing(100, 90), Timing(130, 115))] for name in ("tfdarshan", "tfdarshan, darshan engine")
    }

    # WHEN the rows are made
    rows = contender_rows(measured, Loop("pread", "pread", 10), 1, 40.0)

    # THEN
    assert [row.wanted for row in rows] == [40, None]


def test_quartiles_of_one_run_are_that_run():
    assert quartiles([7.0]) == (7.0, 7.0)
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 4.0)


def test_tables_have_a_heading_for_each_group_and_one_line_for_each_row():
    # GIVEN
    rows = [
        added_row("calls", "pread", [(Timing(100, 90), Timing(130, 115))], subject="tfdarshan", wanted=40),
        single_row("attaching", "first attach", "ms", [9.0, 10.5, 12.0], note="236 objects"),
    ]

    # WHEN
    lines = tables(rows).splitlines()

    # THEN
    assert [line for line in lines if line.startswith("#")] == ["### Calls", "### Attaching"]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert cells[2] == ["pread", "tfdarshan", "100", "30", "", "1.30", "25", "1", "40"]
    assert cells[5] == ["first attach", "10.5", "9.75 to 11.2", "", "ms", "3", "", "236 objects"]


def test_a_page_has_what_each_subject_adds_side_by_side():
    # GIVEN two calls, of which one subject was measured with one
    pair = [(Timing(100, 90), Timing(130, 115))]
    rows = [
        added_row("calls", "pread", pair, subject="tfdarshan", wanted=40),
        added_row("calls", "pread", pair, subject="strace"),
        added_row("calls", "stat", pair, subject="tfdarshan"),
        single_row("attaching", "first attach", "ms", [9.0]),
    ]

    # WHEN
    lines = page_tables(rows).splitlines()

    # THEN
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert cells[0] == ["what", "tfdarshan", "strace"]
    assert cells[2:4] == [["pread", "30", "30"], ["stat", "30", ""]]
    assert cells[6][:2] == ["first attach", "9"]


def test_measured_part_of_a_page_is_replaced_and_the_rest_kept(tmp_path):
    # GIVEN
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- measured -->\nold\n<!-- end of measured -->\nafter\n")

    # WHEN
    replace_measured(page, r"new \1")

    # THEN
    assert page.read_text() == "before\n<!-- measured -->\nnew \\1\n<!-- end of measured -->\nafter\n"


def test_page_without_the_marks_is_refused(tmp_path):
    # GIVEN
    page = tmp_path / "page.md"
    page.write_text("nothing to fill")

    # THEN
    with pytest.raises(ValueError, match="has no part between"):
        replace_measured(page, "new")
