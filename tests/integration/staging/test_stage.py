"""Applying, verifying and undoing plans: what is made, what is refused, what is left alone."""

import dataclasses
import os
import subprocess
import threading
import time

import pytest

from tests.integration.staging.tree import differing, make_files, plan_of, snapshot
from tfdarshan.commands import main
from tfdarshan.errors import ConfigurationError, StorageError
from tfdarshan.staging import copy_file as copying
from tfdarshan.staging.apply import ApplyOptions, apply_plan
from tfdarshan.staging.plan import STATE_FOLDER, write_plan
from tfdarshan.staging.stage_folder import locked_stage
from tfdarshan.staging.throttle import Throttle
from tfdarshan.staging.undo import undo_plan
from tfdarshan.staging.verify import DAMAGED, FOREIGN, GONE, MISSING, STALE, verify_plan

COUNT = 30
COPY = ApplyOptions()


@pytest.fixture
def slow(tmp_path):
    make_files(tmp_path / "slow", COUNT)
    return tmp_path / "slow"


@pytest.fixture
def fast(tmp_path):
    (tmp_path / "fast").mkdir()
    return tmp_path / "fast"


@pytest.fixture(autouse=True)
def originals_untouched(request):
    """Proves that staging wrote, moved and deleted no original; tests that do so themselves say it."""
    if "slow" not in request.fixturenames:
        yield
        return
    slow = request.getfixturevalue("slow")
    before = snapshot(slow)
    yield
    if "changes_originals" not in request.keywords:
        assert snapshot(slow) == before


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


def test_second_run_copies_nothing(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)
    before = snapshot(fast)

    result = apply_plan(plan, COPY)

    assert (result.copied, result.there) == (0, COUNT)
    assert snapshot(fast) == before


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
    assert not (fast / STATE_FOLDER).exists()


def test_fast_root_that_was_made_is_removed_too(slow, tmp_path):
    plan = plan_of(slow, tmp_path / "new")
    apply_plan(plan, COPY)

    undo_plan(plan)

    assert not (tmp_path / "new").exists()


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

    assert all(why.endswith("is in the way: it is no folder") for why in result.problems.values())
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_name_taken_while_copying_is_kept(slow, fast, monkeypatch):
    # GIVEN somebody who takes a name just before it is given to the copy
    plan = plan_of(slow, fast)
    taken = plan.files[3].name
    real = copying.copy_file

    def copy_and_take(source, *arguments):
        copy = real(source, *arguments)
        if source.endswith(taken):
            (fast / taken).parent.mkdir(exist_ok=True)
            (fast / taken).write_bytes(b"theirs")
        return copy

    monkeypatch.setattr("tfdarshan.staging.apply.copy_file", copy_and_take)

    result = apply_plan(plan, COPY)

    assert result.problems == {taken: "its name was taken by somebody else"}
    assert (fast / taken).read_bytes() == b"theirs"


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
    real = copying._transfer

    def transfer_and_change(reading, writing, *rest):
        count = real(reading, writing, *rest)
        if os.path.samestat(os.fstat(reading), os.stat(slow / name)):
            found = os.stat(slow / name)
            time.sleep(0.02)
            (slow / name).write_bytes(bytes(found.st_size))
            os.utime(slow / name, ns=(found.st_atime_ns, found.st_mtime_ns))
        return count

    monkeypatch.setattr(copying, "_transfer", transfer_and_change)

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

    assert apply_plan(plan, COPY).problems == {name: "is no regular file any more"}


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

    # THEN the second's own ten are there, and a new run brings the shared ones back
    assert verify_plan(second).good == COUNT - 20
    assert apply_plan(second, COPY).copied == 10
    undo_plan(second)
    assert snapshot(fast) == {}
    assert not (fast / STATE_FOLDER).exists()


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


def test_file_that_was_linked_is_staged_by_a_later_plan(slow, fast):
    whole = plan_of(slow, fast)
    apply_plan(dataclasses.replace(whole, files=()), dataclasses.replace(COPY, mirror=True))

    assert apply_plan(whole, COPY).copied == COUNT

    assert not any((fast / file.name).is_symlink() for file in whole.files)


def test_dry_run_makes_nothing(slow, tmp_path):
    plan = plan_of(slow, tmp_path / "new")

    result = apply_plan(plan, dataclasses.replace(COPY, dry_run=True))

    assert (result.copied, result.copied_bytes) == (COUNT, plan.total_bytes)
    assert not (tmp_path / "new").exists()


def test_two_applies_at_once(slow, fast):
    plan = plan_of(slow, fast)

    with locked_stage(plan, create=True):
        with pytest.raises(ConfigurationError, match="another `tfdarshan stage` is at work"):
            apply_plan(plan, COPY)
        with pytest.raises(ConfigurationError, match="is at work"):
            undo_plan(plan)

    assert apply_plan(plan, COPY).copied == COUNT


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


def test_reserve_is_kept(slow, fast):
    free = os.statvfs(fast).f_bavail * os.statvfs(fast).f_frsize
    plan = plan_of(slow, fast, reserve_bytes=free + 1_000_000)

    result = apply_plan(plan, COPY)

    assert result.copied == 0
    assert "are to stay so" in result.stopped


def test_bandwidth_limit_is_kept():
    # GIVEN a clock that only sleeping moves
    now = [0.0]
    throttle = Throttle(1_000_000, clock=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))

    # WHEN 10 MB pass
    for _ in range(100):
        throttle.take(100_000)

    # THEN all but the last block had their time
    assert now[0] == pytest.approx(9.9)


def test_journal_cut_off_by_a_crash_is_continued(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(dataclasses.replace(plan, files=plan.files[:10]), COPY)
    with (fast / STATE_FOLDER / "journal").open("ab") as journal:
        journal.write(b'{"kind": "file", "name": "ha')

    assert apply_plan(plan, COPY).copied == COUNT - 10
    assert verify_plan(plan).good == COUNT


def test_damaged_journal_is_one_sentence(slow, fast):
    plan = plan_of(slow, fast)
    apply_plan(plan, COPY)
    journal = fast / STATE_FOLDER / "journal"
    journal.write_bytes(b"garbage\n" + journal.read_bytes())

    with pytest.raises(StorageError, match="damaged at line 1"):
        apply_plan(plan, COPY)


def test_fast_root_without_parent(slow, tmp_path):
    with pytest.raises(StorageError, match="cannot be used: No such file"):
        apply_plan(plan_of(slow, tmp_path / "none" / "fast"), COPY)


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
        "inject=read:error=EIO",
    ]

    # WHEN
    done = subprocess.run(
        [*command, os.sys.executable, "-m", "tfdarshan", "stage", "apply", str(tmp_path / "plan.json")],
        capture_output=True,
        text=True,
        check=False,
    )

    # THEN
    assert done.returncode == 1, done.stderr
    assert "1: cannot be copied: Input/output error" in done.stdout
    assert verify_plan(plan).wrong == {broken: MISSING}
    assert apply_plan(plan, COPY).copied == 1
