"""Sessions that nobody means well with: bombs, links, FIFOs and names. Each reader refuses in a sentence."""

import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.lying_pages import ENCODING, PAGE, rewritten, said_of
from tests.made_up_session import image_job, job_of, write_session
from tfdarshan.commands import main
from tfdarshan.errors import SessionDataError
from tfdarshan.native import memory_left
from tfdarshan.reports.html_report import write_report
from tfdarshan.reports.page import plotly_js
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import open_session
from tfdarshan.sessions import schema
from tfdarshan.sessions.checked_json import decode_json
from tfdarshan.sessions.frozen_values import FrozenError, frozen_bytes, thawed
from tfdarshan.sessions.whole_file import JSON_GROWTH

STAMP = "2024_01_01_00_00_00"
SESSION = f"run/{STAMP}"
FREE_BYTES = 16 << 20


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """Verdicts are kept in the user's cache folder: each test has its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    write_session(folder / "run", image_job(50, 2, 3), stamp=STAMP)
    return folder


@pytest.fixture
def session(sound, tmp_path):
    """The session's folder below a logdir of this test."""
    shutil.copytree(sound, tmp_path / "logs")
    return tmp_path / "logs" / "run" / "plugins" / "tfdarshan" / STAMP


@pytest.fixture
def little_memory(monkeypatch):
    """A machine with FREE_BYTES of free memory."""
    monkeypatch.setattr(memory_left, "_available_bytes", lambda: FREE_BYTES)


def one(session, name):
    (found,) = session.glob(f"*.{name}")
    return found


def read_all(session):
    opened = open_session(session)
    return opened.files, opened.events


def refusals(session, capsys):
    """Return what a verb, `open_session()` and the tab say of a session that each of them refuses."""
    assert main(["summary", str(session)]) == 1
    said = [capsys.readouterr().err.removeprefix("tfdarshan: ").strip()]
    with pytest.raises(SessionDataError) as refused:
        read_all(session)
    said.append(str(refused.value))
    code, answer = ask(session.parents[3], "/view", session=SESSION, view="files")
    assert code == 422
    return [*said, answer["error"]["message"]]


def ask(logdir, route, **arguments):
    testing = pytest.importorskip("werkzeug.test")
    from tfdarshan.tensorboard_plugin.logdirs import Logdir
    from tfdarshan.tensorboard_plugin.pages import pages
    from tfdarshan.tensorboard_plugin.routes import Routes

    response = testing.Client(pages(Routes([Logdir(logdir)]))[route]).get(route, query_string=arguments)
    return response.status_code, json.loads(response.data)


@pytest.mark.parametrize("name", ["meta.json", "files.parquet", "events.parquet"])
@pytest.mark.parametrize("kind", ["FIFO", "device", "folder", "file of /proc", "nothing", "itself"])
def test_what_is_no_regular_file_is_refused(session, capsys, name, kind):
    # GIVEN
    path = one(session, name)
    path.unlink()
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        targets = {"device": "/dev/zero", "file of /proc": "/proc/self/environ", "itself": path}
        path.symlink_to(targets.get(kind, session / "gone"))

    # WHEN / THEN
    for sentence in refusals(session, capsys):
        assert path.name in sentence
        assert any(why in sentence for why in (
            "is not a regular file", "leads out of its session", "No such file", "is missing",
            "symbolic links", "is damaged",
        )), sentence  # fmt: skip


def test_a_marker_that_is_a_fifo_stops_no_list(session, capsys):
    # GIVEN a second session that says it is recording, in a FIFO
    other = session.parent / "2024_01_02_00_00_00"
    other.mkdir()
    os.mkfifo(other / "recording.json")

    # WHEN
    code, answer = ask(session.parents[3], "/sessions")
    listed = main(["list", str(session.parents[3])])

    # THEN
    states = {one["name"]: one["state"] for one in answer["sessions"]}
    assert (code, listed, states) == (200, 0, {STAMP: "complete", other.name: "interrupted"})


def test_metadata_of_any_size_are_not_read(session, capsys):
    # GIVEN 1 TiB without content
    with one(session, "meta.json").open("r+b") as file:
        file.truncate(1 << 40)

    # WHEN / THEN
    for sentence in refusals(session, capsys):
        assert "it takes 35.2 TB of memory, and " in sentence


@pytest.mark.parametrize("content", ["[" * 2_000_000, '{"a":' * 1_000_000, "[" * 500 + "]" * 500])
def test_deep_metadata_are_refused(session, capsys, content):
    one(session, "meta.json").write_text(content)

    for sentence in refusals(session, capsys):
        assert "meta.json is damaged" in sentence


def test_json_takes_no_more_memory_than_is_asked_for():
    # GIVEN what grows most, of a size at which what Python keeps aside is little
    import tracemalloc

    for part in ("{}", "[]", "[[]]", '"a"', "1e9", "12345"):
        content = f"[{','.join([part] * 20_000)}]".encode()
        tracemalloc.start()
        try:
            # WHEN
            decode_json(content)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        # THEN
        assert peak <= JSON_GROWTH * len(content), part


