"""How tables are laid out, and that columns of one number come back without being read."""

import io
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import pyarrow
import pyarrow._parquet
import pyarrow.parquet as pq
import pytest

from tests.made_up_session import image_job, job_of, write_session
from tfdarshan.analysis.calls import session_calls
from tfdarshan.errors import SessionDataError
from tfdarshan.reports.views import VIEWS
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.sessions import schema
from tfdarshan.sessions.opened_table import opened_table
from tfdarshan.sessions.process_data import ProcessData


def test_files_are_gathered_to_whole_row_groups(tmp_path):
    # GIVEN more files than a row group has, which come in batches of 4,096
    (process,) = write_session(tmp_path, image_job(70_000, 1, 4, reads=1)).processes

    # WHEN
    about = pq.ParquetFile(process.table_path("files")).metadata

    # THEN there are no more groups than it takes
    rows = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
    assert rows == [schema.FILES_ROW_GROUP, 70_000 - schema.FILES_ROW_GROUP]


def test_columns_of_one_number_come_back_as_they_were_written(tmp_path):
    # GIVEN a table in which most counters are 0, one is 7 everywhere and one differs
    calls = [(10 * n, 10 * n + 5, 1, "pread", n % 3, n) for n in range(9)]
    (process,) = write_session(tmp_path, job_of(calls, ["/a", "/b", "/c"], [7, 7, 7])).processes
    columns = process.columns("files")

    # WHEN
    (batch,) = process.batches("files", columns)

    # THEN it is what Arrow reads
    expected = pq.read_table(process.table_path("files"), columns=columns)
    assert batch.schema.names == expected.schema.names
    assert batch.to_pydict() == expected.to_pydict()
    assert batch.column("size_bytes").to_pylist() == [7, 7, 7]
    assert process.columns("files")[:2] == ["file", "path"]


def test_columns_with_nulls_are_read(tmp_path):
    # GIVEN a column of which one row is unknown and the others are 0, as in imported logs
    calls = [(0, 5, 1, "pread", file, 9) for file in (0, 1)]
    (process,) = write_session(tmp_path, job_of(calls, ["/a", "/b"], [7, 7])).processes
    table = pq.read_table(process.table_path("files"))
    table = table.set_column(table.schema.get_field_index("POSIX_SEEKS"), "POSIX_SEEKS", [[None, 0]])
    pq.write_table(table, process.table_path("files"))

    (batch,) = process.batches("files", ["file", "POSIX_SEEKS"])

    assert batch.column("POSIX_SEEKS").to_pylist() == [None, 0]


def test_a_table_without_rows_is_read_by_a_pyarrow_that_refuses_it(tmp_path, monkeypatch):
    # GIVEN a job without calls, and pyarrow 18 or 19, which cannot read no row group
    session = write_session(tmp_path, job_of([], [], []))
    (process,) = session.processes
    path = process.table_path("events")
    assert pq.ParquetFile(path).metadata.num_row_groups == 0
    names = pq.read_schema(path).names

    def refusing(read):
        def refuse(self, *groups, **more):
            if self.metadata.num_row_groups == 0:
                raise OSError("The file only has 0 row groups, requested metadata for row group: -1")
            return read(self, *groups, **more)

        return refuse

    for name in ("read", "read_row_groups", "iter_batches"):
        monkeypatch.setattr(pq.ParquetFile, name, refusing(getattr(pq.ParquetFile, name)))

    # THEN there are all columns, or those that were asked for, and no rows
    process.check_tables()
    assert (process.table("events").num_rows, process.table("events").schema.names) == (0, names)
    assert process.table("events", ["offset", "start_ns"]).schema.names == [
        name for name in names if name in ("offset", "start_ns")
    ]
    assert (len(session.events), len(session.steps)) == (0, 0)


def test_a_check_reads_what_a_view_need_not(tmp_path):
    # GIVEN a table whose constant columns are damaged, which no view reads
    session = write_session(tmp_path, image_job(2_000, 1, 4))
    (process,) = session.processes
    path = process.table_path("files")
    about = pq.ParquetFile(path).metadata.row_group(0)
    place = process.columns("files").index("POSIX_MMAPS")
    content = bytearray(path.read_bytes())
    start = about.column(place).data_page_offset
    content[start : start + about.column(place).total_compressed_size] = bytes(
        about.column(place).total_compressed_size
    )
    path.write_bytes(content)
    assert Source(session).summary.mmaps == 0

    # THEN
    with pytest.raises(SessionDataError, match=r"files\.parquet is damaged"):
        process.check_tables()


@pytest.fixture
def no_calls_are_read(monkeypatch):
    def refuse(self, table, *_):
        assert table != "events"
        return read(self, table, *_)

    read = ProcessData.table
    monkeypatch.setattr(ProcessData, "table", refuse)
    monkeypatch.setattr(ProcessData, "event_batches", lambda *_: pytest.fail("calls were read"))


