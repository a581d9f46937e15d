"""A recorded session in other programs' formats, read back by others' readers."""

import gzip
import html
import json
import os

import numpy as np
import pandas as pd
import pytest

import tfdarshan
from tests.made_up_session import job_of, write_session
from tests.tmpfs import mounted_tmpfs
from tfdarshan.commands import main
from tfdarshan.formats.export.flat_tables import _Paths


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Ten files of 5,000 bytes, read in threes of 2,000 bytes, one of them empty; 700 bytes written."""
    folder = tmp_path_factory.mktemp("formats")
    for number in range(10):
        (folder / f'{number}, "quoted".bin').write_bytes(bytes(5_000))
    with tfdarshan.profile(folder / "logs", spool_dir=folder) as recorded:
        for number in range(10):
            handle = os.open(folder / f'{number}, "quoted".bin', os.O_RDONLY)
            while os.read(handle, 2_000):
                pass
            os.close(handle)
        handle = os.open(folder / "out", os.O_CREAT | os.O_WRONLY)
        os.write(handle, bytes(700))
        os.close(handle)
    return tfdarshan.open_session(recorded.path)


def export(session, *options):
    assert main(["export", *map(str, options), str(session.path)]) == 0


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_chrome_trace_has_every_call(session, tmp_path, name):
    # WHEN
    export(session, "--trace", tmp_path / name)

    # THEN
    content = (tmp_path / name).read_bytes()
    trace = json.loads(gzip.decompress(content) if name.endswith(".gz") else content)["traceEvents"]
    calls = [event for event in trace if event["ph"] == "X"]
    assert len(calls) == len(session.events) == 10 * 6 + 3
    reads = [event for event in calls if event["name"] == "read"]
    assert sum(event["args"]["bytes"] for event in reads) == 50_000
    assert {os.path.basename(event["args"]["file"]) for event in reads} == {
        f'{number}, "quoted".bin' for number in range(10)
    }
    starts = session.events["start_ns"] / 1000
    assert [event["ts"] for event in calls] == pytest.approx(starts.tolist(), abs=1e-6)
    threads = {event["tid"]: event["args"]["name"] for event in trace if event["name"] == "thread_name"}
    assert {event["tid"] for event in calls} == set(threads)
    assert threads[os.getpid()] == "main"
    (labels,) = (event["args"]["labels"] for event in trace if event["name"] == "process_labels")
    assert labels == "main"
    moved = [event["args"] for event in trace if event["ph"] == "C"]
    assert sum(counters["written B/s"] for counters in moved) > 0


def test_a_call_that_began_before_the_session_is_where_it_was(tmp_path):
    # GIVEN calls from 1.5 us before the session's start on
    calls = [(-1_500, 500, 1, "open", 0, 0), (-1, 999, 1, "read", 0, 10), (1_001, 2_000, 1, "close", 0, 0)]
    session = write_session(tmp_path, job_of(calls, ["/data/a"], [10]))

    # WHEN
    export(session, "--trace", tmp_path / "trace.json")

    # THEN
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    times = [(event["ts"], event["dur"]) for event in trace if event["ph"] == "X"]
    assert times == [(-1.5, 2.0), (-0.001, 1.0), (1.001, 0.999)]


@pytest.mark.parametrize(("kind", "read"), [("parquet", pd.read_parquet), ("csv", pd.read_csv)])
def test_flat_tables_hold_what_the_session_holds(session, tmp_path, kind, read):
    # WHEN
    export(session, f"--{kind}", tmp_path / "out")

    # THEN
    files, events = read(tmp_path / "out" / f"files.{kind}"), read(tmp_path / "out" / f"events.{kind}")
    assert files["path"].tolist() == session.files["path"].tolist()
    assert files["POSIX_BYTES_READ"].sum() == 50_000
    assert events["path"].tolist() == session.events["path"].astype(str).tolist()
    assert events["length"].tolist() == session.events["length"].tolist()
    assert events["operation"].tolist() == session.events["operation"].astype(str).tolist()


def test_events_of_files_that_found_no_room_have_no_path(session):
    paths = _Paths(session.processes[0])
    assert paths.of(np.array([10**6])).to_pylist() == [None]


@pytest.mark.parametrize("option", ["--trace", "--parquet", "--csv", "--darshan"])
def test_what_is_there_is_replaced_only_when_told_to(session, tmp_path, capsys, option):
    target = tmp_path / "target"
    export(session, option, target)

    assert main(["export", option, str(target), str(session.path)]) == 1
    assert "already exists" in capsys.readouterr().err
    export(session, option, target, "--force")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_tables_are_written_both_or_not_at_all(session, tmp_path, capsys, kind):
    # GIVEN a folder that has one of the two
    (tmp_path / f"events.{kind}").write_text("mine")

    # THEN the other one is not written beside it
    assert main(["export", f"--{kind}", str(tmp_path), str(session.path)]) == 1
    assert f"events.{kind} already exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [f"events.{kind}"]


def test_a_report_is_written_and_said(session, tmp_path, capsys):
    assert main(["report", str(session.path), "-o", str(tmp_path / "r.html"), "--json"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert said["size_bytes"] == (tmp_path / "r.html").stat().st_size
    # It wrote too little for a checkpoint.
    assert said["views"] == ["overview", "timeline", "files", "patterns", "steps", "staging"]


def test_a_report_that_cannot_be_written_is_one_sentence(session, capsys):
    assert main(["report", str(session.path), "-o", "/proc/none/r.html"]) == 1

    said = capsys.readouterr().err
    assert said.startswith("tfdarshan: /proc/none/r.html cannot be written")
    assert said.count("\n") == 1


@pytest.fixture
def read_only_disk(tmp_path):
    """A file system that nothing can be written to."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    with mounted_tmpfs(folder, "ro,size=256k"):
        yield folder


