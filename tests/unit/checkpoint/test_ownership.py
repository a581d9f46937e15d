"""Who may own a tier, and which slow tier belongs to a fast one."""

import contextlib
import os
from functools import partial

import pytest

from tests.unit.checkpoint.made_up_tiers import SIZES, Tiers, assert_whole
from tfdarshan.checkpoint.burst_errors import (
    StaleCheckpointError,
    TierAwayError,
    TierInUseError,
)
from tfdarshan.checkpoint.copying import Copier
from tfdarshan.checkpoint.fast_tier import FastTier
from tfdarshan.checkpoint.ownership import owner_of
from tfdarshan.checkpoint.pairing import open_slow
from tfdarshan.checkpoint.retention import Retention
from tfdarshan.checkpoint.slow_tier import SlowTier
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.durable.file_operations import Storage
from tfdarshan.errors import ConfigurationError
from tfdarshan.sessions.session_directory import BURST_CONTROL


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


@pytest.mark.parametrize("saved_at", [10.0, 60.0, 1e9])
def test_which_checkpoint_is_older_is_not_a_question_of_clocks(tmp_path, saved_at):
    # GIVEN a checkpoint that waits, and a later one of another host, whose clock says anything
    first = Tiers(tmp_path)
    late = first.seal(7, saved_at=50.0)
    first.close()
    second = Tiers(tmp_path, fast="other")
    second.publish(second.seal(20, saved_at=saved_at))
    second.close()

    # WHEN the first comes back, and its job goes on
    first = Tiers(tmp_path)
    with pytest.raises(StaleCheckpointError):
        first.publish(late)
    first.publish(first.seal(21, saved_at=70.0))

    # THEN
    assert read_state(tmp_path / "slow").latest == "ckpt-21"
    first.close()


def test_checkpoints_of_an_unknown_era_are_compared_by_their_time(tmp_path):
    # GIVEN a checkpoint of an older tfdarshan, or of before the slow tier was found
    first = Tiers(tmp_path)
    first.fast.era = None
    late = first.seal(7, saved_at=80.0)
    first.close()
    second = Tiers(tmp_path, fast="other")
    second.publish(second.seal(20, saved_at=60.0))
    second.close()

    # WHEN
    first = Tiers(tmp_path)
    first.publish(late)

    # THEN
    assert read_state(tmp_path / "slow").latest == "ckpt-7"
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
    assert owner_of(tmp_path / "slow" / BURST_CONTROL / "lock")["pid"] == os.getpid()
    assert owner_of(tmp_path / "other" / BURST_CONTROL / "lock") is None


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
        TierAwayError, match=r"whether it is mounted\. If it is meant to be a new one, remove .*slow.json"
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
    assert 30 < step < 999


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
        (tmp_path / "fast" / BURST_CONTROL / "queue" / name).mkdir()

    # WHEN
    tiers = Tiers(tmp_path)

    # THEN
    assert [entry.name for entry in tiers.waiting] == ["ckpt-1"]
    assert len(os.listdir(tmp_path / "fast" / BURST_CONTROL / "queue")) == 1
    tiers.close()
