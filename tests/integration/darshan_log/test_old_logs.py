"""Logs of Darshan 3.0, whose records and names are laid out in other ways, and mount points with blanks."""

import os
import zlib

import numpy as np
import pytest

import tfdarshan
from tests.pydarshan import darshan
from tfdarshan.fleet.log_row import row_of_log
from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.darshan_log import export_darshan
from tfdarshan.formats.importing.darshan_log import import_darshan

# Counters of version 1 of POSIX records, by their places in the public header of Darshan 3.0.1.
OPENS, READS, FOPENS, BYTES_READ = 0, 1, 6, 13
READ_TIME, META_TIME, MAX_READ_TIME = 6, 8, 9
PLAIN, STREAM = "/data a/plain", "/data a/stream"
MOUNTS = (("/data", "lustre"), ("/", "ext4"), ("/data a", "nfs"))


def darshan_3_0_log(path, order, mounts=MOUNTS):
    """Write a log of two files, of which one was also opened by fopen()."""
    layout = darshan_format.counter_record(68, 15).newbyteorder(order)
    records = np.zeros(2, layout)
    records["id"] = 71, 72
    for name, at, values in (
        ("counters", OPENS, (3, 1)),
        ("counters", READS, (40, 1)),
        ("counters", FOPENS, (0, 2)),
        ("counters", BYTES_READ, (123_456, 10)),
        ("f_counters", READ_TIME, (0.5, 0.1)),
        ("f_counters", META_TIME, (0.25, 0.1)),
        ("f_counters", MAX_READ_TIME, (0.125, 0.1)),
    ):
        records[name][:, at] = values
    job = np.zeros((), darshan_format.OLD_JOB.newbyteorder(order))
    job["uid"], job["start_s"], job["end_s"], job["processes"], job["job"] = (
        1000,
        1_500_000_000,
        1_500_000_060,
        1,
        7,
    )
    job["metadata"] = b"lib_ver=3.0.1\n"
    lines = "".join(f"\n{kind}\t{point}" for point, kind in mounts)
    names = b"".join(
        np.array(number, f"{order}u8").tobytes() + np.array(len(name), f"{order}u4").tobytes() + name.encode()
        for number, name in ((71, PLAIN), (72, STREAM))
    )
    regions = [
        zlib.compress(part)
        for part in (job.tobytes() + f"train{lines}".encode() + b"\0", names, records.tobytes())
    ]
    header = np.zeros((), darshan_format.OLD_HEADER.newbyteorder(order))
    header["version"], header["magic"] = b"3.00", darshan_format.MAGIC
    first = header.dtype.itemsize + len(regions[0])
    header["names"] = first, len(regions[1])
    posix = darshan_format.MODULE_IDS["POSIX"]
    header["modules"][posix] = first + len(regions[1]), len(regions[2])
    header["module_versions"][posix] = 1
    path.write_bytes(header.tobytes() + b"".join(regions))
    return path


@pytest.mark.parametrize("order", ["<", ">"])
def test_log_of_darshan_3_0_has_pydarshans_numbers(order, tmp_path):
    # GIVEN
    log = darshan_3_0_log(tmp_path / "old.darshan", order)

    # WHEN
    session = tfdarshan.open_session(import_darshan(log, tmp_path / "logs").path)

    # THEN the file without streams has its counts, and those that Darshan 3.0 did not have are unknown
    (row,) = session.files.to_dict("records")
    assert (row["path"], row["POSIX_OPENS"], row["POSIX_READS"], row["POSIX_BYTES_READ"]) == (
        PLAIN,
        3,
        40,
        123_456,
    )
    assert (row["POSIX_F_READ_TIME"], row["POSIX_F_META_TIME"], row["POSIX_F_MAX_READ_TIME"]) == (
        0.5,
        0.25,
        0.125,
    )
    missing = ("POSIX_DUPS", "POSIX_FILENOS", "POSIX_RENAME_SOURCES", "POSIX_F_OPEN_END_TIMESTAMP")
    assert np.isnan([row[name] for name in missing]).all()
    report = darshan.DarshanReport(str(log), read_all=True)
    (theirs,) = report.records["POSIX"]
    for name, value in zip(report.counters["POSIX"]["counters"], theirs["counters"].tolist(), strict=True):
        assert value == (-1 if np.isnan(row[name]) else row[name]), name
    assert report.name_records[theirs["id"]] == PLAIN

    # and the summary and the fleet say that a record was left out
    said = "Darshan 3.0 counted POSIX and STDIO calls together in 1 record and PyDarshan reads none of it"
    assert said in session.summary(verbose=True)
    assert row_of_log(str(log), "")["doubts"] == [said]


def test_mount_points_with_blanks(tmp_path):
    # GIVEN a session of a file below such a mount point, as Darshan writes it
    log = darshan_3_0_log(tmp_path / "old.darshan", "<")
    session = tfdarshan.open_session(import_darshan(log, tmp_path / "logs").path)
    assert session.meta[0]["command"] == "train"
    assert list(session.files["mount_point"]) == ["/data a"]
    assert list(session.files["fs_type"]) == ["nfs"]

    # WHEN
    exported = export_darshan(session, tmp_path / "new.darshan")

    # THEN PyDarshan finds the mount above it and not the one to whose name it cuts a blank, and it is said
    mounts = dict(darshan.DarshanReport(str(tmp_path / "new.darshan")).mounts)
    above = [point for point in mounts if os.path.commonpath([point, PLAIN]) == point]
    assert above == ["/"]
    assert (mounts["/"], mounts["/data"]) == ("ext4", "lustre")
    assert exported.left_out[-1] == (
        "the name of the mount '/data a': Darshan's tools read no blank in it, and count its files to the "
        "mount above"
    )
    again = tfdarshan.open_session(import_darshan(tmp_path / "new.darshan", tmp_path / "logs").path)
    assert list(again.files["mount_point"]) == ["/data a"]


def test_mount_points_with_backslashes_are_pydarshans(tmp_path):
    # GIVEN
    log = darshan_3_0_log(tmp_path / "old.darshan", "<", (("/data\\b", "nfs"),))
    session = tfdarshan.open_session(import_darshan(log, tmp_path / "logs").path)

    # WHEN
    export_darshan(session, tmp_path / "new.darshan")

    # THEN
    assert darshan.DarshanReport(str(tmp_path / "new.darshan")).mounts == [("/data\\b", "nfs")]
