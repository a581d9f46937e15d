"""tf.train.CheckpointManager is the oracle."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import later_tensorflow as tf
from tfdarshan.checkpoint.retention import Retention, next_state
from tfdarshan.checkpoint.state_file import read_state
from tfdarshan.errors import ConfigurationError

tf.needs("tensorflow")


START = 1_000_000.0


@settings(max_examples=25)
@given(
    gaps_s=st.lists(st.integers(1, 4000), min_size=1, max_size=8),
    max_to_keep=st.one_of(st.none(), st.integers(1, 3)),
    every_n_hours=st.one_of(st.none(), st.sampled_from([0.25, 0.5, 1.0])),
)
def test_state_and_files_are_those_of_the_checkpoint_manager(
    tmp_path_factory, gaps_s, max_to_keep, every_n_hours
):
    # GIVEN a manager whose clock is ours
    folder, now = tmp_path_factory.mktemp("manager"), [START]
    patch = pytest.MonkeyPatch()
    patch.setattr(time, "time", lambda: now[0])
    try:
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(v=tf.Variable(1)), folder, max_to_keep, every_n_hours
        )
        state, removed = None, set()
        for number, gap_s in enumerate(gaps_s, start=1):
            # WHEN both save; the first a second after the manager was made, as it sets its clock back by one
            now[0] += gap_s if number > 1 else 0
            manager.save()
            state, dropped = next_state(
                state,
                f"ckpt-{number}",
                now[0],
                Retention(max_to_keep=max_to_keep, every_n_hours=every_n_hours),
            )
            removed.update(dropped)
    finally:
        patch.undo()

    # THEN both keep and name the same
    assert state == read_state(folder)
    there = {path.stem for path in folder.glob("*.index")}
    assert there == {f"ckpt-{number}" for number in range(1, len(gaps_s) + 1)} - removed


def test_a_clock_that_goes_back_does_not_make_the_newest_the_oldest():
    state, _ = next_state(None, "ckpt-1", 1000.0, Retention(max_to_keep=1))

    state, dropped = next_state(state, "ckpt-2", 10.0, Retention(max_to_keep=1))

    assert (state.latest, dropped) == ("ckpt-2", ["ckpt-1"])


def test_keeping_none_is_refused():
    with pytest.raises(ConfigurationError, match="max_to_keep must be positive or None, not 0"):
        Retention(max_to_keep=0)
