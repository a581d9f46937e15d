"""Files that came by a rename: a job that saves so reads them back, and they are no input."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.input_files import input_files, never_input
from tfdarshan.findings.finding import Finding
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import gain_of
from tfdarshan.findings.staging import find

KB = 1_000
PATHS = [
    "/data/0.jpg", "/out/part.index.temp1", "/out/part.index", "/out/model.data", "/data/notes.txt",
    "/data/taken.bin", "/other/asked.bin", "/data/asked.bin",
]  # fmt: skip
READ, TEMPORARY, INDEX, RENAMED, NOTES, REMOVED, ELSEWHERE, ASKED = range(8)


def inputs(folder, *calls):
    rows = [(at * 10, at * 10 + 5, 100, name, file, length) for at, (name, file, length) in enumerate(calls)]
    table = load_files(write_session(folder, job_of(rows, PATHS, [KB] * len(PATHS))).processes)
    chosen = input_files(table)
    return {path for path, wanted in zip(table.rows["path"], chosen, strict=True) if wanted} - {"(no file)"}


def saved_by_rename():
    """Write a file by another name, rename it, read it back and remove it, and ask for a second one."""
    return [
        ("open", TEMPORARY, 0), ("write", TEMPORARY, KB), ("rename", TEMPORARY, 0), ("open", INDEX, 0),
        ("pread", INDEX, KB), ("unlink", INDEX, 0), ("stat", RENAMED, 0),
    ]  # fmt: skip


def test_what_a_job_saved_by_a_rename_is_not_its_input(tmp_path):
    chosen = inputs(tmp_path, ("open", READ, 0), ("pread", READ, KB), *saved_by_rename())

    assert chosen == {"/data/0.jpg"}


def test_input_stays_input_though_the_job_writes_beside_it(tmp_path):
    # GIVEN a file of notes among the data, which is read, or asked for; and files that are removed elsewhere
    calls = [
        ("write", NOTES, KB), ("open", READ, 0), ("pread", READ, KB), ("stat", ASKED, 0),
        ("stat", ELSEWHERE, 0), ("unlink", ELSEWHERE, 0),
    ]  # fmt: skip

    # THEN these are what they were
    assert inputs(tmp_path, *calls) == {"/data/0.jpg", "/data/asked.bin", "/other/asked.bin"}
    # ... but what the job removes beside what it writes is its own
    removed = [("open", REMOVED, 0), ("pread", REMOVED, KB), ("unlink", REMOVED, 0)]
    assert "/data/taken.bin" not in inputs(tmp_path / "removed", *calls, *removed)
    assert "/data/taken.bin" in inputs(tmp_path / "alone", ("open", READ, 0), *removed)


@pytest.mark.parametrize("saves", [False, True], ids=["no checkpoint", "checkpoints saved by rename"])
def test_a_copy_of_the_input_spares_nothing_of_what_the_loop_reads_back(tmp_path, saves):
    # GIVEN steps of 50 ms that wait 20 ms for a reader that reads for 40, and a loop that reads back for 20
    paths = ["/data/0.bin", "/out/part.index.temp1", "/out/part.index"]
    calls: list[tuple] = []
    for step in range(40):
        at = 50.0 * step
        calls.append((at, at + 40, 1, "pread", 0, 100 * KB, step * 100 * KB))
        if saves:
            calls += [
                (at + 25, at + 26, LOOP, "write", 1, KB), (at + 26, at + 26.1, LOOP, "rename", 1, 0),
                (at + 27, at + 47, LOOP, "pread", 2, KB, 0), (at + 47, at + 47.1, LOOP, "unlink", 2, 0),
            ]  # fmt: skip
    session = training(
        tmp_path, calls, epochs_of_steps(40, 50.0, 20.0), paths=paths, sizes=[4000 * KB, KB, KB],
        meta={"machine": {"cpus": 4, "memory_bytes": 1 << 34}},
    )  # fmt: skip

    # THEN a copy spares the wait and nothing more
    measures = measure(session)
    found = find(measures)
    assert isinstance(found, Finding)
    gain = gain_of(measures.job, found.edits, measures)
    assert gain.saved_s == pytest.approx(0.0195, abs=0.0015)


def test_folders_whose_names_begin_as_those_of_the_system_hold_data():
    paths = pa.array(["/librispeech/1.flac", "/library/2", "/lib/libc", "/lib64/ld", "/usr/share/3"])
    assert never_input(paths).tolist() == [False, False, True, True, True]