@pytest.mark.parametrize("verb", ["report -o", "export --trace", "export --darshan", "export --parquet"])
def test_a_read_only_folder_is_one_sentence(session, read_only_disk, capsys, verb):
    assert main([*verb.split(), str(read_only_disk / "out"), str(session.path)]) == 1

    said = capsys.readouterr().err
    assert said.startswith("tfdarshan: ")
    assert f"{read_only_disk}/out cannot be " in said
    assert ": Read-only file system" in said
    assert said.count("\n") == 1


def test_a_notebook_shows_numbers_and_escapes_names(session):
    shown = session._repr_html_()

    assert "50.0 kB" in shown
    assert '"quoted".bin' not in shown
    assert '"quoted".bin' in html.unescape(shown)
    assert "<script" not in shown
    assert shown.count("<rect") > 0


def test_a_notebook_shows_what_a_profile_recorded(tmp_path):
    # GIVEN a profile that has not begun, records, and has ended
    recorded = tfdarshan.profile(tmp_path / "logs")
    assert recorded._repr_html_() is None
    with recorded:
        assert recorded._repr_html_() is None
        (tmp_path / "data").write_bytes(bytes(5_000))

    # THEN it shows itself as its session does
    assert recorded._repr_html_() == recorded.session._repr_html_()
    assert "5.0 kB" in recorded._repr_html_()


def test_a_report_measures_the_fast_tier_it_is_given(session, tmp_path, capsys):
    # WHEN
    arguments = ["report", str(session.path), "-o", str(tmp_path / "r.html"), "--fast", str(tmp_path)]
    assert main(arguments) == 0

    # THEN the Staging view assumes nothing
    text = (tmp_path / "r.html").read_text().partition('id="report">')[2]
    assert "measured on 50 files by" in text
    assert "assumed, not measured" not in text
    # and a folder that cannot be measured is one sentence
    assert main([*arguments[:-1], "/proc", "--force"]) == 1
    assert capsys.readouterr().err.startswith("tfdarshan: the fast tier /proc cannot be measured")
