import os

import numpy as np
import pytest

import tfdarshan
from tests.integration.darshan_log.conftest import do_random_io
from tests.integration.darshan_log.read_back import (
    assert_equal_counters,
    our_segments,
    read_back,
    summary_report,
)
from tests.pydarshan import darshan
from tfdarshan.commands import main
from tfdarshan.formats.export.darshan_log import export_darshan


def test_pydarshan_reads_every_counter_as_we_counted_it(session, report):
    assert_equal_counters(session, report)
    assert {rank for _module, rank, _path in read_back(report)} == {0, 1, 2}


@pytest.mark.parametrize("seed", range(10, 16))
def test_counters_of_random_io(tmp_path, seed):
    # GIVEN
    with tfdarshan.profile(tmp_path / "logs") as profile:
        do_random_io(tmp_path, seed)
    session = tfdarshan.open_session(profile.path)

    # WHEN
    export_darshan(session, tmp_path / "job.darshan")

    # THEN
    report = darshan.DarshanReport(str(tmp_path / "job.darshan"), read_all=True)
    assert_equal_counters(session, report)
    assert segments_of(report) == our_segments(session)


def segments_of(report):
    found = []
    for record in report.records["DXT_POSIX"]:
        for kind in ("read", "write"):
            segments = record[f"{kind}_segments"]
            assert len(segments) == record[f"{kind}_count"]
            found += [
                (
                    report.name_records[record["id"]],
                    record["rank"],
                    kind,
                    segment["offset"],
                    segment["length"],
                    round(segment["start_time"] * 1e9),
                    round(segment["end_time"] * 1e9),
                )
                for segment in segments
            ]
    return sorted(found)


def test_segments_are_the_sessions(session, report):
    assert segments_of(report) == our_segments(session)
    assert len(segments_of(report)) > 300
    assert (session.events["error"] != 0).any()
    assert {record["hostname"] for record in report.records["DXT_POSIX"]} == {session.meta[0]["host"]}


def test_heatmaps_add_up_to_the_bytes(session, report):
    files = session.files
    for module in ("POSIX", "STDIO"):
        heatmap = report.heatmaps[module]
        for kind, counter in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
            table = heatmap.to_df([kind], interval_index=False)
            for rank, meta in enumerate(session.meta):
                mine = files[(files["module"] == module) & (files["pid"] == meta["pid"])]
                assert int(table.loc[rank].sum()) == mine[f"{module}_{counter}"].sum()


def test_job_is_the_session(session, report):
    job = report.metadata["job"]
    owner = session.meta[0]
    assert job["nprocs"] == 3
    assert job["jobid"] == owner["pid"]
    assert job["uid"] == os.getuid()
    assert job["start_time_sec"] * 10**9 + job["start_time_nsec"] == owner["origin_realtime_ns"]
    assert job["run_time"] == pytest.approx(
        max(meta["start_ns"] + meta["duration_ns"] for meta in session.meta) / 1e9, abs=1e-6
    )
    assert job["log_ver"] == "3.41"
    assert report.metadata["exe"] == " ".join(owner["command"].splitlines())[: len(report.metadata["exe"])]
    used = set(session.files["mount_point"]) - {""}
    assert used <= {point for point, _fs_type in report.mounts}
    assert not any(module["partial_flag"] for module in report.modules.values())


def test_summary_report_of_reads_of_nothing(tmp_path):
    # GIVEN
    (tmp_path / "empty").write_bytes(b"")
    with tfdarshan.profile(tmp_path / "logs") as profile:
        handle = os.open(tmp_path / "empty", os.O_RDONLY)
        assert os.read(handle, 100) == b""
        os.close(handle)

    # WHEN
    export_darshan(tfdarshan.open_session(profile.path), tmp_path / "job.darshan")

    # THEN
    assert "Per-Module Statistics: POSIX" in summary_report(tmp_path / "job.darshan", tmp_path)


def test_summary_report_is_made(log, tmp_path):
    page = summary_report(log, tmp_path)

    assert "Heat Map: HEATMAP POSIX" in page
    assert "Per-Module Statistics: STDIO" in page
    assert "Traceback" not in page


def test_one_process_is_one_rank(session, tmp_path):
    # GIVEN
    child = session.meta[2]["pid"]

    # WHEN
    exported = export_darshan(session, tmp_path / "child.darshan", process=child)

    # THEN
    assert exported.processes == 1
    report = darshan.DarshanReport(str(tmp_path / "child.darshan"), read_all=True)
    files = session.files
    mine = files[(files["pid"] == child) & (files["module"] == "POSIX")]
    assert {record["rank"] for record in report.records["POSIX"]} == {0}
    assert len(report.records["POSIX"]) == len(mine)


