"""What a pass over a database takes, beside files of a size that it has, too."""

from typing import Any

import numpy as np
import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings import small_files
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.candidate import databases, find_candidates
from tfdarshan.staging.staged_input import staged_input
from tfdarshan.units import human_bytes

KB, FILES, PAGES, PAGE_MS, FILE_MS = 1_000, 48, 300, 10.0, 30.0


def job(logdir, *, journals=("/data/samples.sqlite-journal",), file_ms=FILE_MS):
    """Return 300 pages of a database, 10 ms each, and then 48 files of 8 kB, 30 ms each."""
    calls: list[tuple[Any, ...]] = [(0.0, 0.01, 1, "open", 0, 0)]
    for page in range(PAGES):
        calls.append((PAGE_MS * page + 0.01, PAGE_MS * (page + 1), 1, "pread", 0, 4 * KB, 4 * KB * page))
    at = PAGE_MS * PAGES
    for file in range(FILES):
        calls += [
            (at, at + 0.2, 1, "open", 1 + file, 0),
            (at + 0.2, at + file_ms, 1, "read", 1 + file, 8 * KB),
        ]
        at += file_ms
    calls += [(at, at + 0.01, 1, "stat", 1 + FILES + place, 0) for place in range(len(journals))]
    paths = ["/data/samples.sqlite", *(f"/data/validation/{file}.bin" for file in range(FILES)), *journals]
    return training(
        logdir, calls, epochs_of_steps(int(at // 40), 40, 39), paths=paths,
        sizes=[4 * KB * PAGES, *[8 * KB] * FILES, *[-1] * len(journals)],
    )  # fmt: skip


def staged(session, *, by_hand=True):
    measures = measure(session)
    use, facts = measures.use_and_facts
    return staged_input(use, facts, measures.job, LOCAL_SSD, find_candidates(use, by_hand=by_hand))


def test_a_database_takes_what_its_pages_do_and_files_what_files_do(tmp_path):
    # GIVEN
    whole = staged(job(tmp_path))
    by_page = databases(whole.use.paths)[whole.found.rows]

    # THEN neither is taken for the other, and either alone gives what it takes
    assert whole.slow_s[by_page].tolist() == pytest.approx([PAGE_MS * PAGES / 1e3], rel=0.1)
    assert whole.slow_s[~by_page].tolist() == pytest.approx([FILE_MS / 1e3] * FILES, rel=0.1)
    for rows, taken_s in ((by_page, PAGE_MS * PAGES / 1e3), (~by_page, FILES * FILE_MS / 1e3)):
        alone = whole.expected(np.flatnonzero(rows))
        assert alone.saved_s == pytest.approx(taken_s, rel=0.1)
        assert alone.low_s > 0.4 * taken_s


def test_findings_value_files_beside_a_database_as_commands_do_that_leave_it_out(tmp_path):
    session = job(tmp_path)
    every, led = (staged(session, by_hand=also) for also in (True, False))
    files = np.flatnonzero(~databases(every.use.paths)[every.found.rows])

    assert every.expected(files) == led.expected()


def test_a_database_is_none_of_the_small_files_that_are_read_beside_it(tmp_path):
    small = small_files.find(measure(job(tmp_path)))

    assert small is not None
    assert small.title == "the input is 48 small files, 8.0 kB each"


def test_what_staging_shows_is_of_the_files_that_it_copies(tmp_path):
    # GIVEN files that take 0.3 ms each, beside 3 s for the database
    staging = next(one for one in diagnose(job(tmp_path, file_ms=0.3)).findings if one.name == "staging")

    # THEN the copy is of the database, and so is what was measured
    shown = {one.label: one.value for one in staging.evidence}
    assert shown["from storage"] == 4 * KB * PAGES
    assert shown["time in calls on these files, all threads together"] == pytest.approx(
        PAGE_MS * PAGES / 1e3, rel=0.05
    )
    speed = human_bytes(shown["from storage"] / shown["time in calls on these files, all threads together"])
    assert staging.title == f"reads reach only {speed}/s per reader"
