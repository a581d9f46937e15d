"""Applying plans: what is made, what is refused, what is left alone."""

import dataclasses
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.staging.conftest import COUNT
from tests.integration.staging.tree import differing, make_files, plan_of, snapshot
from tests.tmpfs import mounted_tmpfs
from tfdarshan.commands import main
from tfdarshan.durable.file_operations import Storage
from tfdarshan.errors import ConfigurationError, StorageError
from tfdarshan.staging import copy_file as copying
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.capacity import mount_point
from tfdarshan.staging.plan_file import STATE_FOLDER, write_plan
from tfdarshan.staging.publish import TAKEN, TAKEN_BY_ANOTHER
from tfdarshan.staging.stage_folder import locked_stage, state_folder
from tfdarshan.staging.undo import undo_plan
from tfdarshan.staging.verify import MISSING, verify_plan

COPY = ApplyOptions()
pytestmark = pytest.mark.usefixtures("originals_untouched")


def test_copies_are_whole_and_keep_mode_and_time(slow, fast):
    # WHEN
    result = apply_plan(plan_of(slow, fast), COPY)

    # THEN
    assert (result.copied, result.problems, result.stopped) == (COUNT, {}, "")
    copies, originals = snapshot(fast), snapshot(slow)
    assert copies.keys() == originals.keys()
    for name, (mode, *rest) in copies.items():
        assert mode == originals[name][0]
        assert rest[-1] == originals[name][-1]
        assert len(rest) == 1 or rest[0] == originals[name][1]


def test_a_fast_tier_that_is_not_mounted_is_not_written_to(slow, tmp_path):
    # GIVEN a plan for a disk that was mounted
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted_tmpfs(disk, "size=64m"):
        plan = plan_of(slow, disk / "copies", fast_mount=mount_point(str(disk / "copies")))
        assert apply_plan(plan, COPY).copied == COUNT
        assert plan.fast_mount == str(disk)

    # WHEN / THEN
    said = (
        f"{disk} is not mounted, and copies would go to another disk: mount it, or take `fast_mount` out of"
    )
    for use in (lambda: apply_plan(plan, COPY), lambda: verify_plan(plan), lambda: undo_plan(plan)):
        with pytest.raises(StorageError, match=said):
            use()
    with pytest.raises(StorageError, match=said):
        apply_plan(plan, dataclasses.replace(COPY, dry_run=True))
    assert list(disk.iterdir()) == []
    assert apply_plan(dataclasses.replace(plan, fast_mount=""), COPY).copied == COUNT


def test_a_fast_tier_that_is_mounted_further_below_is_used(slow, tmp_path):
    # GIVEN a container that is given only the folder of copies
    copies = tmp_path / "disk" / "copies"
    copies.mkdir(parents=True)

    with mounted_tmpfs(copies, "size=64m"):
        plan = plan_of(slow, copies, fast_mount=str(tmp_path / "disk"))

        assert apply_plan(plan, COPY).copied == COUNT
        assert undo_plan(plan).files == COUNT


def test_second_run_copies_nothing(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)
    before = snapshot(fast)

    result = apply_plan(plan, COPY)

    assert (result.copied, result.there) == (0, COUNT)
    assert snapshot(fast) == before


def test_files_of_others_are_not_overwritten(slow, fast):
    # GIVEN a file that has a name of the plan, and a link that has another
    names = [file.name for file in plan_of(slow, fast).files if "/" not in file.name]
    (fast / names[0]).write_bytes(b"theirs")
    (fast / names[1]).symlink_to(slow / names[1])

    # WHEN
    plan = plan_of(slow, fast)
    result = apply_plan(plan, COPY)

    # THEN
    assert set(result.problems) == set(names[:2])
    assert (fast / names[0]).read_bytes() == b"theirs"
    assert (fast / names[1]).is_symlink()
    undo_plan(plan)
    assert sorted(os.listdir(fast)) == sorted(names[:2])


def test_folder_that_leads_to_the_originals_is_refused(slow, fast):
    # GIVEN a fast folder that is a link to the slow one: copies into it would be written over originals
    (fast / "x").symlink_to(slow / "x")

    result = apply_plan(plan_of(slow, fast), COPY)

    inside = [file.name for file in plan_of(slow, fast).files if file.name.startswith("x/")]
    assert sorted(result.problems) == inside
    assert result.copied == COUNT - len(inside)


