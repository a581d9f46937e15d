"""Export, then import: what the format holds is the same, and what it cannot hold is unknown, not 0."""

import json
import os

import numpy as np
import pytest

import tfdarshan
from tests.integration.darshan_log.read_back import our_segments, read_back
from tests.joint_training import MadeUpRank, joint_training
from tests.made_up_session import job_of, write_session
from tests.pydarshan import darshan
from tfdarshan.analysis.calls.intervals import union_ns
from tfdarshan.commands import main
from tfdarshan.findings import read_parallelism
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure_leading
from tfdarshan.findings.plain import plain_diagnosis
from tfdarshan.formats.export.darshan_log import export_darshan
from tfdarshan.formats.importing.darshan_log import import_darshan
from tfdarshan.sessions import schema

KEYS = ["module", "pid", "path"]


@pytest.fixture(scope="module")
def imported(log, tmp_path_factory):
    return tfdarshan.open_session(import_darshan(log, tmp_path_factory.mktemp("imported")).path)


def sorted_files(session):
    return session.files.sort_values(KEYS, ignore_index=True)


def test_files_and_counters_are_the_same(session, imported):
    ours, theirs = sorted_files(session), sorted_files(imported)
    same = [*KEYS, "host", "mount_point", "fs_type"]
    columns = (*schema.counter_columns(), *schema.f_counter_columns())
    same += [column.name for column in columns if not column.name.startswith(("TFD_", "MMAP_"))]
    for column in same:
        assert list(ours[column]) == list(theirs[column]), column


def test_segments_are_the_same(session, imported):
    assert our_segments(imported) == our_segments(session)
    assert set(imported.events["operation"]) == {"read", "write"}
    assert imported.events["start_ns"].is_monotonic_increasing


def test_reads_of_nothing_are_counted_from_the_segments(session, imported):
    ours, theirs = sorted_files(session), sorted_files(imported)
    posix = ours["module"] == "POSIX"
    assert ours["TFD_ZERO_READS"][posix].sum() > 0
    assert list(ours["TFD_ZERO_READS"][posix]) == list(theirs["TFD_ZERO_READS"][posix])


def test_what_a_log_cannot_hold_is_unknown(imported):
    files = imported.files
    for column in (
        "TFD_FAILED_CALLS",
        "TFD_UNLINKS",
        "TFD_MMAP_BYTES",
        "TFD_COPY_READS",
        "TFD_ZERO_SEQ_READS",
        "MMAP_MAPPINGS",
    ):
        assert files[column].isna().all(), column
    assert (files["size_bytes"] == -1).all()
    for meta in imported.meta:
        assert not meta["kernel"]["valid"]
        assert meta["time"]["io_ns"] is None
        assert meta["time"]["meta_ns"] is None


def test_times_and_processes(session, imported):
    assert [meta["pid"] for meta in imported.meta] == [meta["pid"] for meta in session.meta]
    for ours, theirs in zip(session.meta, imported.meta, strict=True):
        assert theirs["origin_realtime_ns"] == ours["origin_realtime_ns"]
        assert theirs["host"] == ours["host"]
    ends = [meta["start_ns"] + meta["duration_ns"] for meta in session.meta]
    assert imported.meta[0]["duration_ns"] == max(ends)
    assert imported.meta[0]["owner"]
    assert imported.meta[0]["engine"]["name"] == "darshan log"
    # The children made STDIO reads or syncs, or both, of which there are no segments.
    assert imported.meta[0]["time"]["read_ns"] is None


def test_overview_has_all_bytes(session, imported):
    for process in imported.processes:
        overview = process.table("overview").to_pandas()
        events = process.table("events").to_pandas()
        assert overview["bytes"].sum() == events["length"].sum()
        assert overview["count"].sum() == len(events)


def test_reading_wall_clock_is_that_of_the_segments(tmp_path):
    # GIVEN POSIX reads only
    (tmp_path / "file").write_bytes(bytes(1_000_000))
    with tfdarshan.profile(tmp_path / "logs") as profile:
        for _ in range(3):
            with (tmp_path / "file").open("rb", buffering=0) as file:
                while file.read(100_000):
                    pass
    session = tfdarshan.open_session(profile.path)
    export_darshan(session, str(tmp_path / "job.darshan"))

    # WHEN
    made = import_darshan(str(tmp_path / "job.darshan"), str(tmp_path / "again"))
    imported = tfdarshan.open_session(made.path)

    # THEN
    reads = session.events[session.events["operation"] == "read"]
    expected = union_ns(reads["start_ns"].to_numpy(), reads["end_ns"].to_numpy())
    assert imported.meta[0]["time"]["read_ns"] == expected > 0
    assert imported.meta[0]["time"]["write_ns"] == 0