def test_a_process_id_of_several_hosts_is_told_apart_by_them(session, tmp_path):
    # GIVEN ranks on two hosts whose processes have one number
    session = tfdarshan.open_session(session.path)
    one, two, _ = session.meta
    two["host"], two["pid"] = "node2", one["pid"]

    # WHEN
    with pytest.raises(tfdarshan.ConfigurationError) as refused:
        export_darshan(session, tmp_path / "job.darshan", process=one["pid"])
    exported = export_darshan(session, tmp_path / "job.darshan", process=f"node2:{one['pid']}")

    # THEN
    known = f"{one['host']}:{one['pid']}, node2:{one['pid']}."
    assert f"has a process {one['pid']} on 2 hosts: give one of {known}" in str(refused.value)
    assert exported.processes == 1


def test_without_trace_there_are_no_segments_in_the_log(tmp_path):
    # GIVEN
    with tfdarshan.profile(tmp_path / "logs", trace=False) as profile:
        (tmp_path / "file").write_bytes(bytes(12_345))

    # WHEN
    exported = export_darshan(tfdarshan.open_session(profile.path), tmp_path / "job.darshan")

    # THEN
    report = darshan.DarshanReport(str(tmp_path / "job.darshan"), read_all=True)
    assert set(report.modules) == {"POSIX"}
    assert "the session has no segments" in exported.left_out[-1]


def test_dropped_segments_mark_the_log(tmp_path):
    # GIVEN a trace too small for its calls
    with tfdarshan.profile(tmp_path / "logs", memory_cap_mb=16, trace_memory_mb=1) as profile:
        handle = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
        for _ in range(100_000):
            os.pwrite(handle, b"x", 0)
        os.close(handle)
    session = tfdarshan.open_session(profile.path)
    assert session.meta[0]["counts"]["events_dropped"] > 0

    # WHEN
    export_darshan(session, tmp_path / "job.darshan")

    # THEN the counters have all of them, and the log says that its segments are not whole
    report = darshan.DarshanReport(str(tmp_path / "job.darshan"), read_all=True)
    assert_equal_counters(session, report)
    partial = {name for name, module in report.modules.items() if module["partial_flag"]}
    assert partial == {"DXT_POSIX", "HEATMAP"}


def test_long_commands_and_names_are_cut_whole(session, tmp_path):
    # GIVEN
    session = tfdarshan.open_session(session.path)
    session.meta[0]["command"] = "python -c 'one\ntwo' " + "ä" * 5_000

    # WHEN
    export_darshan(session, tmp_path / "job.darshan")

    # THEN
    report = darshan.DarshanReport(str(tmp_path / "job.darshan"), read_all=True)
    assert report.metadata["exe"].startswith("python -c 'one two' ääää")
    assert report.mounts


def test_command_line(capsys, session, tmp_path):
    out = tmp_path / "job.darshan"

    assert main(["export", "--darshan", str(out), str(session.path)]) == 0
    assert f"wrote {out}: 3 processes" in capsys.readouterr().out
    assert main(["export", "--darshan", str(out), str(session.path)]) == 1
    assert capsys.readouterr().err == (
        f"tfdarshan: {out} already exists: choose another name, or replace it with --force.\n"
    )
    assert main(["export", "--darshan", str(out), "--force", "--json", str(session.path)]) == 0
    assert '"processes": 3' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--process", "1"], "has no process 1: give one of "),
        (["--darshan", "nowhere/job.darshan"], "cannot be written: No such file or directory"),
    ],
)
def test_errors_are_one_sentence(capsys, session, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)

    assert main(["export", "--darshan", "job.darshan", *arguments, str(session.path)]) in (1, 2)

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tfdarshan: ")
    assert said in line
    assert list(tmp_path.iterdir()) == []


def test_bins_double_like_darshans():
    from tfdarshan.formats.export.heatmap import Bins, choose_bins

    assert choose_bins(0) == Bins(0.1, 1)
    assert choose_bins(20) == Bins(0.1, 200)
    assert choose_bins(20.05) == Bins(0.2, 101)
    assert choose_bins(3_600).count <= 200


def test_bytes_are_spread_over_bins_exactly():
    from tfdarshan.formats.export.heatmap import Bins, bytes_per_bin

    # GIVEN one call within a bin, one over three, one without duration, one after the last bin
    start, end = np.array([0.01, 0.05, 0.35, 9.0]), np.array([0.02, 0.25, 0.35, 9.5])
    length = np.array([7, 1_001, 5, 3])

    # WHEN
    found = bytes_per_bin(start, end, length, Bins(0.1, 4))

    # THEN
    assert found.sum() == length.sum()
    assert abs(found - [7 + 250.25, 500.5, 250.25, 8]).max() <= 1


def test_bytes_of_calls_that_all_cross_an_edge_are_spread():
    from tfdarshan.formats.export.heatmap import Bins, bytes_per_bin

    # GIVEN one call, half of it in each of two bins
    start, end, length = np.array([0.05]), np.array([0.15]), np.array([1_000])

    # WHEN
    found = bytes_per_bin(start, end, length, Bins(0.1, 3))

    # THEN
    assert found.tolist() == [500, 500, 0]