def test_new_name_behind_a_folder_that_leads_elsewhere_is_refused(slow, fast, tmp_path):
    # GIVEN a folder of the plan that is a link to somebody's empty folder
    (tmp_path / "elsewhere").mkdir()
    (fast / "x").symlink_to(tmp_path / "elsewhere")

    result = apply_plan(plan_of(slow, fast), COPY)

    assert all(why.endswith("is in the way: it is not a folder") for why in result.problems.values())
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_name_taken_while_copying_is_kept(slow, fast, monkeypatch):
    # GIVEN somebody who takes a name just before it is given to the copy
    plan = plan_of(slow, fast)
    taken = plan.files[3].name
    real = copying.copy_file

    def copy_and_take(source, *arguments, **options):
        copy = real(source, *arguments, **options)
        if source.endswith(taken):
            (fast / taken).parent.mkdir(exist_ok=True)
            (fast / taken).write_bytes(b"theirs")
        return copy

    monkeypatch.setattr("tfdarshan.staging.apply.copy_file", copy_and_take)

    result = apply_plan(plan, COPY)

    assert result.problems == {taken: "its name was taken by somebody else"}
    assert (fast / taken).read_bytes() == b"theirs"


@pytest.mark.changes_originals
def test_an_older_copy_that_is_edited_while_the_new_one_is_made_is_kept(slow, fast):
    # GIVEN a copy that is to be renewed
    plan = plan_of(slow, fast)
    name = plan.files[0].name
    apply_plan(plan, COPY)
    (slow / name).write_bytes(b"new content")

    # WHEN somebody works on it meanwhile
    def edit(done, total):
        (fast / name).write_bytes(b"somebody's work")

    result = apply_plan(plan, dataclasses.replace(COPY, refresh=True), edit)

    # THEN
    assert result.problems == {name: "its older copy was changed meanwhile: left as it is"}
    assert (result.copied, result.there) == (0, COUNT - 1)
    assert (fast / name).read_bytes() == b"somebody's work"
    assert list((state_folder(fast) / "tmp").iterdir()) == []


@pytest.mark.changes_originals
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_copy_that_was_refreshed_is_there(slow, fast, dry_run):
    plan = plan_of(slow, fast)
    (slow / plan.files[0].name).write_bytes(b"new content")
    assert apply_plan(plan, dataclasses.replace(COPY, refresh=True)).copied == COUNT

    again = apply_plan(plan, dataclasses.replace(COPY, dry_run=dry_run))

    assert (again.there, again.copied, again.problems) == (COUNT, 0, {})
    assert verify_plan(plan).wrong == {}


@pytest.mark.changes_originals
def test_original_that_changed_since_the_plan_is_not_copied(slow, fast):
    plan = plan_of(slow, fast)
    name = plan.files[5].name
    with (slow / name).open("ab") as file:
        file.write(b"more")

    result = apply_plan(plan, COPY)

    assert list(result.problems) == [name]
    assert "changed since the plan" in result.problems[name]
    assert not (fast / name).exists()
    assert apply_plan(plan, dataclasses.replace(COPY, refresh=True)).copied == 1
    assert differing(slow, fast) == []


@pytest.mark.changes_originals
def test_original_that_changes_while_it_is_copied_is_not_copied(slow, fast, monkeypatch):
    # GIVEN a file that is rewritten in place, to the same size and time, once its first block was read
    plan = plan_of(slow, fast)
    name = max(plan.files, key=lambda file: file.size).name
    real = Storage.read

    def read_and_change(storage, descriptor, view, path):
        count = real(storage, descriptor, view, path)
        if count and path == str(slow / name):
            found = os.stat(slow / name)
            time.sleep(0.02)
            (slow / name).write_bytes(bytes(found.st_size))
            os.utime(slow / name, ns=(found.st_atime_ns, found.st_mtime_ns))
        return count

    monkeypatch.setattr(Storage, "read", read_and_change)

    result = apply_plan(plan, COPY)

    assert result.problems == {name: "changed while it was copied"}
    assert not (fast / name).exists()


