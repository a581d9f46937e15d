"""Publishing on both tiers: what stays when a step fails, and what a copy must be to count."""

import errno
import json
import os
from functools import partial

import pytest

from tests.unit.checkpoint.made_up_tiers import SIZES, Tiers, assert_whole, content
from tfdarshan.checkpoint.bundle import find_bundle, single_file
from tfdarshan.checkpoint.burst_errors import (
    DamagedCopyError,
    IncompleteCheckpointError,
    SourceError,
)
from tfdarshan.checkpoint.copying import Copier
from tfdarshan.checkpoint.fast_tier import pending_entries
from tfdarshan.checkpoint.slow_tier import damaged_files
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.durable.file_operations import Storage
from tfdarshan.sessions.session_directory import BURST_CONTROL


def test_state_files_and_retention(tiers, tmp_path):
    # WHEN four are published, and two are to stay
    for number in range(1, 5):
        tiers.publish(tiers.seal(number))

    # THEN
    slow = tmp_path / "slow"
    state = read_state(slow)
    assert (state.latest, [name for name, _ in state.kept]) == ("ckpt-4", ["ckpt-3", "ckpt-4"])
    assert sorted(path.name for path in slow.iterdir() if path.name != BURST_CONTROL) == sorted(
        ["checkpoint", *(f"ckpt-{number}.{suffix}" for number in (3, 4) for suffix in SIZES)]
    )
    assert_whole(slow, "ckpt-4", 4)
    assert_whole(slow, "ckpt-3", 3)
    assert pending_entries(tmp_path / "fast") == []


@pytest.mark.timeout(900)
def test_any_step_may_fail_once(tmp_path):
    """Publishing the third checkpoint retires the first; every step of that fails in turn."""
    for step in range(1, 1000):
        code = (errno.ENOSPC, errno.EIO)[step % 2]
        # GIVEN
        root = tmp_path / str(step)
        tiers = Tiers(root)
        for number in (1, 2):
            tiers.publish(tiers.seal(number))
        entry = tiers.seal(3)

        # WHEN
        tiers.fault.arm(step, code)
        try:
            tiers.slow.publish(entry, partial(tiers.fast.path, entry))
            failed = False
        except OSError:
            failed = True
        happened = tiers.fault.count >= step
        tiers.fault.arm(0, 0)

        # THEN the slow tier names something whole
        latest = read_state(root / "slow").latest
        assert latest == "ckpt-3" if not failed else latest in ("ckpt-2", "ckpt-3"), f"step {step}"
        assert_whole(root / "slow", latest, int(latest[-1]))

        # and the next try, and one checkpoint more, leave nothing behind
        tiers.publish(entry)
        tiers.publish(tiers.seal(4))
        assert read_state(root / "slow").names == {"ckpt-3", "ckpt-4"}, f"step {step}"
        for number in (3, 4):
            assert_whole(root / "slow", f"ckpt-{number}", number)
        names = {path.name for path in (root / "slow").iterdir()} - {BURST_CONTROL, "checkpoint"}
        assert names == {f"ckpt-{number}.{suffix}" for number in (3, 4) for suffix in SIZES}, f"step {step}"
        assert os.listdir(root / "slow" / BURST_CONTROL / "incoming") == []
        assert os.listdir(root / "slow" / BURST_CONTROL / "retiring") == []
        tiers.close()
        if not happened:
            break
    assert 40 < step < 999


def test_a_name_that_is_taken_gives_way_and_neither_is_touched(tiers, tmp_path):
    # GIVEN ckpt-1, and a run that begins at 1 again
    tiers.publish(tiers.seal(1))
    again = tiers.seal(1)

    # WHEN
    target = tiers.publish(again).published.target

    # THEN
    assert target == "ckpt.2-1"
    assert read_state(tmp_path / "slow").latest == "ckpt.2-1"
    assert_whole(tmp_path / "slow", "ckpt-1", 1)
    assert_whole(tmp_path / "slow", "ckpt.2-1", 1)


def test_a_checkpoint_that_is_published_twice_is_there_once(tiers, tmp_path):
    # GIVEN an entry that was published and is still in the queue
    entry = tiers.seal(1)
    tiers.slow.publish(entry, partial(tiers.fast.path, entry))

    # WHEN
    again = tiers.publish(entry)

    # THEN
    assert (again.published.target, again.copy_s) == ("ckpt-1", 0.0)
    assert read_state(tmp_path / "slow").names == {"ckpt-1"}


def test_a_published_copy_that_a_newer_one_replaced_is_not_looked_at_again(tiers, tmp_path):
    # GIVEN an entry that was published, a newer one, and no file of the older one any more
    entry = tiers.seal(1)
    tiers.slow.publish(entry, partial(tiers.fast.path, entry))
    tiers.publish(tiers.seal(2))
    (tmp_path / "slow" / "ckpt-1.index").unlink()

    # WHEN
    again = tiers.slow.publish(entry, partial(tiers.fast.path, entry))

    # THEN
    assert (again.published.target, again.verify_s) == ("ckpt-1", 0.0)
    assert read_state(tmp_path / "slow").latest == "ckpt-2"


