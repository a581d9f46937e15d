"""The catalogue: only what is new is read, whoever else writes, and whatever happens to a writer."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest

from tests.fleet_population import write_population
from tests.made_up_session import image_job, write_job
from tfdarshan.commands import main
from tfdarshan.errors import SessionDataError
from tfdarshan.fleet import catalogue_folder, input_reading, log_row
from tfdarshan.fleet.catalogue_folder import CatalogueFolder, as_table
from tfdarshan.fleet.catalogue_update import as_it_is, update
from tfdarshan.fleet.input_list import find_inputs
from tfdarshan.fleet.job_columns import ARROW_SCHEMA, LOG, NAMES
from tfdarshan.fleet.job_row import begin_row
from tfdarshan.partials.process_pool import ProcessPool
from tfdarshan.partials.serial import SERIAL, Done, Lost
from tfdarshan.sessions.schema import SCHEMA_VERSION

OPENED: list[str] = []
WATCHED: list[str] = []


def note_open(event, arguments):
    if event == "open" and WATCHED and isinstance(arguments[0], (str, bytes)):
        path = os.fsdecode(arguments[0])
        if path.startswith(WATCHED[0]):
            OPENED.append(path)


@functools.cache
def watch_opens():
    """Add the hook, which cannot be taken away again, once."""
    sys.addaudithook(note_open)


@pytest.fixture
def opened(tmp_path):
    """The files below `in` that were opened."""
    watch_opens()
    OPENED.clear()
    WATCHED.append(str(tmp_path / "in"))
    yield OPENED
    WATCHED.clear()


def fill(tmp_path):
    catalogue = CatalogueFolder(tmp_path / "catalogue")
    return update(catalogue, find_inputs([str(tmp_path / "in")]), SERIAL)


def states(done):
    return dict(zip(done.table["input"].to_pylist(), done.table["state"].to_pylist(), strict=True))


def test_nothing_is_read_again_that_has_not_changed(tmp_path, opened):
    # GIVEN
    logs = [str(job.path) for job in write_population(tmp_path / "in", 8).jobs]
    opened.clear()

    # WHEN
    first = fill(tmp_path)
    read_first = sorted(opened)
    opened.clear()
    second = fill(tmp_path)

    # THEN
    assert (first.read, sorted(read_first)) == (8, sorted(logs))
    assert (second.inputs, second.read, opened) == (8, 0, [])
    assert second.table.sort_by("input").equals(first.table.sort_by("input"))


def test_an_input_of_several_names_counts_once(tmp_path):
    # GIVEN logs of which one has a link beside it and a second name, a session, and a link to all of them
    logs = [job.path for job in write_population(tmp_path / "in", 3).jobs]
    (logs[0].parent / "a-newest.darshan").symlink_to(logs[0])
    (logs[0].parent / "b-again.darshan").hardlink_to(logs[0])
    session = tmp_path / "in" / "plugins" / "tfdarshan" / "2024_01_31_16_05_00"
    write_job(session, image_job(files=2, epochs=1, threads=1))
    (tmp_path / "link").symlink_to(tmp_path / "in")

    # WHEN
    found = find_inputs([str(tmp_path / "link"), str(tmp_path / "in")])

    # THEN each is there by a name of its own
    assert len(found.kinds) == len(found.fingerprints) == 4
    assert {str(session), str(logs[1]), str(logs[2])} < set(found.kinds)


def test_what_is_new_or_changed_is_read_and_nothing_else(tmp_path, opened):
    # GIVEN
    logs = [job.path for job in write_population(tmp_path / "in", 6).jobs]
    fill(tmp_path)
    logs[0].write_bytes(logs[1].read_bytes())  # another job's log, in its place
    new = logs[2].with_name("new.darshan")
    new.write_bytes(logs[2].read_bytes())
    os.utime(logs[3], ns=(1, 1))
    opened.clear()

    # WHEN
    done = fill(tmp_path)

    # THEN
    assert sorted(opened) == sorted(map(str, (logs[0], new, logs[3])))
    rows = {row["input"]: row for row in done.table.to_pylist()}
    assert len(rows) == done.inputs == 7
    assert rows[str(logs[0])]["opens"] == rows[str(logs[1])]["opens"]


def test_a_session_is_read_again_if_a_file_of_it_changes(tmp_path):
    # GIVEN
    session = tmp_path / "in/run/plugins/tfdarshan/2024_01_01_00_00_00"
    write_job(session, image_job(4, 1, 1))
    assert fill(tmp_path).read == 1
    assert fill(tmp_path).read == 0

    # WHEN
    write_job(session, image_job(5, 1, 1))

    # THEN
    done = fill(tmp_path)
    assert (done.read, done.table["files"].to_pylist()) == (1, [5])


def test_what_vanished_stays_and_is_said(tmp_path):
    # GIVEN
    logs = [job.path for job in write_population(tmp_path / "in", 4).jobs]
    fill(tmp_path)
    content = logs[0].read_bytes()
    logs[0].unlink()

    # WHEN
    done = fill(tmp_path)

    # THEN
    assert (done.inputs, done.vanished, done.read) == (3, 1, 0)
    row = next(row for row in done.table.to_pylist() if row["input"] == str(logs[0]))
    assert (row["state"], row["opens"] > 0) == ("vanished", True)
    assert done.notes == ("1 of 4 inputs left out: vanished",)
    # WHEN it is there again, it is read again
    logs[0].write_bytes(content)
    again = fill(tmp_path)
    assert (again.read, again.vanished, set(states(again).values())) == (1, 0, {"read"})


def test_other_folders_of_the_catalogue_are_left_alone(tmp_path):
    # GIVEN
    for name in ("in", "other"):
        write_population(tmp_path / name, 3)
    catalogue = CatalogueFolder(tmp_path / "catalogue")
    update(catalogue, find_inputs([str(tmp_path / "other")]), SERIAL)

    # WHEN
    done = fill(tmp_path)

    # THEN
    assert (done.inputs, done.vanished, done.table.num_rows) == (3, 0, 3)
    assert as_it_is(CatalogueFolder(tmp_path / "catalogue")).inputs == 6


def test_damaged_and_unfinished_inputs_are_rows_with_their_reasons(tmp_path):
    # GIVEN
    good = write_population(tmp_path / "in", 2).jobs
    damaged = good[0].path
    damaged.write_bytes(damaged.read_bytes()[:400])
    sessions = tmp_path / "in/plugins/tfdarshan"
    write_job(sessions / "newer", image_job(2, 1, 1))
    meta = next((sessions / "newer").glob("*.meta.json"))
    meta.write_text(meta.read_text().replace(f'"schema_version": {SCHEMA_VERSION}', '"schema_version": 99'))
    write_job(sessions / "broken", image_job(2, 1, 1))
    next((sessions / "broken").glob("*.files.parquet")).write_bytes(b"PAR1 nothing PAR1")
    (sessions / "begun").mkdir()
    (sessions / "begun" / "recording.json").write_text("{}")

    # WHEN
    done = fill(tmp_path)

    # THEN
    assert states(done) == {
        str(damaged): "damaged",
        str(good[1].path): "read",
        str(sessions / "newer"): "newer_version",
        str(sessions / "broken"): "damaged",
        str(sessions / "begun"): "interrupted",
    }
    notes = {row["input"]: row["note"] for row in done.table.to_pylist()}
    assert "upgrade" in notes[str(sessions / "newer")]
    assert all(notes[path] for path, state in states(done).items() if state != "read")
    # What is too new is asked again: tfdarshan may have been upgraded. What is damaged is not.
    assert fill(tmp_path).read == 1


def test_a_url_is_refused_with_what_to_do(tmp_path, capsys):
    assert main(["fleet", "s3://bucket/logs", "--catalogue", str(tmp_path / "c")]) == 2

    said = " ".join(capsys.readouterr().err.split())
    assert "s3://bucket/logs is a URL, and a fleet is read from folders: copy or mount it" in said


@pytest.mark.parametrize(
    "pattern",
    [
        "*.darshan", "*/*.darshan", "**/*.darshan", "**/b/**/*", "**", "a/**", "?", "[ab]/b*", "*/.h*/*",
        "a*/b*/x*", "**/b", "a/b/*.darshan", "none*", "a/*",
    ],
)  # fmt: skip
def test_a_pattern_would_find_what_it_finds(tmp_path, pattern):
    # GIVEN logs at different depths, one in a hidden folder
    logs = [tmp_path / name for name in ("x", "a/x", "a/b/x", "a/.hidden/x", "b/a/b/c/x", "a/b/.x", "none")]
    for log in logs:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.with_name(f"{log.name}.darshan").touch()

    # WHEN
    found = find_inputs([f"{tmp_path}/{pattern}"])

    # THEN
    everything = find_inputs([str(tmp_path)]).kinds
    assert len(everything) == len(logs)
    assert {path for path in everything if found.would_find(path)} == set(found.kinds)


def test_a_log_that_the_pattern_does_not_name_has_not_vanished(tmp_path):
    # GIVEN a catalogue of logs in a folder and below it
    jobs = write_population(tmp_path / "in" / "deep", 2).jobs
    shutil.copy(jobs[0].path, tmp_path / "in" / "x.darshan")
    fill(tmp_path)

    # WHEN it is brought up to date with those of the folder itself
    done = update(CatalogueFolder(tmp_path / "catalogue"), find_inputs([f"{tmp_path}/in/*.darshan"]), SERIAL)

    # THEN
    assert (done.read, done.vanished) == (0, 0)


def test_patterns_and_single_logs_are_inputs(tmp_path):
    # GIVEN
    logs = sorted(str(job.path) for job in write_population(tmp_path / "in", 5).jobs)

    # WHEN / THEN
    assert sorted(find_inputs([f"{tmp_path}/**/*.darshan"]).kinds) == logs
    assert list(find_inputs([logs[2]]).kinds) == [logs[2]]
    with pytest.raises(SessionDataError, match="nothing matches"):
        find_inputs([f"{tmp_path}/**/*.nothing"])
    with pytest.raises(SessionDataError, match="cannot be read: No such file"):
        find_inputs([f"{tmp_path}/gone"])


def test_a_name_that_is_not_utf_8_is_an_input_as_any_other(tmp_path):
    # GIVEN
    path = write_population(tmp_path / "in", 1).jobs[0].path
    path.rename(os.fsdecode(os.fsencode(path.parent) + b"/j\xff.darshan"))

    # WHEN / THEN
    done = fill(tmp_path)
    assert done.table["input"][0].as_py().endswith(r"/j\xff.darshan")
    assert (fill(tmp_path).read, fill(tmp_path).vanished) == (0, 0)


def test_a_newer_catalogue_is_refused_and_an_older_one_read_again(tmp_path, monkeypatch):
    # GIVEN
    write_population(tmp_path / "in", 2)
    monkeypatch.setattr(catalogue_folder, "CATALOGUE_VERSION", 3)
    fill(tmp_path)

    # WHEN / THEN
    monkeypatch.setattr(catalogue_folder, "CATALOGUE_VERSION", 2)
    with pytest.raises(SessionDataError, match=r"has version 3 and this tfdarshan reads up to 2: upgrade"):
        CatalogueFolder(tmp_path / "catalogue")
    monkeypatch.setattr(catalogue_folder, "CATALOGUE_VERSION", 4)
    assert fill(tmp_path).read == 2


def test_a_damaged_part_is_said_and_its_inputs_are_read_again(tmp_path):
    # GIVEN
    write_population(tmp_path / "in", 3)
    fill(tmp_path)
    part = next((tmp_path / "catalogue").iterdir())
    part.write_bytes(part.read_bytes()[:-100])

    # WHEN
    done = fill(tmp_path)

    # THEN
    assert done.read == 3
    assert f"{part} is damaged" in done.notes[0]
    assert fill(tmp_path).notes == ()


@pytest.mark.parametrize(
    ("opens", "known"), [(2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False)]
)
def test_a_number_that_its_column_cannot_hold_is_unknown(opens, known, tmp_path, monkeypatch):
    # GIVEN
    row = begin_row("/logs/a.darshan", LOG, "") | {"opens": opens}
    monkeypatch.setattr(log_row, "row_of_log", lambda *_, **__: row)

    # WHEN
    CatalogueFolder(tmp_path).add(input_reading.read_some([input_reading.Task("/logs/a.darshan", LOG, "")]))

    # THEN
    assert CatalogueFolder(tmp_path).table["opens"].to_pylist() == [opens if known else None]


def test_many_parts_become_one_and_later_rows_count(tmp_path):
    # GIVEN
    catalogue = CatalogueFolder(tmp_path)
    for turn in range(catalogue_folder.MOST_PARTS + 1):
        rows = [{"input": f"/{name}", "catalogued_ns": turn, "opens": turn} for name in ("a", turn)]
        catalogue.add(rows)

    # WHEN
    left_behind = tmp_path / ".tfdarshan-0000.tmp"
    left_behind.touch()
    os.utime(left_behind, (1, 1))
    before = CatalogueFolder(tmp_path).table
    catalogue.put_together()
    after = CatalogueFolder(tmp_path).table

    # THEN
    assert len(list(tmp_path.iterdir())) == 1
    assert after.sort_by("input").equals(before.sort_by("input"))
    opens = dict(zip(after["input"].to_pylist(), after["opens"].to_pylist(), strict=True))
    assert opens["/a"] == catalogue_folder.MOST_PARTS
    assert len(opens) == catalogue_folder.MOST_PARTS + 2


def test_a_part_that_another_writer_put_away_while_it_was_read_loses_nothing(tmp_path, monkeypatch):
    # GIVEN a reader that has listed the parts
    one, other = CatalogueFolder(tmp_path), CatalogueFolder(tmp_path)
    for turn in range(catalogue_folder.MOST_PARTS + 1):
        one.add([{"input": f"/{turn}", "catalogued_ns": turn}])
    other.add([{"input": "/other", "catalogued_ns": 5}])
    read = catalogue_folder._read_part
    once: list[Path] = []

    def put_together_meanwhile(part):
        if not once:
            once.append(part)
            one.put_together()
        return read(part)

    # WHEN
    monkeypatch.setattr(catalogue_folder, "_read_part", put_together_meanwhile)
    seen = CatalogueFolder(tmp_path)

    # THEN
    assert once
    assert seen.table.num_rows == catalogue_folder.MOST_PARTS + 2


def test_a_row_counts_though_a_host_whose_clock_is_ahead_wrote_before(tmp_path):
    # GIVEN
    CatalogueFolder(tmp_path).add([{"input": "/a", "catalogued_ns": 2**62, "opens": 1}])

    # WHEN
    CatalogueFolder(tmp_path).add([{"input": "/a", "catalogued_ns": 5, "opens": 2}])

    # THEN
    assert CatalogueFolder(tmp_path).table["opens"].to_pylist() == [2]


def test_two_that_put_parts_together_at_once_lose_nothing(tmp_path):
    # GIVEN two writers that both know all parts, and one of which has added one more
    first = CatalogueFolder(tmp_path)
    for turn in range(catalogue_folder.MOST_PARTS + 1):
        first.add([{"input": f"/{turn}", "catalogued_ns": turn, "opens": 0}])
    one, two = CatalogueFolder(tmp_path), CatalogueFolder(tmp_path)
    one.add([{"input": "/0", "catalogued_ns": 10**9, "opens": 7}])

    # WHEN
    for catalogue in (one, two):
        catalogue.put_together()

    # THEN
    rows = CatalogueFolder(tmp_path).table.to_pylist()
    assert {row["input"]: row["opens"] for row in rows} == {
        f"/{turn}": 0 if turn else 7 for turn in range(catalogue_folder.MOST_PARTS + 1)
    }


KILLED = """
import os, sys
from pathlib import Path
from tfdarshan.fleet import catalogue_update
from tfdarshan.commands import main
from tfdarshan.fleet.catalogue_folder import CatalogueFolder
from tfdarshan.fleet.input_list import find_inputs
from tfdarshan.partials.serial import SERIAL
catalogue_update.ROWS_OF_PART = 32
def progress(done, total):
    if done >= 64:
        os._exit(9)