@pytest.mark.changes_originals
def test_originals_that_vanish_are_named_and_the_rest_is_copied(slow, fast):
    plan = plan_of(slow, fast)
    name = plan.files[0].name
    (slow / name).unlink()

    result = apply_plan(plan, COPY)

    assert result.problems == {name: "is not there any more"}
    assert result.copied == COUNT - 1


@pytest.mark.changes_originals
def test_original_that_became_a_pipe_does_not_hang(slow, fast):
    plan = plan_of(slow, fast)
    name = plan.files[0].name
    (slow / name).unlink()
    os.mkfifo(slow / name)

    assert apply_plan(plan, COPY).problems == {name: "is not a regular file any more"}


def test_hard_and_symbolic_links_become_copies_of_their_own(slow, fast, tmp_path):
    # GIVEN two names of one file, and a link to it
    links = tmp_path / "links"
    links.mkdir()
    original = slow / "0008.bin"
    os.link(original, links / "hard")
    (links / "soft").symlink_to(original)

    # WHEN
    apply_plan(plan_of(links, fast), COPY)

    # THEN neither copy shares anything with the original
    for name in ("hard", "soft"):
        found = os.lstat(fast / name)
        assert (found.st_nlink, found.st_ino == original.stat().st_ino) == (1, False)
        assert (fast / name).read_bytes() == original.read_bytes()
    os.unlink(links / "hard")


def test_mirror_has_every_file_and_links_only_what_is_not_staged(slow, fast):
    # GIVEN a plan of a third of the files
    whole = plan_of(slow, fast)
    plan = dataclasses.replace(whole, files=whole.files[::3])

    # WHEN
    result = apply_plan(plan, dataclasses.replace(COPY, mirror=True))

    # THEN
    assert (result.copied, result.links) == (len(plan.files), COUNT - len(plan.files))
    for file in whole.files:
        assert (fast / file.name).read_bytes() == (slow / file.name).read_bytes()
        assert (fast / file.name).is_symlink() != (file in plan.files)
    assert undo_plan(plan).links == result.links
    assert snapshot(fast) == {}


def test_a_mirror_has_no_folder_that_the_data_set_lacks(tmp_path):
    # GIVEN a data set whose folders are its classes, and its copies in a folder that may be there
    for name in ("cat", "dog"):
        make_files(tmp_path / "slow" / name, 2)
    plan = plan_of(tmp_path / "slow", tmp_path / "fast" / "data")

    # WHEN
    apply_plan(plan, dataclasses.replace(COPY, mirror=True))

    # THEN
    assert sorted(os.listdir(tmp_path / "fast" / "data")) == ["cat", "dog"]
    assert verify_plan(plan).good == 4
    undo_plan(plan)
    assert os.listdir(tmp_path) == ["slow"]


def test_a_fast_root_that_is_a_mount_has_the_stagers_folder_in_it(slow, fast, monkeypatch):
    # GIVEN
    plan, really_rename = plan_of(slow, fast), Path.rename

    def rename(path, target):
        if target.parent != fast:
            raise OSError(errno.EXDEV, "Invalid cross-device link", str(path))
        return really_rename(path, target)

    monkeypatch.setattr(Path, "rename", rename)

    # WHEN
    assert apply_plan(plan, COPY).copied == COUNT

    # THEN
    assert state_folder(fast) == fast / STATE_FOLDER
    assert verify_plan(plan).good == COUNT
    undo_plan(plan)
    assert os.listdir(fast) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_stagers_folder_of_somebody_else_is_refused(slow, fast):
    theirs = fast.parent / f"{STATE_FOLDER}-fast"
    theirs.mkdir()
    os.chown(theirs, 12_345, 12_345)

    with pytest.raises(ConfigurationError, match=r"belongs to another user: plan with another --fast DIR\.$"):
        apply_plan(plan_of(slow, fast), COPY)

    assert os.listdir(theirs) == os.listdir(fast) == []


