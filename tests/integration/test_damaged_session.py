import json
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tfdarshan
from tfdarshan.commands import main
from tfdarshan.recording.writing import gathering
from tfdarshan.sessions.schema import SCHEMA_VERSION


@pytest.fixture
def session(tmp_path, monkeypatch):
    """A session of this process and one child, whose files are its own."""
    monkeypatch.setattr(gathering, "MOST_FILE_ROWS", 0)
    with tfdarshan.profile(tmp_path / "logs") as profile:
        (tmp_path / "parent.bin").write_bytes(bytes(1_111))
        child = os.fork()
        if child == 0:
            (tmp_path / "child.bin").write_bytes(bytes(2_222))
            os._exit(0)
        os.waitpid(child, 0)
    return profile.path


def child_file(session, kind):
    (found,) = (path for path in session.glob(f"*.{kind}") if f".{os.getpid()}." not in path.name)
    return found


def test_newer_schema_is_refused(session):
    # GIVEN
    path = child_file(session, "meta.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": SCHEMA_VERSION + 1}))

    # WHEN / THEN
    with pytest.raises(tfdarshan.SessionDataError) as error:
        tfdarshan.open_session(session)
    assert str(error.value) == (
        f"{path} has schema version {SCHEMA_VERSION + 1} and this tfdarshan reads up to {SCHEMA_VERSION}: "
        "upgrade with `pip install -U tfdarshan`."
    )


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": "x"}', '{"schema_version": 1}'])
def test_damaged_metadata_is_named(session, text):
    # GIVEN
    path = child_file(session, "meta.json")
    path.write_text(text)

    # WHEN / THEN
    with pytest.raises(tfdarshan.SessionDataError, match=f"{path.name} is damaged"):
        tfdarshan.open_session(session)


@pytest.mark.parametrize("damage", ["cut", "empty", "noise", "missing"])
def test_damaged_table_is_named_and_the_rest_can_be_read(session, tmp_path, damage):
    # GIVEN
    path = child_file(session, "files.parquet")
    whole = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(
            {"cut": whole[: len(whole) // 2], "empty": b"", "noise": os.urandom(len(whole))}[damage]
        )

    # WHEN / THEN
    with pytest.raises(tfdarshan.SessionDataError, match=path.name) as error:
        _ = tfdarshan.open_session(session).files
    assert "\n" not in str(error.value)
    rest = tfdarshan.open_session(session, skip_damaged=True)
    assert rest.files["path"].tolist() == [str(tmp_path / "parent.bin")]
    assert len(rest.problems) == 1
    assert path.name in rest.summary()


def test_other_processes_are_named_only_where_there_are_some(tmp_path, session):
    # GIVEN a session of two processes, and one of one
    with tfdarshan.profile(tmp_path / "alone") as alone:
        (tmp_path / "file").write_bytes(bytes(1_111))
    said = []
    for path in (session, alone.path):
        next(path.glob("*.files.parquet")).unlink()
        with pytest.raises(tfdarshan.SessionDataError) as error:
            _ = tfdarshan.open_session(path).files
        said.append(str(error.value))

    # THEN
    assert "the session's other processes can be read with skip_damaged (--skip-damaged)" in said[0]
    assert said[1].endswith("is missing: the session has no other processes, so nothing of it can be read.")


def test_damage_inside_a_table_is_found(session):
    # GIVEN a table whose footer is whole and whose data is not
    path = child_file(session, "events.parquet")
    data = bytearray(path.read_bytes())
    data[4:200] = bytes(196)
    path.write_bytes(data)

    # WHEN / THEN
    with pytest.raises(tfdarshan.SessionDataError, match=path.name):
        _ = tfdarshan.open_session(session).events


@pytest.mark.parametrize("table", ["files", "events"])
def test_a_file_id_beyond_all_files_is_damage(session, capsys, table):
    # GIVEN a table with one id that would need 16 GB of whatever is found by id
    path = child_file(session, f"{table}.parquet")
    found = pq.read_table(path)
    ids = found.column("file").to_numpy().copy()
    ids[-1] = 4_000_000_000
    at = found.schema.get_field_index("file")
    pq.write_table(found.set_column(at, found.schema.field(at), pa.array(ids, pa.uint32())), path)

    # WHEN
    code = main(["findings", str(session)])

    # THEN
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (1, 1)
    assert f"{path} is damaged (it has a file of id 4,000,000,000, and the metadata counts " in said


def test_commands_say_it_in_one_line(session, capsys):
    # GIVEN
    path = child_file(session, "files.parquet")
    path.write_bytes(b"PAR1")

    # WHEN
    code = main(["summary", str(session)])

    # THEN
    said = capsys.readouterr()
    assert code == 1
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"tfdarshan: {path} is damaged")
    assert main(["files", str(session), "--skip-damaged"]) == 0


def test_half_written_session_is_said(session):
    # GIVEN what a crash between the first table and the metadata leaves
    for path in session.glob("*.meta.json"):
        path.unlink()

    # WHEN / THEN
    with pytest.raises(tfdarshan.SessionDataError, match="there is no session in"):
        tfdarshan.open_session(session)


@pytest.mark.parametrize("trace", [True, False], ids=["calls", "counters alone"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e300])
def test_times_that_are_no_times_are_unknown(tmp_path, capsys, number, trace):
    # GIVEN a session of which another writer has left such times
    paths = [tmp_path / f"{name}.bin" for name in range(20)]
    for path in paths:
        path.write_bytes(bytes(1_000))
    with tfdarshan.profile(tmp_path / "logs", trace=trace) as profile:
        for path in tfdarshan.steps(paths):
            path.read_bytes()
    (written,) = profile.path.glob("*.files.parquet")
    table = pq.read_table(written)
    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            table = table.set_column(place, field, pa.array(np.full(len(table), number)))
    pq.write_table(table, written)

    # WHEN
    assert main(["files", str(profile.path), "--json"]) == 0
    files = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["files"]

    # THEN
    assert {file[name] for file in files for name in ("POSIX_F_READ_TIME", "POSIX_F_OPEN_END_TIMESTAMP")} == {
        None
    }
    for verb in ("summary", "findings", "whatif", "list", "steps", "files", "report"):
        page = ["-o", str(tmp_path / "page.html")] if verb == "report" else []
        assert main([verb, str(profile.path), *page]) == 0
        assert not re.search(r"\b(nan|inf)\b", capsys.readouterr().out.replace(str(tmp_path), ""))
