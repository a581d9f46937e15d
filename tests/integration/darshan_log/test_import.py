"""Logs of other makers: those that PyDarshan ships, and damaged ones."""

import bz2
import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tests.conftest import LIBDARSHAN
from tests.integration.darshan_log.read_back import summary_report
from tests.pydarshan import darshan
from tfdarshan.commands import main
from tfdarshan.file_name import exact_name
from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.darshan_log import export_darshan
from tfdarshan.formats.importing.darshan_log import import_darshan
from tfdarshan.formats.importing.dxt_segments import read_segments
from tfdarshan.formats.importing.log_regions import OLD_VERSIONS, LogRegions
from tfdarshan.formats.importing.region_records import SHAPES
from tfdarshan.sessions import schema

LOGS = sorted(Path(darshan.__file__).parent.rglob("*.darshan"))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_shipped_logs_have_pydarshans_numbers(path, tmp_path):
    # WHEN
    imported = import_darshan(path, tmp_path)

    # THEN every counter is PyDarshan's, or null for its -1
    report = darshan.DarshanReport(str(path), read_all=True)
    session = tfdarshan.open_session(imported.path)
    fifos = fifos_of(path, report)
    for module in ("POSIX", "STDIO"):
        files = session.files
        rows = files[files["module"] == module]
        records = list(report.records[module]) if module in report.records else []
        records = [record for record in records if record["id"] not in fifos]
        assert len(rows) == len(records)
        for name in report.counters.get(module, {}).get("counters", ()):
            place = report.counters[module]["counters"].index(name)
            theirs = sorted(int(record["counters"][place]) for record in records)
            assert sorted(rows[name].fillna(-1).astype(np.int64)) == theirs, name
    counts = [column.name for column in schema.counter_columns() if column.unit == "calls"]
    assert not (session.files[counts] < 0).any(axis=None)
    segments = sum(
        record["read_count"] + record["write_count"]
        for record in report.records.get("DXT_POSIX", [])
        if record["id"] not in fifos
    )
    assert len(session.events) == imported.segments == segments
    assert session.events["path"].ne("").all()
    assert session.summary()
    assert {(mount["point"], mount["fs_type"]) for mount in session.meta[0]["mounts"]} == set(report.mounts)
    assert session.meta[0]["command"].startswith(report.metadata["exe"].strip())


def fifos_of(path, report):
    """The ids of the FIFOs of a shipped log: those of COMPSs, through which its workers get their jobs."""
    if path.name != "dxt.darshan":
        return set()
    return {number for number, name in report.name_records.items() if "/localhost/pipe_" in name}


def shipped(name):
    return next(path for path in LOGS if path.name == name)


def records_of(path, module):
    """PyDarshan's records of a log by rank and id; a log may have a file twice."""
    report = darshan.DarshanReport(str(path), read_all=True)
    fifos = fifos_of(path, report)
    return sorted(
        (record["rank"], record["id"], record["counters"].tolist(), record["fcounters"].tolist())
        for record in report.records.get(module, ())
        if record["id"] not in fifos
    )


def segments_of(path):
    found = read_segments(LogRegions(path))
    if found is None:
        return []
    columns = (
        found.record,
        found.rank,
        found.is_read,
        found.offset,
        found.length,
        found.start_ns,
        found.end_ns,
    )
    fifos = fifos_of(path, darshan.DarshanReport(str(path), read_all=True))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return sorted(row for row in rows if row[0] not in fifos)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_shipped_logs_come_back_as_they_were(path, tmp_path):
    # GIVEN a session made of a log
    session = tfdarshan.open_session(import_darshan(path, tmp_path).path)

    # WHEN it is made a log again
    export_darshan(session, tmp_path / "again.darshan")

    # THEN PyDarshan finds the same records in it, and it has the same segments
    for module in ("POSIX", "STDIO"):
        assert records_of(tmp_path / "again.darshan", module) == records_of(path, module)
    assert segments_of(tmp_path / "again.darshan") == segments_of(path)


