"""Questions about files: totals, folders, sizes, reading again."""

import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.analysis.files.access_sizes import file_sizes
from tfdarshan.analysis.files.directory import directory_totals, directory_tree, folders_of
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.rereads import rereads
from tfdarshan.analysis.storage.storage_share import storage_by_step, storage_share
from tfdarshan.analysis.summary_data import summarize


@pytest.fixture
def session(tmp_path):
    """Two files below /data/a, one of them read twice, one in /data, one of unknown size, one written."""
    calls = [
        (0, 100, 1, "open", 0, 0), (100, 1100, 1, "pread", 0, 100), (1100, 1200, 1, "pread", 0, 100),
        (0, 50, 2, "pread", 1, 30), (50, 60, 2, "fread", 1, 7), (60, 70, 2, "pread", 2, 2000),
        (70, 80, 2, "pread", 3, 5), (80, 180, 2, "write", 4, 64),
    ]  # fmt: skip
    paths = ["/data/a/1", "/data/a/2", "/data/3", "/data/b/c/4", "/out"]
    job = job_of(calls, paths, [100, 60, 2000, -1, 64], kernel={"rchar": 2_300, "read_bytes": 1_000})
    return write_session(tmp_path, job)


@pytest.fixture
def files(session):
    return load_files(session.processes)


def test_a_path_is_one_row_over_both_modules(files):
    rows = files.rows.set_index("path")

    assert rows.index.tolist()[0] == "(no file)"
    assert (rows.loc["/data/a/2", "reads"], rows.loc["/data/a/2", "bytes_read"]) == (2, 37)
    assert rows.loc["/data/a/1", "time_s"] == pytest.approx(1200e-9)
    assert rows.loc["/data/a/1", "mount_point"] == "/data"
    assert rows.loc["/out", ["writes", "bytes_written", "size_bytes"]].tolist() == [1, 64, 64]


@pytest.mark.parametrize(("log", "openers"), [(None, 1), ({"rank": 3}, 1), ({"rank": -1}, 16)])
def test_openers_are_the_processes_that_opened_a_file(log, openers, tmp_path):
    # GIVEN two processes that both open one file, the first of them twice, and one only reads another
    calls = [(0, 1, 1, "open", 0, 0), (2, 3, 1, "open", 0, 0), (4, 5, 1, "pread", 1, 7)]
    whole = {"ranks": [0], "pids": [7], "processes": 16}
    first = job_of(
        calls, ["/data/1", "/data/2"], [7, 7], meta={} if log is None else {"darshan": whole | log}
    )
    second = job_of(calls[:1], ["/data/1"], [7], pid=101)

    # WHEN
    rows = load_files(write_session(tmp_path, first, second).processes).rows.set_index("path")

    # THEN a record that all ranks share stands for all of them
    assert rows["openers"].to_dict() == {"(no file)": 0, "/data/1": openers + 1, "/data/2": 0}


def test_folders_add_up_their_files(files):
    totals = directory_totals(files, folders_of(files.paths))

    assert totals["files"].to_dict() == {"/data/a": 2, "/data": 1, "/data/b/c": 1, "/": 1}
    assert totals["bytes_read"].to_dict() == {"/data/a": 237, "/data": 2000, "/data/b/c": 5, "/": 0}
    assert totals.index[0] == "/data/a"


@pytest.mark.parametrize("most", [10, 1])
def test_the_tree_of_folders_adds_up(files, most):
    totals = directory_totals(files, folders_of(files.paths))

    tree = directory_tree(totals, "bytes_read", most).set_index("path")

    assert tree.loc["/", "value"] == 2242
    for path, row in tree.iterrows():
        assert row["value"] == row["own"] + tree[tree["parent"] == path]["value"].sum()
    if most == 10:
        assert tree.loc["/data/b/c", ["own", "value", "parent", "name"]].tolist() == [5, 5, "/data", "b/c"]
        assert "/data/b" not in tree.index


def test_file_sizes_have_every_file_once(files):
    table = file_sizes(files).set_index("size")

    assert table["files"][table["files"] > 0].to_dict() == {"1 - 100 B": 3, "1 - 10 KiB": 1, "unknown": 1}
    assert table["bytes_read"].sum() == 2242
    assert (table.loc["1 - 100 B", "files_read"], table.loc["1 - 100 B", "files_written"]) == (2, 1)


def test_bytes_read_again(files):
    found = rereads(files)

    assert (found.size_bytes, found.bytes_read) == (2160, 2237)
    assert found.unknown_size_bytes == 5
    # a file counts with no more than was read of it, and one of unknown size with all of that
    assert (found.unique_bytes, found.passes) == (2142, 2242 / 2142)


def test_storage_against_the_page_cache(session):
    share = storage_share(summarize(session).coverage)

    assert (share.asked_bytes, share.storage_bytes, share.cached_bytes) == (2_300, 1_000, 1_300)
    assert share.storage_ratio == 1_000 / 2_300


def test_storage_by_step_where_steps_carry_it(session):
    steps = session.steps.assign(rchar=[], read_bytes=[])
    steps.loc[0, ["rchar", "read_bytes"]] = [500, 600]
    steps.loc[1, ["rchar", "read_bytes"]] = [500, 100]

    assert storage_by_step(steps)["cached_bytes"].tolist() == [0, 400]
    assert len(storage_by_step(session.steps)) == 0
