"""MPI-IO, HDF5, PnetCDF and Lustre records, and FIFOs: PyDarshan's numbers, wherever they are shown."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tfdarshan
from tests.pydarshan import darshan
from tfdarshan.analysis.files.log_layers import Layer, LogLayers
from tfdarshan.commands import main
from tfdarshan.formats import darshan_format
from tfdarshan.formats.importing import layers as layers_table
from tfdarshan.formats.importing.darshan_log import import_darshan
from tfdarshan.formats.importing.fifo_records import find_no_files
from tfdarshan.formats.importing.pydarshan import Records
from tfdarshan.reports.text.layers_text import layer_facts, no_files_text
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.view_source import Source

LOGS = sorted(Path(darshan.__file__).parent.rglob("*.darshan"))
# Each column by PyDarshan's counters, worked out from Darshan's documentation, apart from the package.
ADDED = {
    "MPI-IO": {
        "opens": "INDEP_OPENS COLL_OPENS",
        "reads": "INDEP_READS COLL_READS SPLIT_READS NB_READS",
        "writes": "INDEP_WRITES COLL_WRITES SPLIT_WRITES NB_WRITES",
        "collective": "COLL_READS COLL_WRITES",
        "bytes_read": "BYTES_READ",
        "bytes_written": "BYTES_WRITTEN",
        "read_s": "F_READ_TIME",
        "write_s": "F_WRITE_TIME",
        "meta_s": "F_META_TIME",
    },
    "H5F": {"opens": "OPENS", "meta_s": "F_META_TIME"},
    "H5D": {
        "opens": "OPENS",
        "reads": "READS",
        "writes": "WRITES",
        "bytes_read": "BYTES_READ",
        "bytes_written": "BYTES_WRITTEN",
        "read_s": "F_READ_TIME",
        "write_s": "F_WRITE_TIME",
        "meta_s": "F_META_TIME",
    },
}


def shipped(name):
    return next(path for path in LOGS if path.name.startswith(name))


def theirs(report, module):
    """PyDarshan's sums of a module, by our columns, and its number of records."""
    records = list(report.records[module])
    names = [*report.counters[module]["counters"], *report.counters[module]["fcounters"]]
    values = np.array([[*record["counters"], *record["fcounters"]] for record in records])
    prefix = f"{module.replace('-', '')}_"
    return len(records), {
        column: sum(values[:, names.index(prefix + counter)].sum() for counter in counters.split())
        for column, counters in ADDED[module].items()
    }


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_layers_have_pydarshans_numbers(path, tmp_path, capsys):
    # GIVEN what PyDarshan says
    report = darshan.DarshanReport(str(path), read_all=True)
    session = tfdarshan.open_session(import_darshan(path, tmp_path).path)

    # WHEN
    assert main(["summary", "--json", str(session.path)]) == 0
    shown = json.loads(capsys.readouterr().out)["log"]
    summed = {layer["module"]: layer for layer in shown["layers"]}

    # THEN sums, and rows by record, are its own
    present = [module for module in ADDED if module in report.records]
    assert list(summed) == present
    for module in present:
        records, sums = theirs(report, module)
        assert summed[module]["records"] == records
        assert (session.layers["module"] == module).sum() == records
        for column in ("opens", "reads", "writes", "collective", "bytes_read", "bytes_written"):
            assert summed[module][column] == sums.get(column), (module, column)
        for column in ("read_s", "write_s", "meta_s"):
            assert summed[module][column] == (pytest.approx(sums[column]) if column in sums else None)
    assert (shown["striping"] is None) == ("LUSTRE" not in report.records)


@pytest.mark.parametrize("name", ["example", "sample-badost", "ior_hdf5", "noposix.", "sample-goodost"])
def test_striping_is_lustres(name, tmp_path, capsys):
    # GIVEN
    path = shipped(name)
    records = list(darshan.DarshanReport(str(path), read_all=True).records["LUSTRE"])

    # WHEN
    session = tfdarshan.open_session(import_darshan(path, tmp_path).path)
    rows = session.layers[session.layers["module"] == "LUSTRE"]

    # THEN
    assert len(rows) == len(records)
    expected = sorted(
        (
            int(part["counters"][1]),
            int(part["counters"][0]),
            ",".join(map(str, part["ost_ids"].tolist())),
        )
        for record in records
        for part in record["components"]
    )
    columns = (rows["stripe_count"].astype(int), rows["stripe_size_bytes"].astype(int), rows["osts"])
    assert sorted(zip(*map(list, columns), strict=True)) == expected

    # and the summary says how many of what size on how many targets
    assert main(["summary", str(session.path)]) == 0
    osts = {ost for _, _, text in expected for ost in text.split(",")}
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Lustre ")]
    assert f"on {len(osts)} OST" in line
    assert f"of {expected[0][1] >> 20} MiB" in line