def replaced(session, table, change):
    """Write a table anew with what `change` makes of it, in a file that stays small."""
    path = one(session, f"{table}.parquet")
    made, rows = change(pq.read_table(path))
    pq.write_table(made, path, compression="zstd", row_group_size=rows)
    assert path.stat().st_size < 1 << 20


def same_row(table, times):
    return table.take(pa.array([0] * times))


def test_a_row_group_of_too_many_rows_is_refused(session, capsys):
    replaced(session, "events", lambda table: (same_row(table, 1_000_000), 1_000_000))

    for sentence in refusals(session, capsys):
        assert "it has 1,000,000 rows in a row group, and a session has up to 131,072" in sentence


def test_tables_that_take_more_memory_than_is_free_are_refused(session, little_memory):
    # GIVEN row groups of which each is as a session's
    replaced(session, "events", lambda table: (same_row(table, 1_000_000), schema.EVENTS_ROW_GROUP))

    # WHEN / THEN
    with pytest.raises(SessionDataError, match=r"it takes [\d.]+ MB of memory, and [\d.]+ MB are free"):
        open_session(session).processes[0].table("events")


def test_a_text_that_many_rows_repeat_is_refused(session, capsys, little_memory):
    # GIVEN a path of 10 kB in 2,000 rows, in a file of some kB
    def long(table):
        rows, place = same_row(table, 2_000), table.column_names.index("path")
        return rows.set_column(place, rows.schema.field("path"), [["/" * 10_000] * 2_000]), 2_000

    replaced(session, "files", long)

    # WHEN / THEN
    for sentence in refusals(session, capsys):
        assert "cannot be read (it takes 20.0 MB of memory" in sentence


def test_text_in_an_encoding_of_no_session_is_refused(session, capsys):
    path = one(session, "files.parquet")
    table = pq.read_table(path)
    encodings = {"path": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, path, use_dictionary=False, column_encoding=encodings)

    for sentence in refusals(session, capsys):
        assert "its column path is encoded as no session's is" in sentence


@pytest.mark.parametrize("column", [[[1]], [{"a": 1}], [b"x" * 16]], ids=["list", "struct", "bytes"])
def test_a_column_of_a_type_of_no_session_is_refused(session, capsys, column):
    # GIVEN one that nobody asks for
    kind = pa.binary(16) if isinstance(column[0], bytes) else None
    replaced(
        session, "files", lambda table: (table.append_column("x", pa.array(column * len(table), kind)), 9)
    )

    # WHEN / THEN
    for sentence in refusals(session, capsys):
        assert "is of a type that no session has" in sentence


BOMB = bytes(2 * FREE_BYTES)


def bomb(header, _):
    """Return a page that is large in memory and a few kilobytes in a file."""
    return header, BOMB


def empty_names(header, content):
    """Return a dictionary of very many empty texts."""
    if header[PAGE] == 2:
        said_of(header)[1] = FREE_BYTES // 16
        return header, bytes(FREE_BYTES // 4)
    return header, content


def front_coded(header, content):
    if header[PAGE] == 0:
        said_of(header)[ENCODING[0]] = 7
    return header, content


@pytest.mark.parametrize(("table", "column", "edit", "why"), [
    ("files", "size_bytes", bomb, "it takes"),
    ("files", "path", bomb, "it takes"),
    ("events", "operation", empty_names, "it takes"),
    ("files", "path", front_coded, "its column path is encoded as no session's is"),
    ("events", "operation", front_coded, "its column operation is encoded as no session's is"),
])  # fmt: skip
def test_pages_count_and_not_what_the_footer_says(session, capsys, little_memory, table, column, edit, why):
    # GIVEN a small file whose footer is that of a sound one
    path = one(session, f"{table}.parquet")
    rewritten(path, column, edit)
    assert path.stat().st_size < 1 << 20

    # WHEN / THEN
    if table == "files":
        for sentence in refusals(session, capsys):
            assert why in sentence
    with pytest.raises(SessionDataError, match=why):
        read_all(session)


def test_text_that_rows_repeat_is_found_whatever_the_footer_says(session, capsys, little_memory):
    # GIVEN a path of 10 kB in 2,000 rows, in a file whose footer knows no dictionary
    def long(table):
        rows, place = same_row(table, 2_000), table.column_names.index("path")
        return rows.set_column(place, rows.schema.field("path"), [["/" * 10_000] * 2_000]), 2_000

    replaced(session, "files", long)
    rewritten(one(session, "files.parquet"), "path", lambda *page: page, encodings=[0], size=1)

    # WHEN / THEN
    for sentence in refusals(session, capsys):
        assert "it takes 20.0 MB of memory" in sentence


LIES = [
    (field, value)
    for field in ("page", "uncompressed", "compressed", "values", "encoding")
    for value in (0, 1, -1, 7, 1 << 20, (1 << 31) - 1, -(1 << 31), (1 << 32) + 2, 1 << 70)
]


# Tables that are kept in memory outlive the test.
POOLS: list[pa.MemoryPool] = []


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("column", ["path", "module", "size_bytes"])
def test_whatever_a_page_says_of_itself_takes_little_memory(session, little_memory, column, at):
    # GIVEN one page of a column that says one thing wrong
    path, kept = one(session, "files.parquet"), pa.default_memory_pool()
    sound, rows = path.read_bytes(), pq.read_metadata(path).num_rows
    refused = 0
    for lie in LIES:
        pages = iter(range(100))

        def edit(header, content, lie=lie, pages=pages):
            return (header, content, *lie) if next(pages) == at else (header, content)

        path.write_bytes(sound)
        rewritten(path, column, edit)
        POOLS.append(pool := pa.proxy_memory_pool(kept))
        pa.set_memory_pool(pool)
        try:
            # WHEN
            found = len(open_session(session).processes[0].table("files"))
        except SessionDataError:
            refused += 1
            found = rows
        finally:
            pa.set_memory_pool(kept)

        # THEN
        assert found == rows, lie
        assert pool.max_memory() < 2 * FREE_BYTES, lie
    assert refused > len(LIES) // 2 or at == 1


@pytest.mark.parametrize("number", [2 - 65536, 2 + 65536, 0, -1])
def test_a_field_that_arrow_takes_for_another_is_refused(session, capsys, number):
    # GIVEN a page's header with a field whose number Arrow cuts to 16 bits
    rewritten(
        one(session, "files.parquet"), "size_bytes", lambda header, content: ({**header, number: 8}, content)
    )

    # WHEN / THEN
    for sentence in refusals(session, capsys):
        assert "a page of it has no header" in sentence


def test_kept_sums_that_take_more_memory_than_is_free_are_worked_out_anew(little_memory):
    content = frozen_bytes(np.zeros(FREE_BYTES, np.int8))
    assert len(content) < 1 << 20

    with pytest.raises(FrozenError, match=r"it takes 33\.6 MB of memory"):
        thawed(content, {})


NAMES = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "'\"`${x}",
    "\u2028\u2029",
    "\x01\x1b[31m\x7f\x85",
    "\u202egpj.exe\u2066",
    "]]>&lt;&#60;",
    os.fsdecode(b"\xff\xfe"),
    "n" * 4_000,
)