@pytest.mark.parametrize("ranks", [32, 33])
def test_ranks_of_one_process_id_are_told_apart(tmp_path, ranks):
    # GIVEN a job in containers, in each of which a rank has the same process id
    job = joint_training(tmp_path / "logs", [MadeUpRank([[0]], host=f"n{rank}") for rank in range(ranks)])
    assert len({process.pid for process in job.processes}) == 1
    export_darshan(job, tmp_path / "job.darshan")

    # WHEN its log is made a session, and a log again
    session = tfdarshan.open_session(import_darshan(tmp_path / "job.darshan", tmp_path / "again").path)
    export_darshan(session, tmp_path / "again.darshan")

    # THEN
    report = darshan.DarshanReport(str(tmp_path / "again.darshan"), read_all=True)
    assert sorted(record["rank"] for record in report.records["POSIX"]) == [*range(ranks)]


def test_reads_of_nothing_are_unknown_where_segments_were_dropped(tmp_path):
    # GIVEN a trace too small for its calls, half of them reads of nothing
    with tfdarshan.profile(tmp_path / "logs", memory_cap_mb=16, trace_memory_mb=1) as profile:
        handle = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
        for _ in range(50_000):
            os.pwrite(handle, b"x", 0)
            os.pread(handle, 1, 10)
        os.close(handle)
    export_darshan(tfdarshan.open_session(profile.path), tmp_path / "job.darshan")

    # WHEN
    imported = tfdarshan.open_session(import_darshan(tmp_path / "job.darshan", tmp_path / "again").path)

    # THEN
    file = imported.files.set_index("path").loc[str(tmp_path / "file")]
    assert file["POSIX_READS"] == 50_000
    assert np.isnan(file["TFD_ZERO_READS"])
    assert imported.meta[0]["time"]["read_ns"] is None
    assert len(imported.meta[0]["bounds"]) == 1
    summary = imported.summary(verbose=True)
    assert "Darshan's DXT_POSIX module ran out of memory or records: some are missing." in summary
    assert "  0 - 100 B " in summary


def test_log_of_an_import_is_the_same_log(log, report, imported, tmp_path):
    # WHEN
    export_darshan(imported, tmp_path / "again.darshan")

    # THEN
    again = darshan.DarshanReport(str(tmp_path / "again.darshan"), read_all=True)
    assert read_back(again) == read_back(report)
    for name in ("uid", "jobid", "nprocs", "start_time_sec", "start_time_nsec", "end_time_nsec"):
        assert again.metadata["job"][name] == report.metadata["job"][name]
    for module in ("POSIX", "STDIO"):
        first, second = report.heatmaps[module], again.heatmaps.get(module)
        if module == "POSIX":
            assert np.array_equal(first.to_df(["read"]).sum(), second.to_df(["read"]).sum())


def test_summary_says_what_is_not_known(capsys, monkeypatch, imported):
    # The session's path, which is printed whole, may be of any length.
    monkeypatch.chdir(imported.path.parent)
    assert main(["summary", "-v", imported.path.name]) == 0
    text = capsys.readouterr().out
    assert "engine darshan log" in text
    assert "summed over files" in text
    assert (
        "Not in the log: other segments, threads, failed calls, file sizes, wall-clock times, coverage\n"
        in text
    )
    assert "Coverage" not in text
    assert max(map(len, text.splitlines())) <= 100

    assert main(["summary", "--json", str(imported.path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["wall_clock"]["io_s"] is None
    assert data["unlinks"] is None
    assert data["threads"] is None
    assert data["posix"]["zero_length_reads"] > 0


def test_files_json_has_null_for_what_is_unknown(capsys, imported):
    assert main(["files", "--json", "--limit", "3", str(imported.path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {row["TFD_UNLINKS"] for row in data["files"]} == {None}
    assert main(["files", str(imported.path)]) == 0


def test_a_log_says_of_no_thread_that_it_is_the_main_one(tmp_path):
    # GIVEN a pipeline's two threads that read one after the other, each read after the other's, and its log
    calls = [
        (n * 10_000_000, n * 10_000_000 + 9_000_000, 101 + n % 2, "pread", n, 100_000) for n in range(200)
    ]
    paths = [f"/data/{number}.jpg" for number in range(200)]
    job = job_of(calls, paths, [100_000] * 200, meta={"command": "python train.py"})
    session = write_session(tmp_path / "logs", job)
    export_darshan(session, tmp_path / "job.darshan")

    # WHEN
    log = tfdarshan.open_session(import_darshan(tmp_path / "job.darshan", tmp_path / "again").path)

    # THEN who reads is not known: neither findings nor fixes say that it is the main thread
    # ... not even the finding on readers, whether or not its fix gives enough to be told.
    serial = [read_parallelism.find(measure_leading(one)) for one in (session, log)]
    assert [one.title for one in serial] == ["reads are serial (queue depth 1)"] * 2
    said = json.dumps([plain_diagnosis(diagnose(one)) for one in (session, log)]) + str(serial)
    assert "the main thread" not in said
    assert "the loop reads its input itself" not in said