def with_bzip2(path, to):
    """Write a log with its regions in the other compression and each name once, as darshan-convert does."""
    content, log = path.read_bytes(), LogRegions(path)
    layout = darshan_format.OLD_HEADER if log.version in OLD_VERSIONS else darshan_format.HEADER
    header = np.frombuffer(content, layout, 1).copy()
    names = b"".join(
        number.to_bytes(8, "little") + exact_name(name).encode() + b"\0" for number, name in log.names.items()
    )
    packed = bz2.compress(log.job)
    header_names = header["names"][0]
    for place in [header_names, *header["modules"][0]]:
        if place["length"]:
            old = content[place["offset"] : place["offset"] + place["length"]]
            region = bz2.compress(names if place is header_names else unpacked(old))
            place["offset"], place["length"] = header.nbytes + len(packed), len(region)
            packed += region
    header["compression"] = darshan_format.BZIP2
    to.write_bytes(header.tobytes() + packed)
    return to


def unpacked(region):
    parts = []
    while region:
        stream = zlib.decompressobj()
        parts.append(stream.decompress(region))
        region = stream.unused_data
    return b"".join(parts)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_log_is_the_same_in_bzip2(path, tmp_path):
    # GIVEN
    zlibs = LogRegions(path)

    # WHEN
    bzip2s = LogRegions(with_bzip2(path, tmp_path / path.name))

    # THEN
    assert (bzip2s.job, bzip2s.names) == (zlibs.job, zlibs.names)
    assert bzip2s.module_versions == zlibs.module_versions
    for module, version in zlibs.module_versions.items():
        if version in SHAPES[module]:
            assert bzip2s.content(module) == zlibs.content(module), module
            assert bzip2s.count(module) == zlibs.count(module) > 0, module


def test_thousands_of_ranks_share_one_set_of_tables(tmp_path):
    # GIVEN a log of 2,048 ranks
    path = shipped("sample-badost.darshan")

    # WHEN it is imported
    imported = import_darshan(path, tmp_path)

    # THEN there are two sets of four files, of the ranks and of what they shared, and each row has its rank;
    # and one file for the striping on Lustre
    session = tfdarshan.open_session(imported.path)
    assert len(list(imported.path.iterdir())) == 9
    assert imported.processes == 2048
    assert sorted(set(session.files["pid"])) == [-1, *range(2048)]
    summary = session.summary(verbose=True)
    assert "2,048 processes" in summary
    assert "(process -1)" not in summary
    assert "2,048 ranks share one set of tables, for they are more than 32: the rows name the rank" in summary
    assert "process 0: " not in summary
    assert "process -1: " not in summary


def test_many_children_come_back_with_their_process_ids(tmp_path):
    # GIVEN a session of 40 children, each of which reads the same file its own number of times
    (tmp_path / "data").write_bytes(bytes(1000))
    with tfdarshan.profile(tmp_path / "logs", include=[f"{tmp_path}/data"]) as profile:
        for number in range(40):
            child = os.fork()
            if child == 0:
                handle = os.open(tmp_path / "data", os.O_RDONLY)
                for _ in range(number + 1):
                    os.pread(handle, 10, number)
                os._exit(0)
            os.waitpid(child, 0)
    export_darshan(tfdarshan.open_session(profile.path), tmp_path / "job.darshan")

    # WHEN its log is imported
    session = tfdarshan.open_session(import_darshan(tmp_path / "job.darshan", tmp_path / "again").path)

    # THEN all are in one set of tables, and each row has the id of its process, in both tables
    recorded = profile.files.set_index("pid")["POSIX_READS"]
    recorded = recorded[recorded > 0].to_dict()
    assert sorted(recorded.values()) == list(range(1, 41))
    files = session.files[session.files["POSIX_READS"] > 0]
    assert len(session.processes) == 1
    assert files.set_index("pid")["POSIX_READS"].to_dict() == recorded
    assert session.events.groupby("pid").size().to_dict() == recorded
    assert set(files["host"]) == set(profile.files["host"])

    # and a log of it is the same log
    export_darshan(session, tmp_path / "again.darshan")
    assert records_of(tmp_path / "again.darshan", "POSIX") == records_of(tmp_path / "job.darshan", "POSIX")
    assert segments_of(tmp_path / "again.darshan") == segments_of(tmp_path / "job.darshan")


