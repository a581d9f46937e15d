"""BurstBuffer beside tf.train.CheckpointManager."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from tests import later_tensorflow as tf
from tfdarshan.checkpoint import BurstBuffer, read_ledger
from tfdarshan.checkpoint.burst_errors import BurstBufferError, TierInUseError
from tfdarshan.checkpoint.incoming import AHEAD
from tfdarshan.checkpoint.ledger import ledger_path
from tfdarshan.durable.file_operations import Storage
from tfdarshan.errors import ConfigurationError

ROWS = np.random.default_rng(0).random((8, 10), dtype=np.float32)


def make_model(jit_compile: bool = False) -> tf.keras.Model:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((10,)), layers.Dense(50), layers.Dense(10)])
    model.compile("adam", "mse", jit_compile=jit_compile)
    model.optimizer.build(model.trainable_variables)
    return model


def make_checkpoint(model: tf.keras.Model) -> tf.train.Checkpoint:
    step = tf.Variable(0, dtype=tf.int64)
    return tf.train.Checkpoint(model=model, optimizer=model.optimizer, step=step)


def values(checkpoint: tf.train.Checkpoint) -> list[np.ndarray]:
    variables = checkpoint.model.variables + checkpoint.optimizer.variables
    return [variable.numpy() for variable in variables] + [checkpoint.step.numpy()]


def assert_identical(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.tobytes() == theirs.tobytes()


def train(checkpoint: tf.train.Checkpoint) -> None:
    checkpoint.step.assign_add(1)
    checkpoint.model.fit(ROWS, ROWS, verbose=0)


@pytest.mark.parametrize("asynchronous", [True, False], ids=["asynchronous", "at once"])
@pytest.mark.parametrize("jit_compile", [True, False], ids=["XLA", "no XLA"])
def test_what_is_restored_is_bit_identical(tmp_path, asynchronous, jit_compile):
    # GIVEN a model that is trained on while its checkpoints are written
    checkpoint = make_checkpoint(make_model(jit_compile))
    folders = {"fast_dir": tmp_path / "fast", "slow_dir": tmp_path / "slow"}
    saved = []
    with BurstBuffer(checkpoint, asynchronous=asynchronous, max_to_keep=3, **folders) as buffer:
        for _ in range(3):
            train(checkpoint)
            saved.append(values(checkpoint))
            buffer.save()
            train(checkpoint)

    # THEN TensorFlow alone restores each of them from the slow tier: variables, optimizer, step and all
    assert tf.train.latest_checkpoint(str(tmp_path / "slow")) == str(tmp_path / "slow" / "ckpt-3")
    for number, expected in enumerate(saved, start=1):
        fresh = make_checkpoint(make_model())
        status = fresh.restore(str(tmp_path / "slow" / f"ckpt-{number}"))
        status.assert_consumed()
        assert_identical(values(fresh), expected)
        assert int(fresh.save_counter) == number


def test_a_large_checkpoint_is_copied_while_tensorflow_writes_it(tmp_path):
    # GIVEN 120 MB, which TensorFlow writes for some tenths of a second
    written = []

    def note(operation, path):
        if operation == "write":
            written.append(path.name)

    storage = Storage(note)
    value = tf.Variable(tf.random.uniform([30_000_000]))
    expected = value.numpy()

    # WHEN
    folders = {"fast_dir": tmp_path / "fast", "slow_dir": tmp_path / "slow"}
    with BurstBuffer(tf.train.Checkpoint(value=value), storage=storage, **folders) as buffer:
        buffer.save()

    # THEN its data were copied ahead and not again, and TensorFlow alone restores them
    assert written.count(AHEAD) >= 120 // 8
    assert not [name for name in written if ".data-" in name]
    value.assign(tf.zeros_like(value))
    tf.train.Checkpoint(value=value).restore(str(tmp_path / "slow" / "ckpt-1")).assert_consumed()
    assert value.numpy().tobytes() == expected.tobytes()


def test_sharded_checkpoints(tmp_path):
    # GIVEN a checkpoint that TensorFlow splits into shards
    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=1000)
    options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    checkpoint = make_checkpoint(make_model())

    # WHEN
    with BurstBuffer(checkpoint, fast_dir=tmp_path / "fast", slow_dir=tmp_path / "slow") as buffer:
        buffer.save(options=options)

    # THEN
    assert len(list((tmp_path / "slow").glob("ckpt-1.data-*"))) > 3
    fresh = make_checkpoint(make_model())
    fresh.restore(tf.train.latest_checkpoint(str(tmp_path / "slow"))).assert_consumed()
    assert_identical(values(fresh), values(checkpoint))


def test_the_same_calls_give_the_same_as_the_checkpoint_manager(tmp_path):
    # GIVEN both, with an interval of 3 steps
    checkpoint = make_checkpoint(make_model())
    other = make_checkpoint(make_model())
    manager = tf.train.CheckpointManager(
        other, tmp_path / "tf", max_to_keep=2, step_counter=other.step, checkpoint_interval=3
    )
    buffer = BurstBuffer(
        checkpoint,
        fast_dir=tmp_path / "fast",
        slow_dir=tmp_path / "slow",
        max_to_keep=2,
        step_counter=checkpoint.step,
        checkpoint_interval=3,
    )
    assert buffer.latest_checkpoint is manager.latest_checkpoint is None
    assert buffer.restore_or_initialize() is manager.restore_or_initialize() is None

    # WHEN
    for step in range(10):
        checkpoint.step.assign(step)
        other.step.assign(step)
        ours, theirs = buffer.save(check_interval=step != 5), manager.save(check_interval=step != 5)
        assert (ours is None) == (theirs is None)
        assert ours is None or Path(ours).name == Path(theirs).name
    assert buffer.save(checkpoint_number=40) is None
    assert manager.save(checkpoint_number=40) is None
    buffer.wait()

    # THEN
    names = [Path(path).name for path in manager.checkpoints]
    assert [Path(path).name for path in buffer.checkpoints] == names
    assert Path(buffer.latest_checkpoint).name == Path(manager.latest_checkpoint).name
    files = {path.name for path in (tmp_path / "tf").iterdir()}
    assert {path.name for path in (tmp_path / "slow").iterdir()} - {".tfdarshan-burst"} == files
    assert int(checkpoint.save_counter) == int(other.save_counter)
    buffer.close()


def test_init_fn_is_called_only_without_a_checkpoint(tmp_path):
    checkpoint = make_checkpoint(make_model())
    called = []
    folders = {"fast_dir": tmp_path / "fast", "slow_dir": tmp_path / "slow"}

    for _ in range(2):
        with BurstBuffer(checkpoint, init_fn=lambda: called.append(1), **folders) as buffer:
            buffer.restore_or_initialize()
            buffer.save()

    assert called == [1]


def test_a_run_that_restores_nothing_continues_the_numbers(tmp_path):
    # GIVEN three checkpoints
    folders = {"fast_dir": tmp_path / "fast", "slow_dir": tmp_path / "slow"}
    with BurstBuffer(make_checkpoint(make_model()), **folders) as buffer:
        for _ in range(3):
            buffer.save()

    # WHEN another run begins anew
    with BurstBuffer(make_checkpoint(make_model()), **folders) as buffer:
        assert Path(buffer.save()).name == "ckpt-4"


def test_the_newest_is_restored_although_the_slow_tier_has_it_not(tmp_path):
    # GIVEN a run that ended while the slow tier was full
    full = threading.Event()

    def fail(operation, path):
        if full.is_set() and str(path).startswith(str(tmp_path / "slow")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    checkpoint = make_checkpoint(make_model())
    folders = {"fast_dir": tmp_path / "fast", "slow_dir": tmp_path / "slow"}
    buffer = BurstBuffer(checkpoint, storage=Storage(fail), **folders)
    train(checkpoint)
    buffer.save()
    assert buffer.wait(60)
    full.set()
    train(checkpoint)
    expected = values(checkpoint)
    buffer.save()
    assert not buffer.close(wait=False)
    assert tf.train.latest_checkpoint(str(tmp_path / "slow")).endswith("ckpt-1")

    # WHEN the next run starts
    fresh = make_checkpoint(make_model())
    with BurstBuffer(fresh, **folders) as buffer:
        restored = buffer.restore_or_initialize()

        # THEN
        assert Path(restored).name == "ckpt-2"
        assert_identical(values(fresh), expected)
    assert tf.train.latest_checkpoint(str(tmp_path / "slow")).endswith("ckpt-2")


def test_what_cannot_be_held_is_written_at_once(tmp_path):
    # GIVEN a checkpoint with the position in a data set
    iterator = iter(tf.data.Dataset.range(100))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    next(iterator)
    with BurstBuffer(checkpoint, fast_dir=tmp_path / "fast", slow_dir=tmp_path / "slow") as buffer:
        # WHEN
        path = buffer.save()
        # THEN it is there when save() returns
        assert Path(f"{path}.index").exists()
        next(iterator)

    checkpoint.restore(tf.train.latest_checkpoint(str(tmp_path / "slow")))
    assert int(next(iterator)) == 1


def test_slots_of_an_older_optimizer_are_saved(tmp_path):
    # GIVEN an optimizer that hands TensorFlow its momenta only when it is asked for them
    def made(value):
        optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
        weight = tf.Variable([value])
        optimizer.apply_gradients([(tf.constant([value]), weight)])
        return tf.train.Checkpoint(optimizer=optimizer, weight=weight)

    checkpoint = made(3.0)

    # WHEN
    with BurstBuffer(checkpoint, fast_dir=tmp_path / "fast", slow_dir=tmp_path / "slow") as buffer:
        buffer.save()

    # THEN
    fresh = made(1.0)
    fresh.restore(tf.train.latest_checkpoint(str(tmp_path / "slow"))).assert_consumed()
    assert float(fresh.optimizer.get_slot(fresh.weight, "momentum")[0]) == 3.0


def test_two_writers_to_one_slow_tier_are_refused(tmp_path):
    checkpoint = make_checkpoint(make_model())
    with BurstBuffer(checkpoint, fast_dir=tmp_path / "fast", slow_dir=tmp_path / "slow"):
        with pytest.raises(TierInUseError, match=r"slow is in use by another burst buffer"):
            BurstBuffer(checkpoint, fast_dir=tmp_path / "other", slow_dir=tmp_path / "slow")
    # and the refused one has given up its fast tier
    BurstBuffer(checkpoint, fast_dir=tmp_path / "other", slow_dir=tmp_path / "slow").close()


def test_the_ledger_has_step_and_times_of_each(tmp_path):
    checkpoint = make_checkpoint(make_model())
    with BurstBuffer(
        checkpoint, fast_dir=tmp_path / "fast", slow_dir=tmp_path / "slow", step_counter=checkpoint.step
    ) as buffer:
        for step in (20, 40, 60):
            checkpoint.step.assign(step)
            buffer.save()

    rows = read_ledger(ledger_path(tmp_path / "slow"))
    assert [(row.checkpoint, row.step, row.outcome) for row in rows] == [
        ("ckpt-1", 20, "slow_durable"),
        ("ckpt-2", 40, "slow_durable"),
        ("ckpt-3", 60, "slow_durable"),
    ]
    for row in rows:
        assert row.saved_at <= row.fast_durable_at <= row.slow_durable_at
        assert 0 <= row.waited_s <= row.blocked_s
        files = [path for path in (tmp_path / "slow").iterdir() if path.name.startswith(f"{row.target}.")]
        assert (row.files, row.size_bytes) == (len(files), sum(path.stat().st_size for path in files))


def test_a_fast_tier_that_fails_is_told_by_the_next_call(tmp_path):
    # GIVEN a fast tier whose queue cannot be written
    broken = threading.Event()

    def fail(operation, path):
        if broken.is_set() and "queue" in path.parts:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    buffer = BurstBuffer(
        make_checkpoint(make_model()),
        fast_dir=tmp_path / "fast",
        slow_dir=tmp_path / "slow",
        storage=Storage(fail),
    )
    broken.set()
    buffer.save()

    # WHEN / THEN
    with pytest.raises(BurstBufferError, match=r"could not be written to .*Input/output error"):
        buffer.sync()
    broken.clear()
    assert Path(buffer.save()).name == "ckpt-2"
    assert buffer.close()
    assert tf.train.latest_checkpoint(str(tmp_path / "slow")).endswith("ckpt-2")


def test_the_end_says_what_is_not_durable(tmp_path):
    # GIVEN a slow tier that fails
    def fail(operation, path):
        if operation == "write" and "incoming" in path.parts:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    folders = {"fast_dir": tmp_path / "fast", "slow_dir": tmp_path / "slow"}
    buffer = BurstBuffer(
        tf.train.Checkpoint(v=tf.Variable(1)), wait_limit_s=0.2, storage=Storage(fail), **folders
    )
    buffer.save()

    # WHEN
    with pytest.warns(RuntimeWarning) as warned:
        assert not buffer.close()

    # THEN
    (said,) = (str(warning.message) for warning in warned)
    fast, slow = folders.values()
    left, why = "1 checkpoint", said[said.index("(") + 1 : said.index(")")]
    assert why.endswith(": Input/output error")
    assert said == (
        f"tfdarshan: {left} could not be made durable ({why}): run `tfdarshan burst drain {fast} {slow}`."
    )


def test_the_latest_is_there_after_a_save_that_found_no_room(tmp_path, monkeypatch):
    # GIVEN a checkpoint that is durable, and whose files on the fast tier make room for the next one
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1))
    buffer = BurstBuffer(checkpoint, fast_dir=tmp_path / "fast", slow_dir=tmp_path / "slow")
    buffer.save()
    assert buffer.wait()

    def write(*_arguments, **_options):
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    # WHEN
    with monkeypatch.context() as patched:
        patched.setattr(tf.train.Checkpoint, "write", write)
        buffer.save()
        with pytest.raises(BurstBufferError, match="No space left"):
            buffer.sync()

    # THEN
    assert buffer.latest_checkpoint == str(tmp_path / "slow" / "ckpt-1")
    assert buffer.restore_or_initialize() == buffer.latest_checkpoint
    assert buffer.close()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"checkpoint_interval": 3}, "step_counter must be given"),
        ({"checkpoint_name": "a/b"}, "must be a name without '/'"),
        ({"keep_every": 3}, "no such option.*keep_every"),
    ],
)
def test_wrong_options_are_refused(tmp_path, option, said):
    with pytest.raises(ConfigurationError, match=said):
        BurstBuffer(tf.train.Checkpoint(), fast_dir=tmp_path / "f", slow_dir=tmp_path / "s", **option)
