"""Rows of logs say what was written into the logs."""

import bz2
import errno
import os
import sys
import zlib

import numpy as np
import pytest

from tests.fleet_population import FIRST_DAY_S, MadeJob, write_log, write_population
from tests.joint_training import MadeUpRank, joint_training
from tests.made_up_session import image_job, write_job
from tfdarshan.errors import StorageError
from tfdarshan.fleet import log_row
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.catalogue_update import add_findings, update
from tfdarshan.fleet.input_list import find_inputs
from tfdarshan.fleet.input_reading import Task, read_some
from tfdarshan.fleet.job_columns import LOG
from tfdarshan.fleet.job_row import application_of
from tfdarshan.fleet.log_row import row_of_log
from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.darshan_log import export_darshan
from tfdarshan.partials.serial import SERIAL
from tfdarshan.sessions import opened_table
from tfdarshan.sessions.whole_file import TooLargeError


def written(path, rows, **about):
    job = MadeJob(path, "ada", about.get("program", "train.py"), "/scratch", FIRST_DAY_S, 100.0, 1)
    write_log(job, rows)
    return row_of_log(str(path), "")


def test_every_job_of_a_population_is_as_it_was_made(population, table):
    # WHEN
    rows = {row["input"]: row for row in table.to_pylist()}

    # THEN
    assert len(rows) == len(population.jobs)
    for job in population.jobs:
        row = rows[str(job.path)]
        said = (row["user"], row["application"], row["processes"], row["opens"], row["stats"], row["reads"])
        assert said == (job.user, job.program, job.processes, job.opens, job.stats, job.reads)
        assert (row["bytes_read"], row["bytes_written"]) == (job.bytes_read, 0)
        assert row["mount_point"] == job.mount
        assert row["start"].timestamp() == job.start_s
        assert (row["read_s"], row["meta_s"]) == pytest.approx((job.read_s, job.meta_s))
        assert row["duration_s"] == pytest.approx(job.duration_s)


def test_unknown_is_null_and_not_0(tmp_path):
    # WHEN
    row = written(tmp_path / "a.darshan", [{"path": "/scratch/x", "POSIX_STATS": -1, "POSIX_OPENS": 3}])

    # THEN
    assert (row["opens"], row["stats"], row["mounts"][0]["stats"]) == (3, None, None)
    # Nothing was read: no share of it is anything.
    assert (row["reread_share"], row["small_read_share"]) == (None, None)
    assert "io_s" not in row
    assert (row["nodes"], row["user"]) == (1, None)


def test_bytes_beyond_the_last_offset_are_read_again_at_least(tmp_path):
    # GIVEN a file of 1,000 bytes read three times, by two records of it
    one = {"POSIX_READS": 2, "POSIX_BYTES_READ": 2000, "POSIX_MAX_BYTE_READ": 999}

    # WHEN
    row = written(
        tmp_path / "a.darshan",
        [{"path": "/scratch/x", **one}, {"path": "/scratch/y", **one, "POSIX_BYTES_READ": 1000}],
    )

    # THEN
    assert (row["reread_bytes"], row["reread_share"]) == (1000, pytest.approx(1 / 3))


def test_small_reads_are_those_of_darshans_first_three_buckets(tmp_path):
    sizes = {"POSIX_SIZE_READ_0_100": 1, "POSIX_SIZE_READ_100_1K": 2, "POSIX_SIZE_READ_1K_10K": 4}

    row = written(
        tmp_path / "a.darshan",
        [{"path": "/scratch/x", "POSIX_READS": 28, **sizes, "POSIX_SIZE_READ_10K_100K": 21}],
    )

    assert (row["small_reads"], row["small_read_share"]) == (7, 0.25)


def test_the_input_folder_is_the_deepest_with_most_of_the_bytes(tmp_path):
    # GIVEN 90 % of the bytes in folders of classes
    rows = [
        {"path": f"/scratch/set/train/class-{n}/0.jpg", "POSIX_BYTES_READ": 300, "POSIX_MAX_BYTE_READ": 99}
        for n in range(3)
    ]
    rows.append({"path": "/home/me/conf", "POSIX_BYTES_READ": 100, "POSIX_MAX_BYTE_READ": 99})

    # WHEN
    row = written(tmp_path / "a.darshan", rows)

    # THEN
    assert row["input_folder"] == "/scratch/set/train"
    assert (row["input_bytes_read"], row["input_unique_bytes"]) == (900, 300)
    assert [entry["mount_point"] for entry in row["mounts"]] == ["/scratch", "/home"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/apps/lmp -in a.lmp", "lmp"),
        ("python3.11 -u /w/train.py --lr 1", "train.py"),
        ("python -m torch.distributed.run train.py", "torch.distributed.run"),
        ("python -W ignore -c print()", "python"),
        ("bash run.sh", "run.sh"),
        ("", None),
    ],
)
def test_the_application_of_an_interpreter_is_its_script(command, name):
    assert application_of(command) == name