def test_the_first_views_of_many_calls_read_none(tmp_path, no_calls_are_read, monkeypatch):
    # GIVEN a session with steps and checkpoints, of more calls than are kept in memory
    monkeypatch.setattr(session_calls, "KEPT_CALLS", 1)
    calls = [(n * 10**6, n * 10**6 + 5, 1, "fwrite", 0, 1 << 20) for n in range(9)]
    session = write_session(tmp_path, job_of(calls, ["/ckpt/a"], [9 << 20]))
    (meta_path,) = session.path.glob("*.meta.json")
    meta = json.loads(meta_path.read_text())
    origin = meta["origin_realtime_ns"]
    rows = [[n, origin + n * 10**6, origin + (n + 1) * 10**6, 1000, "job"] for n in range(5)]
    meta_path.write_text(json.dumps(meta | {"steps": {"rows": rows}}))
    source = Source(
        type(session)(session.path, [ProcessData(session.path, meta | {"steps": {"rows": rows}})], [])
    )

    # WHEN / THEN
    for view in ("overview", "timeline"):
        panels = VIEWS[view][1](source)
        figure = next(panel for panel in panels if panel.kind == "chart").figure
        # ... with a mark of the save; steps have lines of their own in a zoom alone
        assert len([s for s in figure["layout"]["shapes"] if s["type"] == "line"]) == 1


def test_a_zoom_reads_no_file_table(tmp_path):
    # GIVEN
    source = Source(write_session(tmp_path, image_job(500, 2, 4)))

    # WHEN a part of the timeline is shown, with each call
    panels = timeline_view(source, Window(window_ns=(0, 2_000_000)))

    # THEN
    assert "files" not in source.__dict__
    labels = [text for trace in panels[0].figure["data"] for text in trace["hovertext"]]
    assert labels
    assert all("/data/train/class-" in text for text in labels)


def test_tables_are_what_arrows_public_writer_writes(tmp_path, monkeypatch):
    # GIVEN a job's tables, and names that take several bytes a character or are empty
    job = job_of([(0, 5, 1, "pread", 0, 9), (7, 9, 1, "open", 1, 0)], ["/\u00e9\u20ac", ""], [7, 7])
    inner = write_session(tmp_path / "inner", job).processes[0]

    # WHEN they are written again by a pyarrow whose inner writer takes other arguments
    public = pq.ParquetWriter
    kept = pyarrow._parquet.ParquetWriter
    asked = []

    def other_arguments(file, schema, *, something_else):
        raise AssertionError

    def public_writer(*arguments, **options):
        asked.append(options)
        monkeypatch.setattr(pyarrow._parquet, "ParquetWriter", kept)
        try:
            return public(*arguments, **options)
        finally:
            monkeypatch.setattr(pyarrow._parquet, "ParquetWriter", other_arguments)

    monkeypatch.setattr(pyarrow._parquet, "ParquetWriter", other_arguments)
    monkeypatch.setattr(pq, "ParquetWriter", public_writer)
    other = write_session(tmp_path / "public", job).processes[0]

    # THEN they are the same, byte for byte
    assert len(asked) == 3
    for table in ("files", "events", "overview"):
        assert inner.table_path(table).read_bytes() == other.table_path(table).read_bytes()
    assert pq.read_table(inner.table_path("files"))["path"].to_pylist()[:2] == ["/\u00e9\u20ac", ""]


def test_tables_are_read_with_what_every_pyarrow_has(tmp_path, monkeypatch):
    # GIVEN a pyarrow whose own files tell no descriptor, as before version 25
    (process,) = write_session(tmp_path, job_of([(0, 5, 0, "pread", 0, 1)], ["/a"], [7])).processes

    class OldFile(pyarrow.OSFile):
        def fileno(self):
            raise AttributeError("'pyarrow.lib.OSFile' object has no attribute 'handle'")

    monkeypatch.setattr(pyarrow, "OSFile", OldFile)

    # THEN
    assert process.table("files", ["path"])["path"].to_pylist() == ["/a"]


class WatchedFile(io.FileIO):
    """A file that tells which threads read it."""

    readers: ClassVar[set[int]] = set()

    def readinto(self, *arguments):
        self.readers.add(threading.get_ident())
        return super().readinto(*arguments)

    def read(self, *arguments):
        self.readers.add(threading.get_ident())
        return super().read(*arguments)


@pytest.mark.parametrize("table", ["files", "events"])
def test_no_thread_of_arrows_holds_what_is_pythons(tmp_path, monkeypatch, table):
    # GIVEN files that tell who reads them: whoever has one as Python ends would end the process
    (process,) = write_session(tmp_path, job_of([(0, 5, 0, "pread", 0, 1)], ["/a"], [7])).processes
    monkeypatch.setattr(WatchedFile, "readers", set())
    monkeypatch.setattr(Path, "open", lambda path, *_: WatchedFile(path))

    # WHEN
    process.table(table, ["file"])

    # THEN
    assert WatchedFile.readers <= {threading.get_ident()}


def test_a_path_that_is_no_text_is_read(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.parquet")
    with path.open("wb") as file:
        pq.write_table(pyarrow.table({"a": [1]}), file)

    with opened_table(path) as table:
        assert table.read([0]).to_pydict() == {"a": [1]}


def test_many_threads_open_a_table_at_once(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pyarrow.table({"a": [1]}), path)

    def open_often(_):
        for _turn in range(200):
            with opened_table(path) as table:
                assert table.metadata.num_rows == 1

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(open_often, range(20))) == [None] * 20


def test_programs_that_start_meanwhile_inherit_no_table(tmp_path):
    # GIVEN a table that is being read
    (process,) = write_session(tmp_path, job_of([(0, 5, 0, "pread", 0, 1)], ["/a"], [7])).processes
    inherited = []
    for _batch in process.batches("files", ["file"]):
        # WHEN
        links = {link: link.resolve() for link in Path("/proc/self/fd").iterdir()}
        table = process.table_path("files").resolve()
        inherited += [os.get_inheritable(int(link.name)) for link, path in links.items() if path == table]

    # THEN
    assert inherited == [False]
