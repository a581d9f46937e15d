"""What a pass over a file moves, by where its reads lie."""

import numpy as np
import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.analysis.calls.pass_bytes import known_pass_bytes, pass_bytes
from tfdarshan.analysis.calls.segments import load_segments
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.rereads import rereads


def of_reads(*reads, files=3):
    """Return the bytes of a pass of each file, of reads of (file, offset, length)."""
    file, offset, length = (np.array(values, np.int64) for values in zip(*reads, strict=True))
    return pass_bytes(file, offset, length, files).tolist()


def test_a_pass_moves_each_byte_once():
    # GIVEN two passes over two parts of a file, cut in another way in each; and one over another file
    first, second = ((0, 0, 20), (0, 50, 10)), ((0, 0, 5), (0, 5, 15), (0, 50, 10))

    # THEN
    assert of_reads(*first, (2, 7, 30), *second) == [30, 0, 30]


@pytest.mark.parametrize("more", [3, 5])
def test_a_pass_that_ends_early_is_as_large_as_the_others(more):
    # GIVEN 10 records in each of two passes, and some of them in a third
    reads = [(1, 10 * n, 10) for _ in range(2) for n in range(10)] + [(1, 10 * n, 10) for n in range(more)]

    # THEN
    assert of_reads(*reads) == [0, 100, 0]


@pytest.mark.parametrize("passes", [1, 3])
def test_pages_that_are_read_for_all_others_make_a_pass_larger(passes):
    # GIVEN 24 pages, and the same two before each of them
    reads = [(0, 10 * page, 10) for _ in range(passes) for n in range(24) for page in (0, 1, 2 + n)]

    # THEN of 26 pages 24 were read as often as there were passes, and two count once more
    (found, *_) = of_reads(*reads)
    assert found == pytest.approx(720 * passes / ((24 * passes + 2 * (passes + 1)) / 26))
    assert 720 * (passes - 1) < found * passes <= 720 * passes


def test_no_reads_make_no_pass():
    nothing = np.zeros(0, np.int64)
    assert pass_bytes(nothing, nothing, nothing, 2).tolist() == [0, 0]


def test_what_is_not_in_the_calls_is_not_known_of_a_file(tmp_path):
    # GIVEN three passes over half of a file, one over another, and calls that lack a read of a third
    calls = [(n, n + 1, 1, "pread", 0, 500, 0) for n in range(3)]
    calls += [(4, 5, 1, "pread", 1, 100, 0), (5, 6, 1, "pread", 2, 100, 0)]
    session = write_session(tmp_path, job_of(calls, ["/data/a", "/data/b", "/data/c"], [1000, 100, 100]))
    files = load_files(session.processes)
    counted = files.rows["bytes_read"].to_numpy().copy()
    (lacking,) = np.flatnonzero(files.rows["path"] == "/data/c")
    counted[lacking] += 100

    # WHEN
    found = known_pass_bytes(load_segments(session.processes, files.index), counted)

    # THEN
    by_path = dict(zip(files.rows["path"], found.tolist(), strict=True))
    assert [by_path[f"/data/{name}"] for name in "abc"] == [500, 100, 0]
    again = rereads(files, files.rows["path"] != "/data/c", found)
    assert (again.unique_bytes, again.passes, again.placed) == (600, 1600 / 600, True)
    assert not rereads(files, slice(None), found).placed