catalogue_update.update(CatalogueFolder(Path(sys.argv[2])), find_inputs([sys.argv[1]]), SERIAL, progress)
"""


def test_a_writer_that_is_killed_has_kept_what_it_wrote(tmp_path):
    # GIVEN
    write_population(tmp_path / "in", 100)
    arguments = [sys.executable, "-c", KILLED, str(tmp_path / "in"), str(tmp_path / "catalogue")]

    # WHEN
    assert subprocess.run(arguments, check=False).returncode == 9

    # THEN
    assert fill(tmp_path).read == 100 - 32


def test_two_writers_at_once_lose_nothing(tmp_path):
    # GIVEN
    for name in ("in/a", "in/b"):
        write_population(tmp_path / name, 80)
    command = [sys.executable, "-m", "tfdarshan", "fleet", "--catalogue", str(tmp_path / "catalogue")]
    command += ["--findings", "0", "--processes", "1", "--json"]

    # WHEN
    both = [
        subprocess.Popen([*command, str(tmp_path / name)], stdout=subprocess.PIPE) for name in ("in/a", "in")
    ]
    for process in both:
        process.communicate()

    # THEN
    assert [process.returncode for process in both] == [0, 0]
    done = fill(tmp_path)
    assert (done.read, done.inputs, set(states(done).values())) == (0, 160, {"read"})


def test_a_log_that_ends_its_reader_is_a_row_and_the_others_are_read():
    # GIVEN a log over which every process that reads it ends
    tasks = [input_reading.Task(f"/nowhere/{number}", "darshan_log", "") for number in range(4)]

    class Ends:
        few = 1

        def each(self, read, chunks):
            for chunk in chunks:
                ends = any(task.path.endswith("/2") for task in chunk)
                yield Lost(chunk) if ends else Done(chunk, read(chunk))

    # WHEN
    rows = [row for part in input_reading.read_all(tasks, cast(Any, Ends())) for row in part]

    # THEN
    assert [row["input"] for row in rows] == [task.path for task in tasks]
    assert "the process that read it ended" in rows[2]["note"]
    assert "No such file" in rows[1]["note"]


def test_a_pool_reads_what_one_process_reads(tmp_path):
    # GIVEN
    write_population(tmp_path / "in", 70)

    # WHEN
    alone, pool = (
        update(
            CatalogueFolder(tmp_path / name), find_inputs([str(tmp_path / "in")]), runner
        ).table.drop_columns("catalogued_ns")
        for name, runner in (("alone", SERIAL), ("pool", ProcessPool(2)))
    )

    # THEN
    assert pool.sort_by("input").equals(alone.sort_by("input"))


def test_parts_hold_the_declared_columns_and_their_version(tmp_path):
    CatalogueFolder(tmp_path).add([{"input": "/a", "catalogued_ns": 1}])

    schema = pq.read_schema(next(Path(tmp_path).iterdir()))

    assert tuple(schema.names) == NAMES
    assert schema.metadata[catalogue_folder.VERSION_KEY] == b"2"
    assert as_table([]).schema.equals(ARROW_SCHEMA)