def test_shared_records_are_one_process_and_their_segments_name_the_rank(tmp_path):
    path = shipped("ior_hdf5_example.darshan")

    session = tfdarshan.open_session(import_darshan(path, tmp_path).path)

    assert [meta["darshan"]["rank"] for meta in session.meta] == [0, -1]
    shared = session.files[session.files["pid"] == -1]
    assert list(shared["path"]) == ["/global/cscratch1/sd/ssnyder/test123.h5"]
    events = session.events
    assert set(events["pid"]) == {-1}
    assert set(events["tid"]) == {0, 1, 2, 3}
    assert session.meta[0]["darshan"]["not_known"][-2] == "DXT_MPIIO: these records were left out"

    # and a log of it is Darshan's again
    export_darshan(session, tmp_path / "again.darshan")
    first, again = (
        darshan.DarshanReport(str(log), read_all=True) for log in (path, tmp_path / "again.darshan")
    )
    for module in ("POSIX", "STDIO"):
        ours, theirs = again.records[module].to_df(), first.records[module].to_df()
        for kind in ("counters", "fcounters"):
            assert ours[kind].equals(theirs[kind])
    assert sum(again.heatmaps["POSIX"].to_df(["read"]).sum()) == 4_202_504
    assert set(again.heatmaps["POSIX"].to_df(["read"]).index) == {0, 1, 2, 3}
    summary_report(tmp_path / "again.darshan", tmp_path)


def test_version_2_segments_have_their_threads(log, monkeypatch):
    # GIVEN an exported log whose segments are rewritten as version 2, with a thread each
    regions = LogRegions(log)
    old = read_segments(regions)
    head, layout = darshan_format.DXT_RECORD, darshan_format.SEGMENTS[1]
    region, place, parts = regions.content("DXT_POSIX"), 0, []
    while place < len(region):
        record = np.frombuffer(region, head, 1, place)[0]
        count = int(record["reads"] + record["writes"])
        segments = np.zeros(count, darshan_format.SEGMENTS[2])
        for name in layout.names:
            segments[name] = np.frombuffer(region, layout, count, place + head.itemsize)[name]
        segments["thread"] = 0x7F00_0000_0000 + np.arange(count) % 3
        parts.append(record.tobytes() + segments.tobytes())
        place += head.itemsize + count * layout.itemsize
    monkeypatch.setattr(regions, "content", lambda _module: b"".join(parts))
    regions.module_versions["DXT_POSIX"] = 2

    # WHEN
    new = read_segments(regions)

    # THEN
    assert set(new.thread.tolist()) == {0x7F00_0000_0000, 0x7F00_0000_0001, 0x7F00_0000_0002}
    for name in ("record", "rank", "is_read", "offset", "length", "start_ns", "end_ns"):
        assert np.array_equal(getattr(new, name), getattr(old, name)), name


def fails_with(capfd, path, tmp_path):
    """Import a log that cannot be, and return the one line it says."""
    assert main(["import", str(path), "--logdir", str(tmp_path / "logs")]) in (1, 2)
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("tfdarshan: ")
    assert not any((tmp_path / "logs").rglob("*.parquet"))
    return line


@pytest.mark.parametrize("kept", [0, 5, 300, 1_400, 0.3, 0.5, 0.8, 0.99])
def test_cut_logs_are_damaged(capfd, log, tmp_path, kept):
    content = log.read_bytes()
    path = tmp_path / "cut.darshan"
    path.write_bytes(content[: kept if isinstance(kept, int) else int(kept * len(content))])

    said = fails_with(capfd, path, tmp_path)

    assert "is damaged" in said or "is not a Darshan log" in said


def test_every_kind_of_noise_is_one_sentence_or_nothing(capfd, log, tmp_path):
    # GIVEN
    content = bytearray(log.read_bytes())
    choice = np.random.default_rng(1)
    outcomes = set()
    header = np.frombuffer(content, darshan_format.HEADER, 1)[0]
    end = int(header["modules"][darshan_format.MODULE_IDS["HEATMAP"]]["offset"])  # the last, and not read
    for place in [*range(0, 1_328, 83), *choice.integers(1_328, end, 40).tolist()]:
        damaged = content.copy()
        damaged[place] ^= 0xFF
        path = tmp_path / "noise.darshan"
        path.write_bytes(damaged)

        # WHEN
        code = main(["import", str(path), "--logdir", str(tmp_path / "logs")])

        # THEN checksums find all there is to find in compressed data
        said = capfd.readouterr().err.splitlines()
        assert len(said) == (code != 0), (place, said)
        assert code != 0 or place < 1_328, place
        outcomes.add(code)
    assert 1 in outcomes


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not a Darshan log"),
        (b"hello, world\n" * 500, "is not a Darshan log"),
        (b"3.41\0\0\0\0" + bytes(2_000), "its header has no magic number"),
        (b"9.99\0\0\0\0" + bytes(2_000), "is a Darshan log of version 9.99, and tfdarshan reads 3.00, "),
    ],
)
def test_what_is_no_log(capfd, tmp_path, content, why):
    path = tmp_path / "file"
    path.write_bytes(content)

    assert why in fails_with(capfd, path, tmp_path)