def test_summary_and_files_show_layers_in_lines(tmp_path, capsys):
    session = tfdarshan.open_session(import_darshan(shipped("ior_hdf5"), tmp_path).path)

    assert main(["summary", str(session.path)]) == 0
    brief = " ".join(capsys.readouterr().out.split())
    assert "MPI-IO: 17 opens, 4.2 MB read, 4.2 MB written, 805.6 ms in calls" in brief
    assert "HDF5 files: 6 opens, 388.1 ms in calls" in brief
    assert "Lustre 1 file, 1 stripe of 1 MiB, on 1 OST" in brief

    (table,) = [panel for panel in VIEWS["overview"][1](Source(session)) if panel.kind == "table"][:1]
    assert (table.title, len(table.rows)) == ("Other layers of the log", 3)

    assert main(["summary", "-v", str(session.path)]) == 0
    text = capsys.readouterr().out
    (row,) = [line.split() for line in text.splitlines() if line.startswith("  HDF5 files")]
    assert row == ["HDF5", "files", "6", *"-------", "388.1", "ms"]

    assert main(["files", str(session.path), "--module", "LUSTRE"]) == 0
    assert "test123.h5 (1 stripe of 1 MiB, OSTs 106)" in " ".join(capsys.readouterr().out.split())
    assert main(["files", str(session.path), "--module", "H5D", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == []
    assert [row["reads"] for row in found["layers"]] == [4, 4, 4]
    assert {row["stripe_count"] for row in found["layers"]} == {None}


def test_fifos_are_left_out_of_the_time_and_said(tmp_path, capsys):
    # GIVEN a log whose workers wait for hours in FIFOs
    path = shipped("dxt")
    report = darshan.DarshanReport(str(path), read_all=True)
    names, kinds = report.name_records, report.counters["POSIX"]
    fifos: list = []
    files: list = []
    for record in report.records["POSIX"]:
        (fifos if "/localhost/pipe_" in names[record["id"]] else files).append(record)
    assert len(fifos) == 128

    def summed(records, *counters):
        places = [kinds["fcounters"].index(f"POSIX_F_{counter}_TIME") for counter in counters]
        return sum(float(record["fcounters"][place]) for record in records for place in places)

    # WHEN
    session = tfdarshan.open_session(import_darshan(path, tmp_path).path)
    assert main(["summary", "--json", str(session.path)]) == 0
    shown = json.loads(capsys.readouterr().out)

    # THEN their time is that of no file, and is said with their number
    (left_out,) = shown["log"]["no_files"]
    assert (left_out["module"], left_out["records"]) == ("FIFO", 128)
    whole = summed(fifos, "READ", "WRITE", "META")
    assert sum(left_out[name] for name in ("read_s", "write_s", "meta_s")) == pytest.approx(whole)
    assert sum(shown["file_time"].values()) == pytest.approx(
        summed(files, "READ", "WRITE", "META")
        + float(session.files[[f"STDIO_F_{kind}_TIME" for kind in ("READ", "WRITE", "META")]].sum().sum())
    )
    assert not session.files["path"].str.contains("/pipe_").any()
    assert not session.events["path"].astype(str).str.contains("/pipe_").any()
    assert main(["summary", str(session.path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "No files 128 FIFOs with 202 reads and writes and 11,218 s in calls: left out of the time" in said


def records_named(*names, seeks=0):
    ids = np.arange(1, len(names) + 1, dtype=np.uint64)
    counts = {f"POSIX_{name}": np.full(len(names), seeks) for name in ("SEEKS", "MMAPS")}
    times = {f"POSIX_F_{kind}_TIME": np.ones(len(names)) for kind in ("READ", "WRITE", "META")}
    records = {"POSIX": Records(ids, np.zeros(len(names), np.int64), counts, times)}
    return records, dict(zip(ids.tolist(), names, strict=True))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("/tmp/pipe_17", "FIFO"),
        ("/run/job.fifo", "FIFO"),
        ("/tmp/in-pipe", "FIFO"),
        ("/run/docker.sock", "SOCKET"),
        ("pipe:[123]", "FIFO"),
        ("socket:[123]", "SOCKET"),
        ("/data/pipe_17.jpg", None),
        ("/data/pipeline", None),
        ("/data/stockings", None),
        ("/pipe/x", None),
    ],
)
def test_names_say_what_is_no_file(name, kind):
    assert find_no_files(*records_named(name)).get(1) == kind


def test_what_was_sought_in_is_a_file():
    assert find_no_files(*records_named("/tmp/pipe_17", seeks=1)) == {}


def test_what_was_sought_in_through_one_module_is_a_file_for_both():
    # GIVEN a file that was sought in by POSIX calls, and read by STDIO calls alone
    records, names = records_named("/tmp/pipe_17", seeks=1)
    one = records["POSIX"]
    times = {name.replace("POSIX", "STDIO"): values for name, values in one.f_counters.items()}
    records["STDIO"] = Records(one.record, one.rank, {"STDIO_SEEKS": np.zeros(1, np.int64)}, times)

    # WHEN / THEN
    assert find_no_files(records, names) == {}


def test_a_name_that_is_a_fifo_here_is_one(tmp_path):
    os.mkfifo(tmp_path / "commands")
    (tmp_path / "data").write_bytes(b"x")

    found = find_no_files(*records_named(f"{tmp_path}/commands", f"{tmp_path}/data", f"{tmp_path}/gone"))

    assert found == {1: "FIFO"}


def test_a_module_that_the_log_lacks_has_no_zeros(tmp_path, capsys):
    session = tfdarshan.open_session(import_darshan(shipped("noposix."), tmp_path).path)

    assert main(["summary", "-v", str(session.path)]) == 0
    (head,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Calls ")]
    assert head.split() == ["Calls", "STDIO"]


def test_calls_of_all_kinds_are_summed_by_their_counters():
    # GIVEN PyDarshan's names of the counters: no shipped log has PnetCDF's, or calls of all kinds of MPI-IO
    backend = __import__("darshan.backend.cffi_backend", fromlist=["counter_names"])

    class Handle:
        def __init__(self, module):
            self.left = 2
            self.names = (backend.counter_names(module), backend.fcounter_names(module))

    class Backend:
        counter_names, fcounter_names = backend.counter_names, backend.fcounter_names

        @staticmethod
        def log_get_generic_record(handle, module, dtype):
            handle.left -= 1
            counters, f_counters = handle.names
            record = {"id": 7, "rank": -1, "counters": np.arange(len(counters)) * (handle.left + 1)}
            return record | {"fcounters": np.arange(len(f_counters)) / 2} if handle.left >= 0 else None

    mpi = ("INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS")
    for module, reads, opens in (
        ("MPI-IO", mpi, ("MPIIO_INDEP_OPENS", "MPIIO_COLL_OPENS")),
        ("PNETCDF_FILE", (), ("PNETCDF_FILE_CREATES", "PNETCDF_FILE_OPENS")),
        ("PNETCDF_VAR", ("INDEP_READS", "COLL_READS", "NB_READS"), ("PNETCDF_VAR_OPENS",)),
    ):
        # WHEN
        rows = list(layers_table._counted(Backend, Handle(module), module))

        # THEN
        names = backend.counter_names(module)
        assert [row["opens"] for row in rows] == [
            sum(names.index(name) * times for name in opens) for times in (2, 1)
        ]
        prefix = module.replace("-", "")
        if reads:
            assert rows[1]["reads"] == sum(names.index(f"{prefix}_{name}") for name in reads)
            writes = [name.replace("READS", "WRITES") for name in reads]
            assert rows[1]["writes"] == sum(names.index(f"{prefix}_{name}") for name in writes)
        assert rows[0]["bytes_read"] == 2 * names.index(f"{prefix}_BYTES_READ")
        f_names = backend.fcounter_names(module)
        assert rows[0]["meta_s"] == f_names.index(f"{prefix}_F_META_TIME") / 2


# PyDarshan 3.5.0 has version 2 of H5D records, which no session has.
@pytest.mark.parametrize("module", sorted(darshan_format.RECORD_BYTES.keys() - {"H5D"}))
def test_records_are_as_long_as_pydarshans(module):
    backend = __import__("darshan.backend.cffi_backend", fromlist=["ffi"])

    record = backend.ffi.typeof(backend._structdefs[module]).item.item

    assert backend.ffi.sizeof(record) in darshan_format.RECORD_BYTES[module].values()


def test_one_of_each_is_said_in_the_singular():
    socket = Layer("SOCKET", 1, reads=1, writes=0, read_s=2.0)
    assert no_files_text([socket]).startswith("1 socket with 1 read or write and 2.000 s in calls")
    assert layer_facts(LogLayers()) == []
