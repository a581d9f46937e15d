"""Rows of SQLite that are read one by one: what each query asks goes with the query."""

import pytest

from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.session import Session

PAGE, PAGES, ROWS = 4096, 25_000, 8
STEPS, STEP_MS = 50, 60.0


def job(logdir, *, asked_ms: float, journal="/data/a.db-journal", meta=None) -> Session:
    """Return a loop whose steps ask for rows in any order, and for a journal with each.

    Args:
        logdir: Where.
        asked_ms: How long it takes to be told that there is no journal.
        journal: What it is called.
        meta: Entries of the metadata.
    """
    calls: list[tuple] = []
    for row in range(STEPS * ROWS):
        at = row // ROWS * STEP_MS + row % ROWS * 5.0
        if asked_ms:
            calls.append((at, at + asked_ms, LOOP, "stat", 1, 0))
        place = row * 7919 % PAGES * PAGE
        calls.append((at + asked_ms, at + asked_ms + 2, LOOP, "pread", 0, PAGE, place))
    steps = epochs_of_steps(STEPS, STEP_MS, ROWS * 5.0)
    return training(logdir, calls, steps, paths=["/data/a.db", journal], sizes=[PAGES * PAGE, -1], meta=meta)


def in_order(session: Session):
    return next(one for one in diagnose(session).findings if one.name == "random_access")


# A row of 25 pages.
ROW_PAGES = 25


def rows_of_pages(
    logdir, *, first_ms: float, page_ms: float = 0.01, row_pages=ROW_PAGES, kept=400
) -> Session:
    """Return steps that each read a row page after page.

    Args:
        logdir: Where.
        first_ms: What the first page of a row takes.
        page_ms: What each other one takes.
        row_pages: How many a row has.
        kept: How many rows the file has; of fewer than it has steps each is read several times.
    """
    calls: list[tuple] = []
    for row in range(400):
        at, first = row * 10.0, row * 7 % kept * row_pages
        for page in range(row_pages):
            took = page_ms if page else first_ms
            calls.append((at, at + took, LOOP, "pread", 0, PAGE, (first + page) * PAGE))
            at += took
    size = kept * row_pages * PAGE
    return training(logdir, calls, epochs_of_steps(400, 10.0, 6.0), paths=["/data/a.db"], sizes=[size])


def names(session: Session) -> set[str]:
    return {one.name for one in diagnose(session).findings}


def test_rows_of_many_pages_are_out_of_order_where_their_first_pages_wait(tmp_path):
    # GIVEN rows of 25 pages in any order: the first one waits 5 ms, and the others were read ahead
    found = in_order(rows_of_pages(tmp_path, first_ms=5.0))

    # THEN reading in order spares all that they wait but 0.26 ms at 400 MB/s, and what is counted are rows
    assert found.what == (
        "400 parts of 102.4 kB are out of order in 1 file and take 5.2 ms each, which is 19.5 MB/s."
    )
    shown = {row.label: row.value for row in found.evidence}
    assert shown["parts out of order"] == 400
    assert shown["reads of them"] == 400 * ROW_PAGES


@pytest.mark.parametrize(
    "rows",
    [
        # Each page waits: what costs is not that rows lie apart.
        {"first_ms": 0.2, "page_ms": 0.2},
        # Rows of 1 MB are streams of their own: more is read than what is read ahead at a time.
        {"first_ms": 5.0, "row_pages": 256, "page_ms": 0.001},
        # A file of two rows is begun again and again.
        {"first_ms": 5.0, "kept": 2},
    ],
)
def test_rows_of_many_pages_are_in_order_where_jumps_cost_little(tmp_path, rows):
    assert "random_access" not in names(rows_of_pages(tmp_path, **rows))
