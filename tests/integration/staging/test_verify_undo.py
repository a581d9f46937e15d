"""Verifying and undoing plans: which copies are not good any more, and what undo leaves there."""

import dataclasses
import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from tests.integration.staging.conftest import COUNT
from tests.integration.staging.tree import differing, plan_of, snapshot
from tfdarshan.commands import main
from tfdarshan.errors import ConfigurationError, StorageError
from tfdarshan.staging import verify
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan_file import STATE_FOLDER, write_plan
from tfdarshan.staging.stage_folder import state_folder
from tfdarshan.staging.undo import undo_plan
from tfdarshan.staging.verify import DAMAGED, FOREIGN, GONE, MISSING, STALE, verify_plan

COPY = ApplyOptions()
pytestmark = pytest.mark.usefixtures("originals_untouched")


def test_undo_leaves_what_was_there(slow, fast):
    # GIVEN files and folders of somebody else, in a folder of ours too
    (fast / "theirs").mkdir()
    (fast / "x").mkdir()
    (fast / "x" / "mine.txt").write_text("keep")
    before = snapshot(fast)
    plan = plan_of(slow, fast)
    apply_plan(plan, dataclasses.replace(COPY, mirror=True))

    # WHEN
    result = undo_plan(plan)

    # THEN
    assert (result.files, result.kept) == (COUNT, {})
    assert snapshot(fast) == before
    assert not state_folder(fast).exists()


def test_a_dry_undo_counts_what_the_undo_removes(slow, fast):
    # GIVEN a folder of the plan that has something of somebody else
    plan = plan_of(slow, fast)
    apply_plan(plan, dataclasses.replace(COPY, mirror=True))
    (fast / "z" / "theirs").write_text("keep")
    before = snapshot(fast)

    # WHEN
    dry = undo_plan(plan, dry_run=True)

    # THEN
    assert snapshot(fast) == before
    assert dry.folders == 2
    assert undo_plan(plan) == dry


def test_fast_root_that_was_made_is_removed_too(slow, tmp_path):
    # GIVEN a fast root whose parents are missing, too
    before = sorted(tmp_path.iterdir())
    plan = plan_of(slow, tmp_path / "new" / "folder" / "of" / "copies")
    assert apply_plan(plan, COPY).copied == COUNT

    # WHEN
    undo_plan(plan)

    # THEN
    assert sorted(tmp_path.iterdir()) == before


def test_a_parent_that_somebody_uses_stays(slow, tmp_path):
    plan = plan_of(slow, tmp_path / "new" / "used" / "copies")
    apply_plan(plan, COPY)
    (tmp_path / "new" / "theirs").write_text("keep")

    undo_plan(plan)

    assert [path.name for path in (tmp_path / "new").iterdir()] == ["theirs"]


def test_verify_finds_each_kind_of_wrong_copy(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)
    missing, damaged, quiet, foreign = (file.name for file in plan.files[:4])

    # GIVEN a removed copy, a changed one, one with another byte and the same size and time, a replaced one
    (fast / missing).unlink()
    (fast / damaged).write_bytes(b"short")
    found = os.stat(fast / quiet)
    content = bytearray((fast / quiet).read_bytes())
    content[0] ^= 1
    (fast / quiet).write_bytes(content)
    os.utime(fast / quiet, ns=(found.st_atime_ns, found.st_mtime_ns))
    (fast / foreign).unlink()
    (fast / foreign).symlink_to("/dev/null")

    # THEN
    assert verify_plan(plan).wrong == {missing: MISSING, damaged: DAMAGED, quiet: DAMAGED, foreign: DAMAGED}
    assert quiet not in verify_plan(plan, quick=True).wrong
    assert verify_plan(plan).good == COUNT - 4


@pytest.mark.changes_originals
def test_verify_finds_stale_copies_and_apply_renews_them(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)
    stale, gone = plan.files[0].name, plan.files[1].name
    (slow / stale).write_bytes(b"new content")
    (slow / gone).unlink()

    assert verify_plan(plan).wrong == {stale: STALE, gone: GONE}

    (slow / gone).write_bytes(b"back")
    newer = plan_of(slow, fast)
    assert apply_plan(newer, COPY).copied == 2
    assert verify_plan(newer).good == COUNT
    assert undo_plan(newer).kept == {}
    assert snapshot(fast) == {}


@pytest.fixture
def unreadable(monkeypatch):
    """Have looks at some paths fail, as on a disk or a server that does."""
    paths: set[str] = set()

    def failing(really_look):
        def look(path, **options):
            if str(path) in paths:
                raise OSError(errno.ESTALE, "Stale file handle", str(path))
            return really_look(path, **options)

        return look

    monkeypatch.setattr(os, "lstat", failing(os.lstat))
    monkeypatch.setattr(os, "stat", failing(os.stat))
    yield paths
    monkeypatch.undo()


