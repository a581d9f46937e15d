"""The ranks' table, made in one pass over all ranks, has of each what its own files tables say."""

import random
from collections import Counter

import numpy as np
import pytest

from tests.joint_training import SESSION, MadeUpRank, joint_training, put_into_job
from tests.unit.findings.made_up_training import training
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.file_totals import total_files
from tfdarshan.analysis.files.input_files import input_files
from tfdarshan.analysis.files.session_files import SessionFiles
from tfdarshan.analysis.ranks.rank_table import rank_table
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.session import open_session
from tfdarshan.sessions.process_data import ProcessData

STEPS = 4


def drawn(logdir, ranks, other):
    """Write a job whose ranks read some of 40 files, in two folders, some of them on one host."""
    draw = random.Random(ranks)
    dealt = [[[draw.randrange(40) for _ in range(3)] for _ in range(STEPS)] for _ in range(ranks)]
    parts = [MadeUpRank(files, f"n{number % 5}", draw.uniform(0.5, 3)) for number, files in enumerate(dealt)]
    return joint_training(logdir, parts, folder="/data", other_folder=other)


def shared_of(session):
    return rank_table(session, SessionFiles(session).grouped).shared


# What is below /usr is a program's, and no input.
@pytest.mark.parametrize(("ranks", "other"), [(1, "/local"), (3, "/usr/share"), (64, "/local")])
def test_each_rank_has_what_its_own_tables_say(tmp_path, ranks, other):
    # GIVEN
    session = drawn(tmp_path, ranks, other)

    # WHEN
    table = rank_table(session, SessionFiles(session).grouped)

    # THEN
    assert [row.rank for row in table.ranks] == list(range(ranks))
    for rank, row in zip(session.joint.ranks, table.ranks, strict=True):
        files = load_files(rank.processes)
        read = files.rows[input_files(files) & (files.rows["bytes_read"] > 0).to_numpy(bool)]
        calls = read["reads"] + read["opens"]
        assert (row.files, row.input_bytes, row.input_calls) == (
            len(read),
            read["bytes_read"].sum(),
            calls.sum(),
        )
        assert (row.bytes_read, row.bytes_written) == (
            files.rows["bytes_read"].sum(),
            files.rows["bytes_written"].sum(),
        )
        assert row.input_s == pytest.approx(read["time_s"].sum(), rel=1e-12)
        # ... without the tenth of the files that took longest
        kept = len(read) - len(read) // 10
        assert row.steady_s == pytest.approx(read["time_s"].nsmallest(kept).sum())
        for mount in row.mounts:
            on_it = (read["mount_point"] == mount.point).to_numpy(bool)
            assert (mount.calls, mount.bytes_read) == (calls[on_it].sum(), read["bytes_read"][on_it].sum())
            assert mount.call_s == pytest.approx(read["time_s"][on_it].sum(), rel=1e-12)
        assert {mount.point for mount in row.mounts} == set(read["mount_point"].astype(str)) - {""}
        steps = rank.owner["steps"]["rows"]
        assert row.wait_s == pytest.approx(np.mean([step[3] for step in steps]) / 1e9)


# Made-up ranks read /data on NFS, which all hosts share, and what is elsewhere on a disk of their host.
@pytest.mark.parametrize(
    ("folder", "hosts", "expected"),
    [("/data", 3, (0, 1, 2)), ("/scratch", 1, (0, 1, 2)), ("/scratch", 3, None)],
)
def test_ranks_that_read_the_same_input_are_told(tmp_path, folder, hosts, expected):
    ranks = [MadeUpRank([[0, 1, 2, 3]] * 2, f"n{number % hosts}") for number in range(3)]

    shared = shared_of(joint_training(tmp_path, ranks, folder=folder))

    assert (shared and (shared.ranks, shared.bytes_once, shared.bytes_read, shared.passes)) == (
        expected and (expected, 400_000, 2_400_000, 2)
    )


def test_a_file_that_no_rank_reads_whole_keeps_ranks_apart(tmp_path):
    # GIVEN a job of which one rank is dealt other files than the others
    ranks = [MadeUpRank([[0, 1], [2, 3]]), MadeUpRank([[0, 1], [2, 3]]), MadeUpRank([[4, 5], [6, 7]])]

    # THEN no rank reads all of it
    assert shared_of(joint_training(tmp_path, ranks)) is None


def test_what_a_rank_writes_is_no_input_of_it_but_of_others(tmp_path):
    # GIVEN two ranks that read both files; the second writes one of them, too
    for number in range(2):
        calls = [(0, 1, 1, "pread", 0, 100), (1, 2, 1, "pread", 1, 200), (2, 3, 1, "pwrite", 1, 200)]
        part = training(
            tmp_path / f"part-{number}",
            calls[: 2 + number],
            (),
            paths=["/data/a", "/data/b"],
            sizes=[100, 200],
        )
        put_into_job(tmp_path, part.path, number, 2, MadeUpRank([]))
    session = open_session(tmp_path / "plugins/tfdarshan" / SESSION)

    # WHEN
    rows = rank_table(session, SessionFiles(session).grouped).ranks

    # THEN
    assert [(row.input_bytes, row.bytes_read, row.bytes_written) for row in rows] == [
        (300, 300, 0),
        (100, 300, 200),
    ]


def test_a_summary_reads_the_files_of_each_rank_once(tmp_path, monkeypatch):
    # GIVEN
    session = drawn(tmp_path, 3, "/local")
    read: Counter[tuple[str, str]] = Counter()
    expected = rank_table(session, SessionFiles(session).grouped), total_files(session.processes, 5)
    batches = ProcessData.batches

    def counted(process, table, columns):
        read[process.directory.name, table] += 1
        return batches(process, table, columns)

    monkeypatch.setattr(ProcessData, "batches", counted)

    # WHEN
    found = summarize(session, 5)

    # THEN
    assert [count for (_, table), count in read.items() if table == "files"] == [1, 1, 1]
    assert found.ranks == expected[0]
    assert found.most_read_files == list(expected[1].most_read)
    assert found.posix.bytes_read == sum(row.bytes_read for row in found.ranks.ranks)
