"""Darshan logs in a fleet: their light reading against `tfdarshan summary`, which imports them."""

from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tests.fleet_population import FIRST_DAY_S, MadeJob, write_log, write_population
from tests.integration.fleet.equal import assert_equal_to_summary, rows_of
from tests.pydarshan import darshan
from tfdarshan.fleet.log_row import row_of_log
from tfdarshan.fleet.session_row import row_of_session
from tfdarshan.formats import darshan_format
from tfdarshan.formats.export.darshan_log import export_darshan
from tfdarshan.formats.importing.darshan_log import import_darshan
from tfdarshan.formats.importing.dxt_segments import read_segments
from tfdarshan.formats.importing.light_records import read_light
from tfdarshan.formats.importing.log_regions import LogRegions
from tfdarshan.formats.importing.pydarshan import read_content

LOGS = sorted(Path(darshan.__file__).parent.rglob("*.darshan"))
# Of log versions 3.10 and 3.21, with records of both versions; many ranks; DXT and HDF5; one without POSIX.
CHOSEN = ("example", "noposix", "dxt", "sample-dxt-simple", "ior_hdf5_example")
SMALL = [next(path for path in LOGS if path.stem == name) for name in CHOSEN]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.name[:24]}")
def test_records_are_those_that_pydarshan_reads(path):
    # WHEN
    _log, light = read_light(path)
    full = read_content(LogRegions(path))

    # THEN
    for name in ("user", "job", "processes", "start_realtime_ns", "end_realtime_ns", "command", "mounts"):
        assert getattr(light, name) == getattr(full, name), name
    assert light.metadata == full.metadata
    assert light.records.keys() == full.records.keys()
    for module, part in full.records.items():
        mine = light.records[module]
        assert np.array_equal(mine.record, part.record)
        assert np.array_equal(mine.rank, part.rank)
        for name, values in (part.counters | part.f_counters).items():
            assert np.array_equal((mine.counters | mine.f_counters)[name], values), name


def test_rows_are_equal_to_summaries_before_and_after_findings(tmp_path, capsys):
    # GIVEN logs of Darshan's own of several versions, and made ones
    folder = tmp_path / "in"
    made = write_population(folder, 6, losers=2)
    for path in SMALL:
        (folder / f"{path.parent.name}-{path.name}").write_bytes(path.read_bytes())
    where = (str(folder), "--catalogue", str(tmp_path / "catalogue"))

    # WHEN
    light, _said = rows_of(capsys, *where, "--findings", "0")
    full, said = rows_of(capsys, *where, "--findings", "100")

    # THEN
    assert said["read"] == 0
    assert len(light) == len(full) == len(made.jobs) + len(SMALL)
    assert {row["verdict"] for row in light.values()} == {None}
    for path, row in full.items():
        if row["state"] != "read":
            assert row["state"] == light[path]["state"] == "no_records"
            continue
        assert row["verdict"] is not None
        said = assert_equal_to_summary(row, capsys)
        assert_equal_to_summary(light[path], capsys, said)


def hosts_said(path):
    found = read_segments(LogRegions(path))
    return None if found is None else found.hosts


def test_hosts_of_a_log_are_those_of_its_segments_also_of_files_that_all_ranks_shared(tmp_path):
    # GIVEN a log of four ranks on two hosts, which have all files together
    path, hosts = tmp_path / "a.darshan", ("n1", "n1", "n0", "n0")
    made = MadeJob(path, "ada", "train.py", "/scratch", FIRST_DAY_S, 100.0, 4)
    write_log(made, [{"path": "/scratch/x", "POSIX_READS": 4, "POSIX_BYTES_READ": 4}], hosts=hosts)

    # WHEN it is looked at as a whole, made a session, and a log again
    row = row_of_log(str(path), "", findings=True)
    session = tfdarshan.open_session(import_darshan(path, tmp_path / "logs").path)
    export_darshan(session, tmp_path / "again.darshan")

    # THEN all of them have both hosts
    assert (row["hosts"], row["nodes"]) == ("n0,n1", 2)
    of_session = row_of_session(str(session.path), "")
    assert (of_session["hosts"], of_session["nodes"]) == ("n0,n1", 2)
    assert hosts_said(tmp_path / "again.darshan") == hosts_said(path) == dict(enumerate(hosts))


@pytest.mark.parametrize(("processes", "nodes"), [(1, 1), (2, 2), (64, None)])
def test_ranks_without_segments_may_have_had_other_nodes(tmp_path, processes, nodes):
    # GIVEN a log whose first ranks alone read, on a host each
    path, hosts = tmp_path / "a.darshan", [f"n{rank}" for rank in range(min(processes, 2))]
    made = MadeJob(path, "ada", "train.py", "/scratch", FIRST_DAY_S, 100.0, processes)
    reads = {"POSIX_READS": len(hosts), "POSIX_BYTES_READ": len(hosts)}
    write_log(made, [{"path": "/scratch/x", **reads}], hosts=hosts)

    # WHEN
    of_log = row_of_log(str(path), "", findings=True)
    of_session = row_of_session(str(import_darshan(path, tmp_path / "logs").path), "")

    # THEN
    for row in (of_log, of_session):
        assert (row["hosts"], row["nodes"]) == (",".join(hosts), nodes)


def test_a_session_of_a_log_without_segments_is_of_no_known_host(tmp_path):
    # GIVEN
    made = MadeJob(tmp_path / "a.darshan", "ada", "train.py", "/scratch", FIRST_DAY_S, 100.0, 4)
    write_log(made, [{"path": "/scratch/x", "POSIX_OPENS": 4}])

    # WHEN
    row = row_of_session(str(import_darshan(made.path, tmp_path / "logs").path), "")

    # THEN
    assert (row["hosts"], row["nodes"]) == (None, None)


def test_a_log_that_is_damaged_where_rows_do_not_look_keeps_its_figures(tmp_path):
    # GIVEN a log of which all but the POSIX records is noise
    source = next(path for path in LOGS if path.name == "sample-dxt-simple.darshan")
    content = bytearray(source.read_bytes())
    header = np.frombuffer(bytes(content), darshan_format.OLD_HEADER, 1)[0]
    for offset, length in header["modules"][2:].tolist():
        content[offset : offset + length] = bytes(length)
    path = tmp_path / "a.darshan"
    path.write_bytes(content)

    # WHEN
    row = row_of_log(str(path), "", findings=True)

    # THEN
    assert (row["state"], row["verdict"]) == ("read", "unknown")
    assert row["doubts"][-1].startswith("not all of the log can be read: ")
