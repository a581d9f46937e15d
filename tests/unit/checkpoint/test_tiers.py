"""Both tiers with made-up files: which one fails when, what stays, and who may own them."""

import contextlib
import errno
import json
import os
from functools import partial

import pytest

from tfdarshan.checkpoint.bundle import find_bundle, single_file
from tfdarshan.checkpoint.copying import Copier
from tfdarshan.checkpoint.errors import (
    DamagedCopyError,
    IncompleteCheckpointError,
    SourceError,
    StaleCheckpointError,
    TierAwayError,
    TierInUseError,
)
from tfdarshan.checkpoint.fast_tier import CONTROL, FastTier, pending_entries
from tfdarshan.checkpoint.ownership import owner_of
from tfdarshan.checkpoint.pairing import open_slow
from tfdarshan.checkpoint.retention import Retention
from tfdarshan.checkpoint.slow_tier import SlowTier, damaged_files
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.checkpoint.storage import Storage
from tfdarshan.errors import ConfigurationError

SIZES = {"data-00000-of-00002": 20_001, "data-00001-of-00002": 9_999, "index": 77}


class FailsOnce:
    """Lets step `step` fail on the slow tier, and counts the steps there."""

    def __init__(self, slow):
        self.slow, self.step, self.code, self.count = str(slow), 0, errno.ENOSPC, 0

    def arm(self, step, code):
        self.step, self.code, self.count = step, code, 0

    def __call__(self, operation, path):
        if str(path).startswith(self.slow):
            self.count += 1
            if self.count == self.step:
                raise OSError(self.code, os.strerror(self.code), str(path))


class Tiers:
    def __init__(self, root, max_to_keep=2, verify=True, fast="fast"):
        self.fault = FailsOnce(root / "slow")
        storage = Storage(self.fault)
        self.now = 100.0
        self.fast = FastTier(root / fast, storage=storage, clock=lambda: self.now)
        copier = Copier(storage, buffer_bytes=8192)
        keep = Retention(max_to_keep=max_to_keep)
        self.slow = SlowTier(root / "slow", storage=storage, copier=copier, retention=keep, verify=verify)
        self.waiting = self.fast.open()
        open_slow(self.slow, self.fast)

    def seal(self, number, saved_at=None, name="ckpt"):
        prefix = self.fast.folder / f"{name}-{number}"
        for suffix, size in SIZES.items():
            (prefix.parent / f"{prefix.name}.{suffix}").write_bytes(content(number, suffix, size))
        self.now += 1
        entry = self.fast.seal(find_bundle(prefix), saved_at=saved_at or self.now)
        for suffix in SIZES:
            (prefix.parent / f"{prefix.name}.{suffix}").unlink()
        return entry

    def publish(self, entry):
        publication = self.slow.publish(entry, partial(self.fast.path, entry))
        self.fast.remove(entry)
        return publication

    def close(self):
        self.slow.close()
        self.fast.close()


def content(number, suffix, size):
    return (f"{number} {suffix} ".encode() * size)[:size]


def assert_whole(slow, target, number):
    for suffix, size in SIZES.items():
        assert (slow / f"{target}.{suffix}").read_bytes() == content(number, suffix, size)


@pytest.fixture
def tiers(tmp_path):
    made = Tiers(tmp_path)
    yield made
    made.close()


def test_state_files_and_retention(tiers, tmp_path):
    # WHEN four are published, and two are to stay
    for number in range(1, 5):
        tiers.publish(tiers.seal(number))

    # THEN
    slow = tmp_path / "slow"
    state = read_state(slow)
    assert (state.latest, [name for name, _ in state.kept]) == ("ckpt-4", ["ckpt-3", "ckpt-4"])
    assert sorted(path.name for path in slow.iterdir() if path.name != CONTROL) == sorted(
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
        names = {path.name for path in (root / "slow").iterdir()} - {CONTROL, "checkpoint"}
        assert names == {f"ckpt-{number}.{suffix}" for number in (3, 4) for suffix in SIZES}, f"step {step}"
        assert os.listdir(root / "slow" / CONTROL / "incoming") == []
        assert os.listdir(root / "slow" / CONTROL / "retiring") == []
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


def test_an_older_checkpoint_of_another_fast_tier_does_not_become_the_latest(tmp_path):
    # GIVEN two fast tiers, of which the first left something waiting
    first = Tiers(tmp_path)
    late = first.seal(7, saved_at=50.0)
    first.close()
    second = Tiers(tmp_path, fast="other")
    second.publish(second.seal(20, saved_at=60.0))
    second.close()

    # WHEN the first comes back
    first = Tiers(tmp_path)
    with pytest.raises(StaleCheckpointError, match="older than what another fast tier has put"):
        first.publish(late)

    # THEN
    assert read_state(tmp_path / "slow").latest == "ckpt-20"
    kept = first.fast.set_aside(late)
    assert {path.name for path in kept.iterdir()} == {
        "manifest.json",
        *(f"ckpt-7.{suffix}" for suffix in SIZES),
    }
    first.close()


def test_a_second_owner_is_refused_and_told_whose_it_is(tmp_path, tiers):
    # GIVEN another fast tier for the same slow one
    other = FastTier(tmp_path / "other", storage=Storage(), clock=lambda: 0.0)
    other.open()
    slow = SlowTier(tmp_path / "slow", storage=Storage(), copier=Copier(Storage()), retention=Retention())

    # WHEN / THEN
    with pytest.raises(TierInUseError, match=f"in use by another burst buffer .process {os.getpid()} on"):
        open_slow(slow, other)
    with pytest.raises(TierInUseError):
        FastTier(tmp_path / "fast", storage=Storage(), clock=lambda: 0.0).open()
    other.close()
    assert owner_of(tmp_path / "slow" / CONTROL / "lock")["pid"] == os.getpid()
    assert owner_of(tmp_path / "other" / CONTROL / "lock") is None


def test_a_forked_child_that_outlives_its_parent_keeps_no_folder(tmp_path):
    # GIVEN a child that lives on
    tiers = Tiers(tmp_path)
    alive, end = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end[1])
        os.write(alive[1], b"!")
        os.read(end[0], 1)
        os._exit(0)
    os.read(alive[0], 1)

    # WHEN the owner's descriptors are closed, as when it is killed
    for tier in (tiers.slow, tiers.fast):
        tier._lock.forget()

    # THEN the next one gets them
    Tiers(tmp_path).close()
    os.close(end[1])
    os.waitpid(child, 0)
    for descriptor in (*alive, end[0]):
        os.close(descriptor)


