"""What a fleet's rows, catalogue and figures are called: each where it is so, and where it is not."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fleet_population import FIRST_DAY_S, MadeJob, write_log
from tests.unit.fleet.made_jobs import made_jobs
from tests.unit.sentences.changed_meta import changed
from tests.unit.sentences.sessions import SESSIONS
from tfdarshan.errors import StorageError
from tfdarshan.fleet import catalogue_folder, input_reading, log_row, session_row
from tfdarshan.fleet.attainable import attainable
from tfdarshan.fleet.breakdown import step_breakdown
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.catalogue_update import Update, update
from tfdarshan.fleet.faster_parts import FasterPart, hot_tier, node_link, storage_bandwidth
from tfdarshan.fleet.input_list import find_inputs
from tfdarshan.fleet.job_columns import (
    DAMAGED,
    INTERRUPTED,
    LOG,
    NO_RECORDS,
    READ,
    RECORDING,
    UNREADABLE,
    VANISHED,
)
from tfdarshan.fleet.job_models import nothing_told
from tfdarshan.fleet.log_row import row_of_log
from tfdarshan.fleet.outliers import find_outliers
from tfdarshan.fleet.population import distributions
from tfdarshan.fleet.session_row import row_of_session
from tfdarshan.partials.serial import SERIAL, Lost
from tfdarshan.reports.text.fleet_text import outlier_sentence

HOUR_S = 3600
GB = 10**9


def job_of(path: Path, **counters: float) -> None:
    """Write the log of a job that opened one file."""
    made = MadeJob(path, "ada", "train.py", "/scratch", FIRST_DAY_S, 100.0, 1)
    write_log(made, [{"path": "/scratch/x", "POSIX_OPENS": 1, **counters}])


def catalogued(folder: Path) -> Update:
    """Bring the catalogue beside a folder's logs up to date."""
    catalogue = CatalogueFolder(folder / "catalogue")
    return update(catalogue, find_inputs([str(folder / "logs")]), SERIAL)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Return a folder of two logs, and their catalogue."""
    for name in ("a", "b"):
        job_of(tmp_path / "logs" / f"{name}.darshan")
    assert catalogued(tmp_path).read == 2
    return tmp_path


@pytest.mark.parametrize("content", [b"", b"PAR1 torn PAR1", b"no table"])
def test_a_damaged_part_is_said_to_be_and_its_inputs_are_read_again(content, fleet):
    # GIVEN
    (part,) = (fleet / "catalogue").glob("*.parquet")
    part.write_bytes(content)

    # WHEN
    done = catalogued(fleet)
    again = catalogued(fleet)

    # THEN it is said once, for the inputs are in another part then
    (note,) = done.notes
    assert note.startswith(f"{part} is damaged")
    assert ": what it had of inputs is read again" in note
    assert (done.read, again.read, again.notes) == (2, 0, ())


@pytest.mark.parametrize("number", [None, errno.EIO])
def test_a_part_that_storage_does_not_give_is_not_called_damaged(number, fleet, monkeypatch):
    """What Arrow finds torn is an error without a number; what a disk refuses has one."""
    error = OSError("torn page") if number is None else OSError(number, os.strerror(number))

    def refuse(_: Path) -> None:
        raise error

    (part,) = (fleet / "catalogue").glob("*.parquet")
    monkeypatch.setattr(catalogue_folder, "_read_part", refuse)
    if number is None:
        lost = "what it had of inputs is read again, but for those that have vanished"
        assert CatalogueFolder(fleet / "catalogue").problems == [f"{part} is damaged (torn page): {lost}"]
        return
    with pytest.raises(StorageError, match=f"{part} cannot be read: Input/output error"):
        CatalogueFolder(fleet / "catalogue")


def test_of_inputs_that_have_vanished_a_damaged_part_keeps_nothing(fleet):
    # GIVEN one that is gone, of which only a part knows that is damaged then
    (fleet / "logs/b.darshan").unlink()
    (part,) = (fleet / "catalogue").glob("*.parquet")
    part.write_bytes(b"PAR1 torn PAR1")

    done = catalogued(fleet)

    assert done.notes[0].endswith("): what it had of inputs is read again, but for those that have vanished")
    assert (done.inputs, done.read, done.vanished, done.table.num_rows) == (1, 1, 0, 1)


def test_an_input_that_is_gone_says_since_when_it_is_known_to_be(fleet):
    (fleet / "logs/b.darshan").unlink()
    before = time.strftime("%Y-%m-%d", time.gmtime())

    rows = {Path(row["input"]).stem: row for row in catalogued(fleet).table.to_pylist()}

    after = time.strftime("%Y-%m-%d", time.gmtime())
    assert (rows["b"]["state"], rows["a"]["state"]) == (VANISHED, READ)
    assert rows["b"]["note"] in {f"gone, seen so on {day}" for day in (before, after)}
    assert not rows["a"]["note"]


@pytest.mark.parametrize("closed", [True, False])
def test_a_folder_that_cannot_be_looked_into_is_named(closed, fleet):
    found = find_inputs([str(fleet / "logs")])
    if closed:
        found.unreadable["/logs/secret"] = "Permission denied"

    notes = update(CatalogueFolder(fleet / "catalogue"), found, SERIAL).notes

    assert notes == (("/logs/secret cannot be looked into: Permission denied",) if closed else ())


@pytest.mark.parametrize("findings", [False, True])
def test_an_input_whose_readers_ended_is_asked_again_and_keeps_its_figures(findings, fleet):
    path = str(fleet / "logs/a.darshan")
    task = input_reading.Task(path, LOG, "1", findings=findings)

    class Ending:
        """Stands for a pool whose processes end."""

        few = 0

        def each(self, _: Any, tasks: list[Any]) -> list[Lost[Any]]:
            return [Lost(task) for task in tasks]

    ((row,),) = input_reading.read_all([task], Ending())  # type: ignore[arg-type]

    said = "the process that read it ended: it is damaged, or takes more memory than there is"
    if findings:
        assert (row["state"], row["opens"]) == (READ, row_of_log(path, "1")["opens"])
        assert (row["verdict"], row["doubts"]) == ("unknown", [f"not all of the log can be read: {said}"])
    else:
        assert (row["state"], row["note"]) == (UNREADABLE, said)


@pytest.mark.parametrize("fails", [True, False])
def test_an_input_that_cannot_be_read_says_how_it_failed(fails, tmp_path, monkeypatch):
    job_of(tmp_path / "a.darshan")
    if fails:
        monkeypatch.setattr(log_row, "read_light", lambda _: iter(()).__next__())

    (row,) = input_reading.read_some([input_reading.Task(str(tmp_path / "a.darshan"), LOG, "1")])

    assert row["state"] == (DAMAGED if fails else READ)
    assert row.get("note") == ("reading it failed (StopIteration: StopIteration)" if fails else None)


@pytest.mark.parametrize("records", [0, 1])
def test_a_log_without_records_says_that_nothing_is_known(records, tmp_path):
    made = MadeJob(tmp_path / "a.darshan", "ada", "train.py", "/scratch", FIRST_DAY_S, 100.0, 1)
    write_log(made, [{"path": "/scratch/x", "POSIX_OPENS": 1}][:records])

    row = row_of_log(str(made.path), "")

    said = "the log has no POSIX or STDIO records: nothing says what its job read or wrote"
    assert (row["state"], row.get("note")) == ((READ, None) if records else (NO_RECORDS, said))


@pytest.mark.parametrize("read_s", [-1.0, 1.0])
def test_a_clock_that_was_set_back_is_a_doubt(read_s, tmp_path):
    job_of(tmp_path / "a.darshan", POSIX_READS=1, POSIX_F_READ_TIME=read_s)

    row = row_of_log(str(tmp_path / "a.darshan"), "")

    assert row["doubts"] == (["a clock was set back: times below 0 are not counted"] if read_s < 0 else [])
    assert row["read_s"] == max(read_s, 0)


@pytest.mark.parametrize(
    ("written", "recording", "state", "note"),
    [
        (True, False, READ, None),
        (False, True, RECORDING, "it is still recording"),
        (False, False, INTERRUPTED, "it was interrupted: `tfdarshan recover` writes what it recorded"),
    ],
)
def test_a_session_that_is_not_there_yet_says_why(written, recording, state, note, tmp_path, monkeypatch):
    session = SESSIONS["one call"](tmp_path)
    monkeypatch.setattr(session_row, "is_written", lambda _: written)
    monkeypatch.setattr(session_row, "is_recording", lambda _: recording)

    row = row_of_session(str(session.path), "")

    assert (row["state"], row.get("note")) == (state, note)


@pytest.mark.parametrize("silent", [0, 1, 1200])
@pytest.mark.parametrize("stopped", [True, False])
def test_a_session_that_lacks_something_is_a_doubt(silent, stopped, tmp_path):
    made = changed(SESSIONS["one call"], stopped=stopped, children={"silent": silent})(tmp_path)

    doubts = row_of_session(str(made.path), "")["doubts"]

    ended = "the job was interrupted: what it recorded until then is here"
    assert (ended in doubts) != stopped
    assert (f"{silent:,} of its processes recorded nothing" in doubts) == bool(silent)
    assert len(doubts) == (not stopped) + bool(silent)


READS = {"read_s": 60.0, "write_s": 40.0, "reads": 10, "bytes_read": 15 * GB}
WAITS = READS | {"input_wait_s": 30.0, "steps_s": 500.0, "nodes": 1}
HOT = {"input_folder": "/m/hot", "input_read_s": 60.0, "input_bytes_read": 15 * GB}


def hot(size: int, day: int, **more: Any) -> dict[str, Any]:
    """Return a job that reads so many bytes of a folder, on such a day."""
    return READS | HOT | {"input_unique_bytes": size, "day": day} | more


def bounds(rows: list[dict[str, Any]], part: FasterPart) -> Any:
    jobs = made_jobs(rows)
    return attainable(jobs, part, nothing_told(jobs))


def test_storage_bandwidth_rests_on_what_it_says():
    found = bounds([READS, WAITS], storage_bandwidth(2))
    silent, waits = (bounds([job], storage_bandwidth(2)) for job in (READS, WAITS))

    assert (found.topic, found.question) == ("storage", "storage bandwidth times 2")
    assert found.assumptions == ("without a model, all of the time in reads and writes is transfer at most",)
    # All of 60 and 40 s, of which half is saved; and of a job that says its wait no more than that.
    assert silent.high_job_hours * HOUR_S == pytest.approx(50)
    assert waits.high_job_hours * HOUR_S == pytest.approx(30)
    assert silent.low_job_hours == 0


def test_staging_rests_on_what_it_says():
    size, speed = 20 * GB, 5e9
    waiting = {"input_wait_s": 30.0, "steps_s": 500.0, "nodes": 1}

    found = bounds([hot(3 * GB, 0), hot(4 * GB, 1, **waiting), hot(2 * GB, 2)], hot_tier(size, speed))

    assert (found.topic, found.question) == ("a fast tier", "staging the hottest 20.0 GB")
    assert found.assumptions == (
        "a fast tier of 5 GB/s a node holds the copies before a job begins",
        "a folder is as large as the most that one job read of it",
        "at least, nothing is saved by the first job that reads a folder: it may have to make the copy",
    )
    assert [(folder.folder, folder.size_bytes) for folder in found.folders] == [("/m/hot", 4 * GB)]
    # 15 GB take 3 s there, and took 60 s: of the one that says what it waited, no more than that.
    assert found.high_job_hours * HOUR_S == pytest.approx(57 + 30 + 57)
    assert found.low_job_hours == 0


@pytest.mark.parametrize(("share", "words"), [(1.0, "all"), (0.5, "50 %")])
def test_another_link_rests_on_what_it_says(share, words):
    def saved(job: dict[str, Any]) -> Any:
        return bounds([job], node_link(100e9, 25e9, share))

    talks = WAITS | {"communication_s": 80.0, "read_s": 5.0, "write_s": 0.0}
    found = saved(talks)

    assert (found.topic, found.question) == ("the nodes' link", "a link of 100 Gb/s")
    assert found.assumptions == (
        "nodes have one link of 25 Gb/s today (--link-now)",
        "transfers of remote file systems get shorter by what their bytes take on the link",
        f"at most, {words} of known communication is on it",
    )
    # 15 GB take 4.8 s of 5 s on a link of 25 Gb/s: three quarters of it are saved, and of communication.
    assert found.high_job_hours * HOUR_S == pytest.approx(0.75 * (4.8 + share * 80))
    assert found.low_job_hours == 0
    # A local disk is behind no link.
    local = saved(talks | {"fs_type": "ext4"})
    assert local.high_job_hours * HOUR_S == pytest.approx(0.75 * share * 80)


def test_figures_are_what_they_are_called():
    rows = {
        "duration_s": 200.0, "read_s": 30.0, "write_s": 20.0, "opens": 100, "stats": 300, "reads": 10,
        "small_read_share": 0.4, "reread_share": 0.25, "cached_share": 0.125, "io_s": 50.0,
    }  # fmt: skip
    found = {one.name: (one.unit, one.values[0]) for one in distributions(made_jobs([rows]))}

    assert found["share of the job in I/O"] == ("share", 0.25)
    assert found["opens and stats a second"] == ("1/s", 2.0)
    assert found["reads of at most 10 KiB"] == ("share", 0.4)
    assert found["bytes read again"] == ("share", 0.25)
    assert found["bytes from the page cache"] == ("share", 0.125)
    # What no job says has no figure.
    assert "bytes from the page cache" not in {one.name for one in distributions(made_jobs([READS]))}


@pytest.mark.parametrize(
    ("column", "count", "what", "rates"),
    [
        ("small_reads", 10**7, "reads of at most 10 KiB", "; 10,000.0 a second of these, 0.01 are usual."),
        ("reread_bytes", 10**13, "bytes read again", "; 10.0 GB a second of these, 0 B are usual."),
        ("stats", 10**6, "stat calls", "; 1,000.0 a second of these, 0.01 are usual."),
    ],
)
def test_a_user_stands_out_by_what_is_named(column, count, what, rates):
    rows = [{"user": f"u{number}", column: 10} for number in range(8)]

    outliers = find_outliers(made_jobs([*rows, {"user": "ada", column: count}]))

    assert [(one.user, one.what, one.total) for one in outliers] == [("ada", what, count)]
    assert rates in outlier_sentence(outliers[0])
    assert find_outliers(made_jobs([*rows, {"user": "ada", column: 10}])) == []


def test_parts_of_steps_are_called_what_they_are():
    job = {"steps_s": 3600.0, "input_wait_s": 720.0, "device_copy_s": 360.0, "communication_s": 1800.0}

    hours = {part.what: part.hours for part in step_breakdown(made_jobs([job]))}

    assert hours == pytest.approx(
        {"input wait": 0.2, "copies to the device": 0.1, "computing": 0.2, "communication": 0.5}
    )


def test_doubts_of_no_session_are_those_of_another(tmp_path):
    """What was lost of one is no doubt about the next one in the same catalogue."""
    whole, cut = (tmp_path / name for name in ("whole", "cut"))
    SESSIONS["one call"](whole)
    changed(SESSIONS["one call"], stopped=False)(cut)

    done = update(CatalogueFolder(tmp_path / "c"), find_inputs([str(whole), str(cut)]), SERIAL)

    doubts = {"cut" in row["input"]: row["doubts"] for row in done.table.to_pylist()}
    assert {name: bool(said) for name, said in doubts.items()} == {True: True, False: False}