def test_a_published_copy_that_is_damaged_is_made_again(tiers, tmp_path):
    # GIVEN an entry that was published, and whose copy is damaged before that was certain
    entry = tiers.seal(1)
    tiers.slow.publish(entry, partial(tiers.fast.path, entry))
    (tmp_path / "slow" / "ckpt-1.index").write_bytes(b"damaged")

    # WHEN
    target = tiers.publish(entry).published.target

    # THEN
    assert read_state(tmp_path / "slow").latest == target != "ckpt-1"
    assert_whole(tmp_path / "slow", target, 1)


def test_a_copy_that_is_not_what_was_read_is_not_published(tmp_path):
    # GIVEN a slow tier that changes a byte
    tiers = Tiers(tmp_path)
    tiers.publish(tiers.seal(1))
    entry = tiers.seal(2)
    write = Storage.write

    def changes(self, descriptor, view, path):
        write(
            self,
            descriptor,
            memoryview(bytes([view[0] ^ 1]) + view[1:]) if "data-00001" in path.name else view,
            path,
        )

    # WHEN
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Storage, "write", changes)
        with pytest.raises(DamagedCopyError):
            tiers.slow.publish(entry, partial(tiers.fast.path, entry))

    # THEN
    assert read_state(tmp_path / "slow").latest == "ckpt-1"
    tiers.publish(entry)
    assert read_state(tmp_path / "slow").latest == "ckpt-2"
    tiers.close()


def test_the_queue_keeps_bytes_whose_names_are_gone(tiers, tmp_path):
    entry = tiers.seal(1)

    assert not list((tmp_path / "fast").glob("ckpt*"))
    for suffix, size in SIZES.items():
        assert (tiers.fast.path(entry) / f"ckpt-1.{suffix}").read_bytes() == content(1, suffix, size)


def test_a_checkpoint_removed_while_it_is_sealed_leaves_nothing(tiers, tmp_path):
    # GIVEN a bundle of which a file is gone
    prefix = tmp_path / "fast" / "ckpt-9"
    for suffix in SIZES:
        (prefix.parent / f"ckpt-9.{suffix}").write_bytes(b"x")
    bundle = find_bundle(prefix)
    (prefix.parent / "ckpt-9.index").unlink()

    # WHEN / THEN
    with pytest.raises(IncompleteCheckpointError):
        tiers.fast.seal(bundle, saved_at=1.0)
    assert os.listdir(tmp_path / "fast" / BURST_CONTROL / "queue") == []


def test_a_file_that_cannot_be_read_is_the_fast_tiers_fault(tiers):
    entry = tiers.seal(1)
    (tiers.fast.path(entry) / "ckpt-1.data-00000-of-00002").unlink()

    with pytest.raises(SourceError):
        tiers.slow.publish(entry, partial(tiers.fast.path, entry))


def test_a_file_replaces_the_one_of_its_name(tiers, tmp_path):
    # GIVEN best.keras, and a better one
    for version in (b"first", b"second"):
        (tmp_path / "fast" / "best.keras").write_bytes(version)
        entry = tiers.fast.seal(single_file(tmp_path / "fast" / "best.keras"), saved_at=tiers.now)
        (tmp_path / "fast" / "best.keras").unlink()
        tiers.publish(entry)

        # THEN
        assert (tmp_path / "slow" / "best.keras").read_bytes() == version
    assert not (tmp_path / "slow" / "checkpoint").exists()


def test_checkpoints_that_changed_since_are_found(tiers, tmp_path):
    # GIVEN two, of which one rots
    for number in (1, 2):
        tiers.publish(tiers.seal(number))
    assert damaged_files(tmp_path / "slow", Copier(Storage())) == {}
    with open(tmp_path / "slow" / "ckpt-1.data-00000-of-00002", "r+b") as file:
        file.write(b"?")

    # WHEN
    damaged = damaged_files(tmp_path / "slow", Copier(Storage()))

    # THEN
    assert list(damaged) == ["ckpt-1"]
    assert "holds other bytes than were written" in damaged["ckpt-1"]


def test_a_checkpoint_of_tensorflows_own_is_retired_like_ours(tiers, tmp_path):
    # GIVEN a slow tier in which a CheckpointManager was at work
    slow = tmp_path / "slow"
    for suffix, size in SIZES.items():
        (slow / f"old-5.{suffix}").write_bytes(content(5, suffix, size))
    (slow / "checkpoint").write_text(
        'model_checkpoint_path: "old-5"\nall_model_checkpoint_paths: "old-5"\n'
        "all_model_checkpoint_timestamps: 60.0\nlast_preserved_timestamp: 50.0\n"
    )

    # WHEN
    for number in (6, 7):
        tiers.publish(tiers.seal(number))

    # THEN
    assert read_state(slow).names == {"ckpt-6", "ckpt-7"}
    assert not list(slow.glob("old-5*"))


def test_a_manifest_says_what_was_written(tiers, tmp_path):
    tiers.publish(tiers.seal(1))

    manifest = json.loads((tmp_path / "slow" / BURST_CONTROL / "manifests" / "ckpt-1.json").read_text())

    assert manifest["version"] == 1
    assert [file["size_bytes"] for file in manifest["copied"]] == list(SIZES.values())
    assert [file["name"] for file in manifest["copied"]][-1] == "ckpt-1.index"