def test_a_slow_tier_that_is_not_mounted_is_not_taken_for_a_new_one(tmp_path):
    # GIVEN a pair of tiers, and an empty folder in place of the slow one
    Tiers(tmp_path).close()
    (tmp_path / "slow").rename(tmp_path / "away")
    (tmp_path / "slow").mkdir()

    # WHEN / THEN
    with pytest.raises(
        TierAwayError, match=r"is it mounted\? If it is meant to be a new one, remove .*slow.json"
    ):
        Tiers(tmp_path)
    assert os.listdir(tmp_path / "slow") == []


def test_a_slow_tier_that_vanishes_is_noticed_before_anything_is_written(tiers, tmp_path):
    # GIVEN
    entry = tiers.seal(1)
    (tmp_path / "slow").rename(tmp_path / "away")
    (tmp_path / "slow").mkdir()

    # WHEN / THEN
    with pytest.raises(TierAwayError):
        tiers.publish(entry)
    assert os.listdir(tmp_path / "slow") == []


@pytest.mark.timeout(900)
def test_a_slow_tier_that_vanishes_at_any_step_is_not_made_anew(tmp_path):
    """Its path may be a mount point: what is written there would fill another disk, and be lost."""
    for step in range(1, 1000):
        # GIVEN a slow tier that goes away before this step of publishing
        tiers = Tiers(tmp_path / str(step))
        tiers.publish(tiers.seal(1))
        entry = tiers.seal(2)
        slow, away = tiers.slow.folder, tmp_path / str(step) / "away"
        left = [step]

        def vanish(_operation, path, slow=slow, away=away, left=left):
            if str(path).startswith(str(slow)):
                left[0] -= 1
                if left[0] == 0:
                    slow.rename(away)

        tiers.slow._storage._before = vanish

        # WHEN
        with contextlib.suppress(OSError):
            tiers.slow.publish(entry, partial(tiers.fast.path, entry))

        # THEN
        if left[0] > 0:
            tiers.close()
            break
        assert not slow.exists(), f"step {step}"
        latest = read_state(away).latest
        assert_whole(away, latest, int(latest[-1]))
        tiers.close()
    assert 40 < step < 999


def test_checkpoints_do_not_go_to_another_slow_tier(tmp_path):
    # GIVEN one that waits for the first slow tier
    tiers = Tiers(tmp_path)
    tiers.seal(1)
    tiers.close()
    fast = FastTier(tmp_path / "fast", storage=Storage(), clock=lambda: 0.0)
    fast.open()
    other = SlowTier(tmp_path / "other", storage=Storage(), copier=Copier(Storage()), retention=Retention())

    # WHEN / THEN
    with pytest.raises(ConfigurationError, match=r"tfdarshan burst drain .*/fast .*/slow"):
        open_slow(other, fast)
    fast.close()


def test_a_slow_tier_mounted_elsewhere_is_the_same_one(tmp_path):
    tiers = Tiers(tmp_path)
    tiers.seal(1)
    tiers.close()
    (tmp_path / "slow").rename(tmp_path / "moved")
    fast = FastTier(tmp_path / "fast", storage=Storage(), clock=lambda: 0.0)
    (entry,) = fast.open()
    moved = SlowTier(tmp_path / "moved", storage=Storage(), copier=Copier(Storage()), retention=Retention())

    open_slow(moved, fast)

    moved.publish(entry, partial(fast.path, entry))
    assert read_state(tmp_path / "moved").latest == "ckpt-1"
    moved.close()
    fast.close()


def test_what_a_killed_owner_left_in_the_queue_is_removed(tmp_path):
    # GIVEN a sealed checkpoint, one half sealed and one half removed
    tiers = Tiers(tmp_path)
    tiers.seal(1)
    tiers.close()
    for name in ("00000002-abc.partial", "00000003-abc.done"):
        (tmp_path / "fast" / CONTROL / "queue" / name).mkdir()

    # WHEN
    tiers = Tiers(tmp_path)

    # THEN
    assert [entry.name for entry in tiers.waiting] == ["ckpt-1"]
    assert len(os.listdir(tmp_path / "fast" / CONTROL / "queue")) == 1
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
    assert os.listdir(tmp_path / "fast" / CONTROL / "queue") == []


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

    manifest = json.loads((tmp_path / "slow" / CONTROL / "manifests" / "ckpt-1.json").read_text())

    assert manifest["version"] == 1
    assert [file["size_bytes"] for file in manifest["copied"]] == list(SIZES.values())
    assert [file["name"] for file in manifest["copied"]][-1] == "ckpt-1.index"
