"""TensorFlow itself reads what is written here and writes what is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import later_tensorflow as tf
from tfdarshan.checkpoint.burst_errors import BurstBufferError
from tfdarshan.checkpoint.state_file import CheckpointState, parse_state, read_state

tf.needs("tensorflow")


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(latest=NAMES, older=st.lists(st.tuples(NAMES, st.floats(0, 2e9)), max_size=3))
def test_tensorflow_reads_the_same_state(tmp_path_factory, latest, older):
    # GIVEN any names
    folder = tmp_path_factory.mktemp("state")
    state = CheckpointState(latest, (*older, (latest, 2e9 + 0.25)), 1e9 + 1 / 3)

    # WHEN the state is written as we word it
    (folder / "checkpoint").write_text(state.text(), encoding="utf-8")

    # THEN TensorFlow reads the same, and so do we
    read = tf.train.get_checkpoint_state(str(folder))
    assert read.model_checkpoint_path == f"{folder}/{latest}"
    assert list(read.all_model_checkpoint_paths) == [f"{folder}/{name}" for name, _ in state.kept]
    assert list(read.all_model_checkpoint_timestamps) == [at for _, at in state.kept]
    assert read.last_preserved_timestamp == 1e9 + 1 / 3
    assert read_state(folder) == state


def test_state_that_tensorflow_wrote(tmp_path):
    # GIVEN a state of TensorFlow's own
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1)), tmp_path, max_to_keep=2)
    for _ in range(3):
        manager.save()

    # WHEN
    state = read_state(tmp_path)

    # THEN
    assert state.latest == "ckpt-3"
    assert [name for name, _ in state.kept] == ["ckpt-2", "ckpt-3"]
    assert state.kept[1][1] > state.kept[0][1] > state.last_preserved_at


def test_absolute_names_become_relative_only_below_the_folder(tmp_path):
    text = (
        f'model_checkpoint_path: "{tmp_path}/ckpt-2"\n'
        f'all_model_checkpoint_paths: "/elsewhere/ckpt-1"\nall_model_checkpoint_paths: "{tmp_path}/ckpt-2"\n'
    )

    state = parse_state(text, tmp_path)

    assert state.latest == "ckpt-2"
    assert [name for name, _ in state.kept] == ["/elsewhere/ckpt-1", "ckpt-2"]


@pytest.mark.parametrize("content", [None, "", "\0\0\0\0"], ids=["missing", "empty", "zeros"])
def test_a_state_that_a_power_cut_left_empty_is_none(tmp_path, content):
    if content is not None:
        (tmp_path / "checkpoint").write_text(content)

    assert read_state(tmp_path) is None


def test_what_is_no_state_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "checkpoint").write_text("not a state\n")

    with pytest.raises(BurstBufferError, match="is not a checkpoint state file: it has 'not a state'"):
        read_state(tmp_path)