def test_a_mirror_has_all_files_of_a_linked_folder_that_copies_go_into(tmp_path, fast):
    # GIVEN a data set that has a folder by a link, and a plan with one of its files
    make_files(tmp_path / "elsewhere", 2)
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "train").symlink_to(tmp_path / "elsewhere")
    names = sorted(
        os.path.relpath(path, tmp_path / "elsewhere") for path in (tmp_path / "elsewhere").rglob("*.*")
    )
    whole = plan_of(tmp_path / "slow" / "train", fast)
    staged = dataclasses.replace(whole.files[0], name=f"train/{whole.files[0].name}")
    plan = dataclasses.replace(whole, slow_root=str(tmp_path / "slow"), files=(staged,))

    # WHEN
    result = apply_plan(plan, dataclasses.replace(COPY, mirror=True))

    # THEN
    assert (result.problems, result.copied, result.links) == ({}, 1, 1)
    assert sorted(path.name for path in (fast / "train").rglob("*.*")) == sorted(
        os.path.basename(n) for n in names
    )


def test_mirror_goes_on_past_a_folder_that_cannot_be_read(slow, fast, monkeypatch):
    # GIVEN a data set that is a whole file system, with a folder of root's
    plan, really_list = plan_of(slow, fast), os.scandir
    (slow / "lost+found").mkdir()

    def list_folder(path):
        if str(path).endswith("lost+found"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return really_list(path)

    monkeypatch.setattr(os, "scandir", list_folder)

    # WHEN
    result = apply_plan(
        dataclasses.replace(plan, files=plan.files[:5]), dataclasses.replace(COPY, mirror=True)
    )
    monkeypatch.undo()
    (slow / "lost+found").rmdir()

    # THEN the rest is linked
    assert (result.copied, result.links, result.stopped) == (5, COUNT - 5, "")
    assert result.problems == {"lost+found": "cannot be read: Permission denied"}


def test_file_that_was_linked_is_staged_by_a_later_plan(slow, fast):
    whole = plan_of(slow, fast)
    apply_plan(dataclasses.replace(whole, files=()), dataclasses.replace(COPY, mirror=True))

    assert apply_plan(whole, COPY).copied == COUNT

    assert not any((fast / file.name).is_symlink() for file in whole.files)


def test_dry_run_makes_nothing(slow, tmp_path):
    plan = plan_of(slow, tmp_path / "new")

    result = apply_plan(plan, dataclasses.replace(COPY, dry_run=True))

    assert (result.copied, result.copied_bytes) == (COUNT, sum(file.size for file in plan.files))
    assert not (tmp_path / "new").exists()


def change(slow, fast, plan):
    (slow / plan.files[0].name).write_bytes(b"changed")
    (slow / plan.files[1].name).unlink()


def stage_and_change(slow, fast, plan):
    apply_plan(dataclasses.replace(plan, files=plan.files[:5]), COPY)
    change(slow, fast, plan)


def occupy(slow, fast, plan):
    (fast / "x").write_bytes(b"theirs")
    (fast / plan.files[0].name).write_bytes(b"theirs")


@pytest.mark.changes_originals
@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("refresh", [False, True])
@pytest.mark.parametrize("before", [lambda *_: None, change, stage_and_change, occupy])
def test_dry_run_says_what_the_run_does(slow, fast, before, refresh, mirror):
    plan = plan_of(slow, fast)
    before(slow, fast, plan)
    options = dataclasses.replace(COPY, refresh=refresh, mirror=mirror)
    plan = dataclasses.replace(plan, files=plan.files[:20])
    state = snapshot(fast)

    dry = apply_plan(plan, dataclasses.replace(options, dry_run=True))

    assert snapshot(fast) == state
    assert dry == apply_plan(plan, options)


def test_dry_run_stops_where_the_room_ends(slow, fast, monkeypatch):
    # GIVEN room for the first of several batches
    monkeypatch.setattr("tfdarshan.staging.apply.BATCH_FILES", 10)
    plan, room = plan_of(slow, fast), os.statvfs(fast)
    first = sum(-(-file.size // room.f_frsize) for file in plan.files[:10])
    plan = dataclasses.replace(plan, reserve_bytes=(room.f_bavail - first) * room.f_frsize)
    monkeypatch.setattr(os, "statvfs", lambda _path: room)

    dry = apply_plan(plan, dataclasses.replace(COPY, dry_run=True))

    assert dry.copied == 10
    assert "must stay free" in dry.stopped


def test_dry_run_says_would(slow, fast, tmp_path, capsys):
    plan = plan_of(slow, fast)
    fewer = dataclasses.replace(plan, files=plan.files[:5], reserve_bytes=10**18)
    write_plan(dataclasses.replace(fewer, reserve_bytes=0), tmp_path / "fits.json")
    write_plan(fewer, tmp_path / "full.json")

    assert main(["stage", "apply", str(tmp_path / "fits.json"), "--mirror", "--dry-run"]) == 0
    assert main(["stage", "apply", str(tmp_path / "full.json"), "--dry-run"]) == 1

    said = capsys.readouterr().out
    assert f"{COUNT - 5} links to {slow} would be made for the others" in said
    assert f"would be stopped: {fast} has" in said


def test_two_applies_at_once(slow, fast):
    plan = plan_of(slow, fast)

    with locked_stage(plan, create=True):
        with pytest.raises(ConfigurationError, match="another `tfdarshan stage` is at work"):
            apply_plan(plan, COPY)
        with pytest.raises(ConfigurationError, match="is at work"):
            undo_plan(plan)

    assert apply_plan(plan, COPY).copied == COUNT


def test_reserve_is_kept(slow, fast):
    free = os.statvfs(fast).f_bavail * os.statvfs(fast).f_frsize
    plan = plan_of(slow, fast, reserve_bytes=free + 1_000_000)

    result = apply_plan(plan, COPY)

    assert result.copied == 0
    assert "must stay free" in result.stopped


def test_fast_root_that_cannot_be_made(slow):
    with pytest.raises(StorageError, match="cannot be used: No such file"):
        apply_plan(plan_of(slow, Path("/proc/none/fast")), COPY)


def test_commands_say_what_they_did(slow, fast, tmp_path, capsys):
    write_plan(plan_of(slow, fast), tmp_path / "plan.json")

    assert main(["stage", "apply", str(tmp_path / "plan.json"), "--bandwidth", "1G"]) == 0
    assert main(["stage", "verify", str(tmp_path / "plan.json")]) == 0
    assert main(["stage", "undo", str(tmp_path / "plan.json"), "--dry-run"]) == 0
    assert main(["stage", "undo", str(tmp_path / "plan.json")]) == 0

    said = capsys.readouterr()
    assert said.err == ""
    for part in (f"copied {COUNT} files", f"{COUNT} copies of {COUNT} good", f"would remove {COUNT} copies"):
        assert part in said.out


@pytest.mark.parametrize("limit", ["0", "0.5"])
def test_a_bandwidth_that_lets_nothing_pass_is_refused(slow, fast, tmp_path, capsys, limit):
    write_plan(plan_of(slow, fast), tmp_path / "plan.json")

    assert main(["stage", "apply", str(tmp_path / "plan.json"), "--bandwidth", limit]) == 2

    said = capsys.readouterr().err
    assert said == "tfdarshan: --bandwidth must be at least 1, not 0.\n"
    assert snapshot(fast) == {}


def test_failure_is_shown_with_any_name_and_an_exit_code(slow, fast, tmp_path, capsys):
    plan = plan_of(slow, fast)
    write_plan(plan, tmp_path / "plan.json")
    for file in plan.files:
        if "/" not in file.name:
            (fast / file.name).write_bytes(b"theirs")

    assert main(["stage", "apply", str(tmp_path / "plan.json")]) == 1

    assert "was not staged: left as it is" in capsys.readouterr().out


def test_read_error_of_an_original_is_named(slow, fast, tmp_path):
    """strace makes every read of one file fail, as a broken disk does."""
    # GIVEN
    plan = plan_of(slow, fast)
    broken = "0008.bin"
    write_plan(plan, tmp_path / "plan.json")
    command = [
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-P",
        str(slow / broken),
        "-e",
        "inject=read,readv:error=EIO",
    ]

    # WHEN
    done = subprocess.run(
        [*command, sys.executable, "-m", "tfdarshan", "stage", "apply", str(tmp_path / "plan.json")],
        capture_output=True,
        text=True,
        check=False,
    )

    # THEN
    assert done.returncode == 1, done.stderr
    assert "1: cannot be copied: Input/output error" in done.stdout
    assert verify_plan(plan).wrong == {broken: MISSING}
    assert apply_plan(plan, COPY).copied == 1


def same_names(root):
    """Make two data sets that differ in nothing but their bytes, as shards from two archives do."""
    for name in ("train", "val"):
        (root / name).mkdir()
        for number in range(3):
            path = root / name / f"{number}.bin"
            path.write_bytes(name[:1].encode() * 1000)
            os.utime(path, ns=(10**18, 10**18))
    return root / "train", root / "val"


def test_a_name_of_another_data_set_is_not_taken_for_a_copy(tmp_path, fast):
    # GIVEN copies of one data set, and another one whose files have the same names, sizes and times
    train, val = same_names(tmp_path)
    apply_plan(plan_of(train, fast), COPY)
    plan = plan_of(val, fast)

    # WHEN
    dry = apply_plan(plan, dataclasses.replace(COPY, dry_run=True))
    result = apply_plan(plan, COPY)

    # THEN the copies are those of the first, and the second has none
    assert dry == result
    why = "another plan staged a file of another folder by this name: plan with another --fast DIR"
    assert why == TAKEN_BY_ANOTHER
    assert (result.copied, result.there, set(result.problems.values())) == (0, 0, {why})
    assert verify_plan(plan).wrong == {file.name: MISSING for file in plan.files}
    assert verify_plan(plan_of(train, fast)).wrong == {}
    write_plan(plan, tmp_path / "plan.json")
    with tfdarshan.staged(tmp_path / "plan.json") as files:
        assert (val / "0.bin").read_bytes() == b"v" * 1000
    assert files.count == 0


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("staged", [True, False], ids=["copies", "links"])
def test_a_mirror_names_what_it_shows_of_another_data_set(tmp_path, fast, staged, dry_run):
    # GIVEN a mirror of one data set, and a file of somebody, by names of another data set
    train, val = same_names(tmp_path)
    mirror = dataclasses.replace(COPY, mirror=True)
    apply_plan(dataclasses.replace(plan_of(train, fast), files=plan_of(train, fast).files * staged), mirror)
    (fast / "2.bin").unlink()
    (fast / "2.bin").write_bytes(b"theirs")

    # WHEN
    plan = dataclasses.replace(plan_of(val, fast), files=())
    result = apply_plan(plan, dataclasses.replace(mirror, dry_run=dry_run))

    # THEN
    assert result.problems == {"0.bin": TAKEN_BY_ANOTHER, "1.bin": TAKEN_BY_ANOTHER, "2.bin": TAKEN}
    assert result.links == 0


def test_ctrl_c_ends_copies_that_are_under_way(slow, fast, tmp_path):
    # GIVEN copies that take hours
    plan = plan_of(slow, fast)
    write_plan(plan, tmp_path / "plan.json")
    words = ["stage", "apply", str(tmp_path / "plan.json"), "--bandwidth", "10"]
    apply = subprocess.Popen([sys.executable, "-m", "tfdarshan", *words], stderr=subprocess.PIPE, text=True)
    while not list(state_folder(fast).glob("tmp/*")):
        assert apply.poll() is None
        time.sleep(0.05)

    # WHEN
    apply.send_signal(signal.SIGINT)
    _, said = apply.communicate(timeout=120)

    # THEN the next run finishes the work
    assert apply.returncode == -signal.SIGINT, said
    assert snapshot(fast) == {}
    assert apply_plan(plan, COPY).copied == COUNT


def test_a_fast_tier_that_vanishes_is_said_and_not_made_anew(slow, fast, monkeypatch):
    # GIVEN a fast tier that is gone before the third copy
    plan, real, copies = plan_of(slow, fast), copying.copy_file, []

    def copy_and_lose(*arguments, **options):
        copies.append(arguments[0])
        if len(copies) == 3:
            shutil.rmtree(state_folder(fast))
            shutil.rmtree(fast)
        return real(*arguments, **options)

    monkeypatch.setattr("tfdarshan.staging.apply.copy_file", copy_and_lose)

    # WHEN
    result = apply_plan(dataclasses.replace(plan, files=plan.files[:3]), dataclasses.replace(COPY, threads=1))

    # THEN no original is said to be gone
    assert result.problems == {plan.files[2].name: "cannot be copied: No such file or directory"}
    assert result.stopped == f"{fast} is not there any more: mount its file system and run this command again"
    assert not fast.exists()