def test_what_cannot_be_looked_at_is_neither_missing_nor_gone(slow, fast, unreadable):
    # GIVEN a copy, an original, and the target of a link that cannot be looked at
    whole = plan_of(slow, fast)
    plan = dataclasses.replace(whole, files=whole.files[:5])
    apply_plan(plan, dataclasses.replace(COPY, mirror=True))
    copy, original, linked = whole.files[0].name, whole.files[1].name, whole.files[7].name
    unreadable |= {str(fast / copy), str(slow / original), str(fast / linked)}

    # WHEN
    result = verify_plan(plan)

    # THEN
    assert result.good == 3
    assert result.wrong == {
        copy: "its copy cannot be looked at: Stale file handle",
        original: "its original cannot be looked at: Stale file handle",
    }
    assert result.dangling_links == []


def test_a_copy_that_cannot_be_read_is_not_damaged(slow, fast, monkeypatch):
    # GIVEN a fast tier that fails
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)

    def fail(path, policy):
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    monkeypatch.setattr(verify, "checksum_of", fail)

    # WHEN
    wrong = verify_plan(plan).wrong

    # THEN
    assert set(wrong.values()) == {"its copy cannot be read: Input/output error"}
    assert len(wrong) == COUNT


def test_an_undo_that_cannot_look_at_a_copy_forgets_none(slow, fast, unreadable):
    # GIVEN
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)
    unreadable.add(str(fast / plan.files[0].name))

    # WHEN
    with pytest.raises(OSError, match="Stale file handle"):
        undo_plan(plan)

    # THEN the next undo removes what is left
    unreadable.clear()
    undo_plan(plan)
    assert snapshot(fast) == {}
    assert not state_folder(fast).exists()


def test_verify_of_files_that_others_put_there(slow, fast):
    plan = plan_of(slow, fast)
    (fast / plan.files[0].name).write_bytes(b"theirs")

    assert verify_plan(plan).wrong[plan.files[0].name] == FOREIGN


def test_undo_keeps_a_copy_that_somebody_changed(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)
    changed = plan.files[0].name
    (fast / changed).write_bytes(b"somebody's work")

    result = undo_plan(plan)

    assert list(result.kept) == [changed]
    assert (fast / changed).read_bytes() == b"somebody's work"


def test_two_plans_below_one_root_are_undone_apart(slow, fast):
    # GIVEN plans that share some files
    whole = plan_of(slow, fast)
    first = dataclasses.replace(whole, files=whole.files[:20])
    second = dataclasses.replace(whole, files=whole.files[10:])
    apply_plan(first, COPY)
    assert apply_plan(second, COPY).there == 10

    # WHEN
    undo_plan(first)

    # THEN all of the second's are there, the shared ones too
    assert verify_plan(second).wrong == {}
    assert undo_plan(second).files == COUNT - 10
    assert snapshot(fast) == {}
    assert not state_folder(fast).exists()


