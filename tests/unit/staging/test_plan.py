import dataclasses
import json
import os
import subprocess

import pyarrow as pa
import pytest

from tfdarshan.errors import ConfigurationError
from tfdarshan.staging.capacity import measure_room, parse_size
from tfdarshan.staging.plan_file import Plan, PlannedFile, read_plan, write_plan
from tfdarshan.staging.plan_formats import emit
from tfdarshan.staging.plan_from_decision import common_folder, look_at

ODD_NAMES = ("a b.jpg", "line\nbreak", "-rf", "ü", os.fsdecode(b"\xff\xfe.bin"), "deep/er/file")
PLAN = Plan("/slow/data", "/fast/data", tuple(PlannedFile(name, 5, 7) for name in sorted(ODD_NAMES)))


def damaged(tmp_path, **changes):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(PLAN.as_json() | changes))
    return path


def test_plan_comes_back_as_it_was_written(tmp_path):
    write_plan(PLAN, tmp_path / "plan.json")

    assert read_plan(tmp_path / "plan.json") == PLAN


def test_newer_plan_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="has version 2 and this tfdarshan reads version 1"):
        read_plan(damaged(tmp_path, version=2))


@pytest.mark.parametrize(
    "name", ["../escape", "/etc/passwd", "a/../../b", "a//b", "", ".", ".tfdarshan-stage/journal", "a\0b"]
)
def test_plan_that_names_files_outside_its_roots_is_refused(tmp_path, name):
    with pytest.raises(ConfigurationError, match="damaged"):
        read_plan(damaged(tmp_path, files=[{"name": name, "size": 1, "mtime_ns": 1}]))


def test_plan_that_copies_files_onto_themselves_is_refused(tmp_path):
    # GIVEN a fast root that is a link to the slow one
    (tmp_path / "slow").mkdir()
    (tmp_path / "fast").symlink_to("slow")

    with pytest.raises(ConfigurationError, match="onto itself"):
        read_plan(damaged(tmp_path, slow_root=str(tmp_path / "slow"), fast_root=str(tmp_path / "fast")))


@pytest.mark.parametrize("text", ["", "[]", '{"format": "something"}', "not JSON"])
def test_what_is_no_plan_is_refused(tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_text(text)

    with pytest.raises(ConfigurationError, match="is not a plan"):
        read_plan(path)


def test_plan_without_files_entry_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="damaged"):
        read_plan(damaged(tmp_path, files=None))


def test_rsync_and_tar_take_every_name():
    for name in ("rsync", "tar"):
        emitted = emit(PLAN, name)
        assert emitted.content.split(b"\0")[:-1] == [os.fsencode(name) for name in sorted(ODD_NAMES)]
        assert emitted.left_out == 0


def test_the_printed_command_copies_whatever_the_folders_are_called(tmp_path):
    # GIVEN folders and a list that a shell takes for several words, and "FILE" in a name
    slow, fast, listed = (tmp_path / name for name in ("MY FILES", "it's {fast}", "list of FILE"))
    slow.mkdir()
    fast.mkdir()
    (slow / "a b").write_text("content")
    emitted = emit(Plan(str(slow), str(fast), (PlannedFile("a b", 7, 0),)), "tar", str(listed))
    listed.write_bytes(emitted.content)

    # WHEN
    subprocess.run(["bash", "-c", f"set -o pipefail; {emitted.usage}"], check=True)

    # THEN
    assert (fast / "a b").read_text() == "content"


def test_lists_leave_out_names_that_they_would_break():
    for name in ("juicefs", "list"):
        emitted = emit(PLAN, name)
        assert emitted.left_out == 1
        assert b"/slow/data/-rf" in emitted.content.splitlines()
        assert len(emitted.content.splitlines()) == len(ODD_NAMES) - 1


def test_escaped_name_of_a_session_is_found_again(tmp_path):
    # GIVEN a name that is no UTF-8, and another that has the characters of its escape
    raw, literal = tmp_path / os.fsdecode(b"a\xff"), tmp_path / "b\\xff"
    raw.write_bytes(b"12")
    literal.write_bytes(b"123")

    assert look_at(f"{tmp_path}/a\\xff").name == str(raw)
    assert look_at(f"{tmp_path}/b\\xff").size == 3
    assert look_at(f"{tmp_path}/c\\xff") is None


def test_folder_is_no_file_to_plan(tmp_path):
    assert look_at(str(tmp_path)) is None


def test_what_is_no_path_has_no_folder():
    assert common_folder(pa.array(["(files beyond memory_cap_mb)", "/data/a/b", "/data/a/c"])) == "/data/a"
    assert common_folder(pa.array(["(files beyond memory_cap_mb)"])) == "/"


def test_common_folder_ends_at_a_slash():
    paths = ["/data/train-1/a", "/data/train-2/b", "/data/train-2/c/d"]

    assert common_folder(pa.array(paths)) == "/data"
    assert common_folder(pa.array(paths[1:])) == "/data/train-2"
    assert common_folder(pa.array(["/x/a", "/y/b"])) == "/"


@pytest.mark.parametrize(
    ("text", "size"),
    [("100G", 100 * 10**9), ("1.5 kB", 1500), ("2GiB", 2 << 30), ("7", 7), ("3mb", 3 * 10**6)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "1X", "-5G", "1e3", "9" * 400])
def test_no_size(text):
    with pytest.raises(ConfigurationError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize("text", ["0", "0.4"])
def test_a_capacity_of_nothing_is_said_to_be_the_reason(tmp_path, text):
    with pytest.raises(
        ConfigurationError, match=r"^a capacity of 0 B has room for no file: give more, or leave"
    ):
        measure_room(str(tmp_path), parse_size(text), None)


def test_id_is_that_of_roots_and_names():
    grown = dataclasses.replace(PLAN, files=tuple(PlannedFile(f.name, 99, 99) for f in PLAN.files))

    assert grown.id == PLAN.id
    assert dataclasses.replace(PLAN, fast_root="/other").id != PLAN.id