def test_the_user_comes_from_darshans_name_of_the_log(tmp_path):
    # GIVEN a user with an underscore in front of the program
    path = tmp_path / "ann_lee_simulate_id77-5_9-1-2-3_4.darshan"

    # WHEN / THEN
    assert written(path, [{"path": "/a", "POSIX_OPENS": 1}], program="simulate")["user"] == "ann_lee"


def test_records_that_are_missing_are_a_doubt(tmp_path):
    job = MadeJob(tmp_path / "a.darshan", "u", "p", "/", FIRST_DAY_S, 9.0, 1)
    write_log(job, [{"path": "/a", "POSIX_OPENS": 1}], partial=True)

    row = row_of_log(str(job.path), "")

    assert row["doubts"] == ["Darshan's POSIX module ran out of memory or records: some are missing"]


@pytest.mark.parametrize(
    ("counter", "value"),
    [("POSIX_OPENS", 1 << 61), ("POSIX_F_READ_TIME", 1e18), ("POSIX_F_META_TIME", float("nan")),
     ("POSIX_F_READ_END_TIMESTAMP", float("inf"))],
)  # fmt: skip
def test_figures_that_no_job_has_do_not_count(tmp_path, counter, value):
    row = written(tmp_path / "a.darshan", [{"path": "/a", counter: value}])

    assert (row["state"], row.get("opens")) == ("damaged", None)
    assert row["note"].startswith("its figures cannot be: ")


def test_figures_stay_where_nobody_can_look_for_findings(tmp_path, monkeypatch):
    # GIVEN a machine without PyDarshan
    path = write_population(tmp_path, 1).jobs[0].path
    monkeypatch.setitem(sys.modules, "darshan.backend.cffi_backend", None)

    # WHEN
    light, looked_at = (row_of_log(str(path), "", findings=findings) for findings in (False, True))

    # THEN
    assert (looked_at["state"], looked_at["opens"]) == ("read", light["opens"])
    assert "verdict" not in looked_at
    assert looked_at["doubts"][-1].startswith("nobody looked for findings: ")