@pytest.mark.parametrize(
    ("staged", "mirror", "left"),
    [(1, False, "1 copy or link"), (8, False, "8 copies and links"), (8, True, f"{COUNT} copies and links")],
)
def test_undo_says_what_other_plans_keep(slow, fast, tmp_path, capsys, staged, mirror, left):
    # GIVEN a plan that was written anew with fewer files, and uses what is there already
    whole, options = plan_of(slow, fast), dataclasses.replace(COPY, mirror=mirror)
    fewer = dataclasses.replace(whole, files=whole.files[: staged // 2])
    apply_plan(dataclasses.replace(whole, files=whole.files[:staged]), options)
    assert apply_plan(fewer, options).there == staged // 2
    write_plan(fewer, tmp_path / "plan.json")
    before = snapshot(fast)

    # WHEN
    code = main(["stage", "undo", str(tmp_path / "plan.json")])
    said = capsys.readouterr().out.splitlines()

    # THEN
    assert code == 0
    assert snapshot(fast) == before
    kept = state_folder(fast) / "plans" / f"{dataclasses.replace(whole, files=whole.files[:staged]).id}.json"
    assert said == [
        f"removed 0 copies, 0 links and 0 folders from {fast}",
        f"left for other plans: {left}; undo those plans too:",
        f"  tfdarshan stage undo {kept}",
    ]

    # and that command works, wherever the file of the other plan is
    assert main(["stage", "undo", str(kept)]) == 0
    assert snapshot(fast) == {}
    assert not state_folder(fast).exists()


def test_an_undo_that_has_no_room_for_its_journal_is_done_again(slow, fast, monkeypatch):
    # GIVEN two plans that use the same copies, on a full tier
    whole = plan_of(slow, fast)
    first, second = (dataclasses.replace(whole, files=whole.files[:count]) for count in (3, 4))
    apply_plan(second, COPY)
    apply_plan(first, COPY)

    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    # WHEN
    monkeypatch.setattr("tfdarshan.staging.undo.durable_file", full)
    with pytest.raises(StorageError) as raised:
        undo_plan(first)
    monkeypatch.undo()

    # THEN
    failed = f"the stager's journal in {state_folder(fast)} cannot be written: No space left on device"
    cure = f"make room in {fast}, if need be by deleting a copy, and undo the plan again."
    assert str(raised.value) == f"{failed}; {cure}"
    assert undo_plan(first).of_other_plans == [file.name for file in second.files]
    assert undo_plan(second).files == 4
    assert snapshot(fast) == {}


def test_links_of_two_mirrors_stay_until_both_are_undone(slow, fast):
    whole, options = plan_of(slow, fast), dataclasses.replace(COPY, mirror=True)
    first, second = (dataclasses.replace(whole, files=whole.files[:count]) for count in (1, 2))
    apply_plan(first, options)
    apply_plan(second, options)

    undo_plan(first)

    assert len([entry for entry in snapshot(fast).values() if stat.S_ISLNK(entry[0])]) == COUNT - 2
    undo_plan(second)
    assert snapshot(fast) == {}


@pytest.mark.changes_originals
def test_undo_leaves_a_copy_that_another_plan_renewed(slow, fast):
    # GIVEN a copy of one plan that went stale and was made anew for another
    whole = plan_of(slow, fast)
    apply_plan(whole, COPY)
    name = whole.files[0].name
    (slow / name).write_bytes(b"new")
    newer = dataclasses.replace(whole, files=plan_of(slow, fast).files[:1])
    assert apply_plan(newer, COPY).copied == 1

    # WHEN
    undo_plan(whole)

    # THEN
    assert verify_plan(newer).good == 1
    assert list(snapshot(fast)) == [name]
    undo_plan(newer)
    assert snapshot(fast) == {}


def test_many_applies_and_undos_at_once_leave_a_whole_stage(slow, fast):
    # GIVEN threads that apply and undo as fast as they can, each of which may be refused
    plan, failures = plan_of(slow, fast), []

    def work(number):
        for _ in range(10):
            try:
                apply_plan(plan, COPY) if number % 2 else undo_plan(plan)
            except ConfigurationError:
                pass
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    # THEN
    assert failures == []
    assert differing(slow, fast) == []
    apply_plan(plan, COPY)
    assert verify_plan(plan).good == COUNT


@pytest.mark.parametrize("name", ["", f"{STATE_FOLDER}.new"], ids=["root", "state"])
def test_an_undo_removes_a_folder_while_an_apply_makes_it(slow, fast, monkeypatch, name):
    # GIVEN a folder that is there when it is to be made, and gone when it is looked at
    plan, really_make = plan_of(slow, fast / "new"), Path.mkdir
    refused: list[Path] = []

    def make(folder, *arguments, **options):
        if folder == fast / "new" / name and not refused:
            refused.append(folder)
            raise FileExistsError(errno.EEXIST, "File exists", str(folder))
        really_make(folder, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", make)

    # WHEN
    assert apply_plan(plan, COPY).copied == COUNT

    # THEN
    assert refused
    assert verify_plan(plan).good == COUNT


@pytest.mark.parametrize("dangling", [True, False])
def test_what_is_no_folder_is_no_fast_root(slow, fast, dangling):
    if dangling:
        (fast / "file").symlink_to(fast / "nowhere")
    else:
        (fast / "file").write_bytes(b"")

    with pytest.raises(StorageError, match=r"file cannot be used: File exists\.$"):
        apply_plan(plan_of(slow, fast / "file"), COPY)


def test_journal_cut_off_by_a_crash_is_continued(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(dataclasses.replace(plan, files=plan.files[:10]), COPY)
    with (state_folder(fast) / "journal").open("ab") as journal:
        journal.write(b'{"kind": "file", "name": "ha')

    assert apply_plan(plan, COPY).copied == COUNT - 10
    assert verify_plan(plan).good == COUNT


def test_damaged_journal_is_one_sentence(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)
    journal = state_folder(fast) / "journal"
    journal.write_bytes(b"garbage\n" + journal.read_bytes())

    with pytest.raises(StorageError, match="damaged at line 1"):
        apply_plan(plan, COPY)