def test_region_that_the_header_has_too_short(capfd, log, tmp_path):
    # GIVEN a header that says less of the POSIX region than there is
    content = bytearray(log.read_bytes())
    header = np.frombuffer(content, darshan_format.HEADER, 1)[0:1]
    header["modules"][0][darshan_format.MODULE_IDS["POSIX"]]["length"] -= 10
    path = tmp_path / "short.darshan"
    path.write_bytes(content)

    assert fails_with(capfd, path, tmp_path) == (
        f"tfdarshan: the Darshan log {path} is damaged: its POSIX data cannot be decompressed. "
        "Get another copy of it."
    )


def test_missing_log(capfd, tmp_path):
    said = fails_with(capfd, tmp_path / "none", tmp_path)

    assert said == (
        f"tfdarshan: the log {tmp_path / 'none'} cannot be read: No such file or directory; give a Darshan "
        "log "
        "that you can read."
    )


def test_without_pydarshan_the_way_to_it_is_named(log, tmp_path):
    # GIVEN an interpreter that has no PyDarshan
    program = (
        "import sys; sys.modules['darshan'] = None; from tfdarshan.commands import main; "
        f"sys.exit(main(['import', {str(log)!r}, '--logdir', {str(tmp_path)!r}]))"
    )

    # WHEN
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    # THEN
    assert done.returncode == 2
    assert "install it with `pip install 'tfdarshan[darshan]'`" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.darshan
def test_log_of_an_unmodified_libdarshan(tmp_path):
    # GIVEN a log with segments of two threads
    if not LIBDARSHAN:
        pytest.skip("no libdarshan: set TFDARSHAN_DARSHAN_LIBRARY to the libdarshan.so to test with")
    (tmp_path / "data").write_bytes(bytes(100_000))
    program = (
        "import os, sys, threading\n"
        "def work():\n"
        "    handle = os.open(sys.argv[1], os.O_RDONLY)\n"
        "    while os.read(handle, 30_000): pass\n"
        "    os.close(handle)\n"
        "threads = [threading.Thread(target=work) for _ in range(2)]\n"
        "for thread in threads: thread.start(); thread.join()\n"
    )
    log = tmp_path / "real.darshan"
    environment = {
        "LD_PRELOAD": LIBDARSHAN,
        "DARSHAN_ENABLE_NONMPI": "1",
        "DARSHAN_LOGFILE": str(log),
        "DXT_ENABLE_IO_TRACE": "1",
        "DARSHAN_EXCLUDE_DIRS": "none",
    }
    python = os.path.realpath(sys.executable)
    command = [python, "-S", "-E", "-c", program, str(tmp_path / "data")]
    subprocess.run(command, env={**os.environ, **environment}, check=True)

    # WHEN
    session = tfdarshan.open_session(import_darshan(log, tmp_path / "logs").path)

    # THEN
    files = session.files.set_index("path").loc[str(tmp_path / "data")]
    events = session.events[session.events["path"] == str(tmp_path / "data")]
    assert (files["POSIX_OPENS"], files["POSIX_READS"], files["TFD_ZERO_READS"]) == (2, 10, 2)
    assert sorted(events["length"]) == [0, 0, 10_000, 10_000, *[30_000] * 6]
    assert (events["pid"] == session.meta[0]["pid"]).all()
    # Darshan 3.5.0 puts stray bytes after a command's first line, at which PyDarshan fails.
    assert session.meta[0]["command"].startswith(f"{python} -S -E -c import os, sys, threading")
    assert "" not in set(files[["mount_point", "fs_type"]])
    if LogRegions(log).module_versions["DXT_POSIX"] == 2:
        assert len(set(events["tid"])) in (1, 2)
