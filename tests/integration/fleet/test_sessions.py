"""Sessions in a fleet: rows equal `tfdarshan summary --json`, also of jobs of several ranks."""

import csv
import getpass
import json
import os
import re
import subprocess
import sys

import pytest

import tfdarshan
from tests.integration.fleet.equal import assert_equal_to_summary, rows_of
from tests.joint_training import MadeUpRank, joint_training
from tfdarshan.commands import main


def test_recorded_and_joint_sessions_are_as_their_summaries(tmp_path, capsys):
    # GIVEN a session that reads one file of 300,000 bytes three times and another once
    data = tmp_path / "data"
    data.mkdir()
    for name in ("often", "once"):
        (data / name).write_bytes(bytes(300_000))
    with tfdarshan.profile(tmp_path / "in/one", include=[f"{data}/*"]):
        for name in ("often", "often", "often", "once"):
            with open(data / name, "rb", buffering=0) as file:
                while file.read(50_000):
                    pass
        (data / "written").write_bytes(bytes(10_000))
    dealt = [[[2 * step + rank * 24, 2 * step + rank * 24 + 1] for step in range(12)] for rank in range(2)]
    ranks = [MadeUpRank(dealt[0], "first-host"), MadeUpRank(dealt[1], "second-host", 5.0, 3_600 * 10**9)]
    joint = joint_training(tmp_path / "in", ranks)

    # WHEN
    rows, said = rows_of(capsys, str(tmp_path / "in"), "--catalogue", str(tmp_path / "catalogue"))

    # THEN
    assert (said["inputs"], said["totals"]["jobs"], len(rows)) == (2, 2, 2)
    summaries = [assert_equal_to_summary(row, capsys) for row in rows.values()]
    assert said["totals"]["bytes_read"] == sum(one["posix"]["bytes_read"] for one in summaries)
    recorded = next(row for path, row in rows.items() if "/one/" in path)
    assert (recorded["bytes_read"], recorded["reread_bytes"]) == (1_200_000, 600_000)
    # It has just been written: all of it, and what is read again, comes from memory.
    assert recorded["cached_bytes"] > 600_000
    assert (recorded["input_folder"], recorded["input_unique_bytes"]) == (str(data), 600_000)
    assert (recorded["user"], recorded["nodes"]) == (getpass.getuser(), 1)
    of_ranks = rows[str(joint.path)]
    assert (of_ranks["hosts"], of_ranks["nodes"]) == ("first-host,second-host", 2)
    assert 0 < of_ranks["input_wait_s"] < of_ranks["steps_s"]
    # The models of both say what faster storage saves of them.
    asked = ["--storage-bandwidth", "100x", "--catalogue", str(tmp_path / "catalogue"), "--json"]
    assert main(["fleet", "whatif", *asked]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["jobs"], answer["modelled_jobs"], answer["nodes_unknown"]) == (2, 2, 0)
    most_s = of_ranks["input_wait_s"] + recorded["io_s"]
    assert 0 < answer["high_job_hours"] * 3600 <= most_s


def test_the_overview_fits_a_terminal_and_says_what_is_left_out(tmp_path, capsys):
    # GIVEN
    joint_training(tmp_path / "in", [MadeUpRank([[0], [1], [2], [3], [4], [5]])])
    (tmp_path / "in" / "torn.darshan").write_bytes(b"3.41\0")

    # WHEN
    assert main(["fleet", str(tmp_path / "in"), "--catalogue", str(tmp_path / "catalogue")]) == 0
    lines = capsys.readouterr().out.splitlines()

    # THEN
    assert lines[0].startswith("1 job, ")
    assert "! 1 of 2 inputs left out: damaged" in lines
    assert max(map(len, lines)) <= 100


def test_rows_are_written_as_csv_without_a_database_of_time_zones(tmp_path):
    # GIVEN a session, and a container that has no such database
    with tfdarshan.profile(tmp_path / "logs"):
        (tmp_path / "data").write_bytes(bytes(100))
    (empty := tmp_path / "empty").mkdir()
    hide = 'mount --bind "$0" /usr/share/zoneinfo && exec "$@"'
    unshared = ["unshare", "--mount", "sh", "-c", hide, str(empty)]
    if os.getuid() or subprocess.run([*unshared, "true"], capture_output=True, check=False).returncode:
        pytest.skip("hiding a folder needs root, and the folder")

    # WHEN
    words = ["fleet", str(tmp_path / "logs"), "--catalogue", str(tmp_path / "jobs"), "--csv"]
    command = [*unshared, sys.executable, "-m", "tfdarshan", *words, str(tmp_path / "jobs.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    # THEN
    assert (done.returncode, done.stderr) == (0, "")
    with open(tmp_path / "jobs.csv", encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}Z", row["start"])


def test_wrong_use_is_one_sentence(tmp_path, capsys):
    for arguments, code in (
        (["--catalogue", str(tmp_path / "none")], 2),
        ([str(tmp_path / "gone"), "--catalogue", str(tmp_path)], 1),
        ([str(tmp_path), "--top", "-1"], 2),
        ([str(tmp_path), "--processes", "0"], 2),
        ([str(tmp_path), "--catalogue", "/proc/none"], 1),
    ):
        (tmp_path / "a.darshan").write_bytes(b"no log")
        assert main(["fleet", *arguments]) == code, arguments
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n"), said.err[:11]) == ("", 1, "tfdarshan: ")