@pytest.mark.parametrize("name", NAMES)
def test_names_stay_text_in_the_tab_and_in_the_report(tmp_path, name):
    # GIVEN a file, a command, a host and a thread of that name
    calls, host = [(0, 1000, 1, "pread", 0, 7)], name[:200].replace("/", "-")
    path = os.fsencode(f"/data/{name}").decode("utf-8", "backslashreplace")
    job = job_of(calls, [path], [7], threads={1: host}, meta={"command": f"python {name}", "host": host})
    session = write_session(tmp_path / "run", job, stamp=STAMP)
    report = tmp_path / "report.html"

    # WHEN
    write_report(Source(open_session(session.path)), report)
    answers = [
        ask(tmp_path, route, session=SESSION, **more)
        for route, more in (
            ("/view", {"view": "overview"}), ("/view", {"view": "files"}), ("/view", {"view": "timeline"}),
            ("/findings", {}), ("/file", {"path": path}), ("/sessions", {}), ("/verdicts", {}),
        )
    ]  # fmt: skip

    # THEN it is in the page as text of JSON or of HTML, and ends no element
    before, _, after = report.read_text(encoding="utf-8").partition(
        plotly_js().decode().replace("</script", "<\\/script")
    )
    page = before + after
    assert (page.count("<script"), page.count("</script"), page.count("<!--")) == (3, 3, 0)
    assert not set(page) & set("\u2028\u2029\u202e\u2066\x01\x1b")
    assert [code for code, _ in answers] == [200] * len(answers)


OUTSIDE = (
    "../../../etc/passwd", "/etc/passwd", "..%2f..%2fetc", "%2e%2e/%2e%2e", "..%252f", "....//", "..\\..",
    f"run/../run/{STAMP}", f"run//{STAMP}", f"{SESSION}/", "run\0", "%00", "file:///etc", "x" * 5_000, "",
)  # fmt: skip
ARGUMENTS = {
    "/view": ("session", "view", "process", "part"),
    "/findings": ("session",),
    "/files": ("session", "sort", "process", "limit", "offset"),
    "/steps": ("session", "sort", "process", "limit"),
    "/file": ("session", "path", "process"),
    "/compare": ("session", "other", "process"),
}


def test_no_argument_of_a_route_leads_anywhere(session):
    # GIVEN
    logdir = session.parents[3]
    right = {"session": SESSION, "other": SESSION, "path": "/data/train/class-07/0000007.jpg"}

    for route, names in ARGUMENTS.items():
        assert ask(logdir, route, **right)[0] == 200
        for name in names:
            for value in OUTSIDE:
                # WHEN
                code, answer = ask(logdir, route, **right | {name: value})

                # THEN
                kept = value == "" and name != "path"  # an argument that is not given
                assert code in (400, 404, 422) or (kept and code == 200), (route, name, value, answer)
                if code != 200:
                    assert answer["error"]["message"].endswith("."), (route, name, value)
                    assert "root:" not in str(answer)