@pytest.mark.parametrize(
    ("trouble", "said"),
    [(StorageError("no room in /tmp: set TMPDIR."), "no room in /tmp: set TMPDIR."),
     (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
     (MemoryError(), "MemoryError")],
)  # fmt: skip
def test_figures_stay_where_the_machine_has_no_room_to_look_for_findings(
    tmp_path, monkeypatch, trouble, said
):
    # GIVEN a log in the catalogue, and a machine whose disk is full
    path = write_population(tmp_path / "in", 1).jobs[0].path
    catalogue = CatalogueFolder(tmp_path / "catalogue")
    (before,) = update(catalogue, find_inputs([str(path)]), SERIAL).table.to_pylist()

    def full(_):
        raise trouble

    monkeypatch.setattr(log_row, "_found_in_all", full)

    # WHEN
    add_findings(catalogue, [str(path)], SERIAL)

    # THEN nothing is lost, and nobody has looked yet
    (row,) = catalogue.table.to_pylist()
    assert row["doubts"] == [f"nobody looked for findings: {said}"]
    assert row | {"doubts": [], "catalogued_ns": 0} == before | {"doubts": [], "catalogued_ns": 0}


@pytest.mark.parametrize("fails", [True, False])
def test_figures_stay_where_looking_for_findings_fails(tmp_path, monkeypatch, fails):
    # GIVEN a log that is odd in a way that nobody thought of
    path = write_population(tmp_path, 1).jobs[0].path

    def look(_):
        if fails:
            raise KeyError("odd")
        return {"verdict": "slow"}

    monkeypatch.setattr(log_row, "_found_in_all", look)

    # WHEN
    (row,) = read_some([Task(str(path), LOG, "", findings=True)])

    # THEN
    assert (row["state"], row["opens"]) == ("read", row_of_log(str(path), "")["opens"])
    assert (row["verdict"], row["doubts"]) == (
        ("unknown", ["looking for findings failed (KeyError: 'odd')"]) if fails else ("slow", [])
    )


def test_a_log_is_read_again_when_the_machine_has_room(tmp_path, monkeypatch):
    # GIVEN a log that was met with a full disk
    path = write_population(tmp_path / "in", 1).jobs[0].path
    catalogue = CatalogueFolder(tmp_path / "catalogue")

    def full(_):
        raise StorageError("no room in /tmp: set TMPDIR.")

    with monkeypatch.context() as patched:
        patched.setattr(log_row, "read_light", full)
        (row,) = update(catalogue, find_inputs([str(path)]), SERIAL).table.to_pylist()
    assert (row["state"], row["note"]) == (
        "unreadable", "reading it failed (StorageError: no room in /tmp: set TMPDIR.)"
    )  # fmt: skip

    # WHEN
    done = update(catalogue, find_inputs([str(path)]), SERIAL)

    # THEN
    assert (done.read, done.table["state"].to_pylist()) == (1, ["read"])


@pytest.mark.parametrize(("second", "hosts", "nodes"), [("n0", "n0", 1), ("n1", None, None)])
def test_a_log_of_a_session_of_two_hosts_is_of_no_single_node(tmp_path, second, hosts, nodes):
    # GIVEN the log of a session of two ranks
    ranks = [MadeUpRank([[0, 1]], host=host) for host in ("n0", second)]
    export_darshan(joint_training(tmp_path / "logs", ranks), tmp_path / "a.darshan")

    # WHEN
    row = row_of_log(str(tmp_path / "a.darshan"), "")

    # THEN
    assert (row["processes"], row["hosts"], row["nodes"]) == (2, hosts, nodes)


def damaged_logs(whole):
    header = np.frombuffer(whole, darshan_format.HEADER, 1)[0]
    offset, length = (int(value) for value in header["modules"][1])
    records = zlib.decompress(whole[offset : offset + length])
    cut = zlib.compress(records[:-8])
    other, newer = (np.frombuffer(whole, darshan_format.HEADER, 1).copy() for _ in range(2))
    other["modules"][0, 1] = (offset, len(cut))
    newer["module_versions"][0, 1] = 9
    end = darshan_format.HEADER.itemsize
    return {
        "empty": (b"", "damaged"),
        "text": (b"no log at all", "damaged"),
        "cut": (whole[: len(whole) // 2], "damaged"),
        "half a record": (other.tobytes() + whole[end:offset] + cut, "damaged"),
        "noise": (whole[:offset] + bz2.compress(records)[:length], "damaged"),
        "newer log": (b"9.99\0" + whole[5:], "newer_version"),
        "newer records": (newer.tobytes() + whole[end:], "newer_version"),
    }


@pytest.mark.parametrize(
    ("error", "state"),
    [(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), "unreadable"),
     (TooLargeError("it takes 9 TB"), "unreadable"), (ValueError("no Parquet"), "damaged")],
)  # fmt: skip
def test_a_session_whose_tables_cannot_be_read_yet_is_asked_again(tmp_path, monkeypatch, error, state):
    # GIVEN a session whose tables another user may not open, or that takes more memory than is free
    session = tmp_path / "plugins/tfdarshan/2024_01_01_00_00_00"
    write_job(session, image_job(4, 1, 1))
    catalogue = CatalogueFolder(tmp_path / "catalogue")

    def refuse(_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(opened_table, "open_regular", refuse)
        (row,) = update(catalogue, find_inputs([str(tmp_path)]), SERIAL).table.to_pylist()

    # WHEN
    done = update(catalogue, find_inputs([str(tmp_path)]), SERIAL)

    # THEN
    assert row["state"] == state, row["note"]
    assert done.read == (state == "unreadable")


def test_the_name_of_a_folder_does_not_make_a_log_newer(tmp_path):
    path = write_population(tmp_path / "before-upgrade", 1).jobs[0].path
    path.write_bytes(b"3.41\0")

    assert row_of_log(str(path), "")["state"] == "damaged"


@pytest.mark.parametrize(
    "kind", ["empty", "text", "cut", "half a record", "noise", "newer log", "newer records"]
)
def test_a_log_that_cannot_be_read_is_a_row_that_says_so(tmp_path, kind):
    # GIVEN
    path = write_population(tmp_path, 1).jobs[0].path
    content, state = damaged_logs(path.read_bytes())[kind]
    path.write_bytes(content)

    # WHEN
    row = row_of_log(str(path), "")

    # THEN
    assert row["state"] == state
    assert row["note"]
    assert "duration_s" not in row
