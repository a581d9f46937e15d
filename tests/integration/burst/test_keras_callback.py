"""BurstModelCheckpoint beside keras.callbacks.ModelCheckpoint."""

from __future__ import annotations

import numpy as np
import pytest

from tests import later_tensorflow as tf
from tfdarshan import checkpoint
from tfdarshan.checkpoint import read_ledger
from tfdarshan.checkpoint.ledger import ledger_path
from tfdarshan.errors import ConfigurationError

ROWS = np.random.default_rng(0).random((8, 10), dtype=np.float32)


def make_model():
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Input((10,)), tf.keras.layers.Dense(10)])
    model.compile("sgd", "mse")
    return model


def chosen_losses(losses):
    """Return a callback that gives epochs losses of our choice before others look at them."""

    class Callback(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs["chosen"] = losses[epoch]

    return Callback()


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("{epoch}-{chosen:.1f}.keras", {}),
        ("best.keras", {"save_best_only": True}),
        ("{epoch}.keras", {"save_best_only": True, "mode": "max"}),
        ("{epoch}.weights.h5", {"save_weights_only": True, "save_best_only": True}),
        ("batch-{epoch}-{batch}.weights.h5", {"save_weights_only": True, "save_freq": 3}),
    ],
)
def test_the_same_files_as_model_checkpoint_writes(tmp_path, pattern, options):
    # GIVEN both in the same training
    options = {"monitor": "chosen", "mode": "min", **options}
    (tmp_path / "keras").mkdir()
    theirs = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "keras" / pattern), **options)
    ours = checkpoint.BurstModelCheckpoint(tmp_path / "slow" / pattern, fast_dir=tmp_path / "fast", **options)
    model = make_model()

    # WHEN
    callbacks = [chosen_losses([3.0, 1.0, 2.0, 0.5]), theirs, ours]
    model.fit(ROWS, ROWS, epochs=4, batch_size=2, verbose=0, callbacks=callbacks)

    # THEN all are durable when training ends, and hold the same weights
    names = sorted(path.name for path in (tmp_path / "keras").iterdir())
    assert names
    assert sorted(path.name for path in (tmp_path / "slow").glob("[!.]*")) == names
    for name in names:
        mine, other = make_model(), make_model()
        mine.load_weights(tmp_path / "slow" / name)
        other.load_weights(tmp_path / "keras" / name)
        for weight, expected in zip(mine.get_weights(), other.get_weights(), strict=True):
            np.testing.assert_array_equal(weight, expected)
    assert ours.close()
    assert not list((tmp_path / "fast").rglob("*.keras")) + list((tmp_path / "fast").rglob("*.h5"))


def test_a_save_that_is_interrupted_leaves_the_one_before_it(tmp_path, monkeypatch):
    # GIVEN a model that was saved, and a save that ends in the middle
    callback = checkpoint.BurstModelCheckpoint(tmp_path / "slow" / "m.keras", fast_dir=tmp_path / "fast")
    model = make_model()
    model.fit(ROWS, ROWS, verbose=0, callbacks=[callback])
    whole = (tmp_path / "slow" / "m.keras").read_bytes()

    def torn(self, path, *args, **more):
        with open(path, "wb") as file:
            file.write(whole[:2])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(tf.keras.Model, "save", torn)
        with pytest.raises(KeyboardInterrupt):
            model.fit(ROWS, ROWS, verbose=0, callbacks=[callback])

    # WHEN training goes on, and has not saved again
    callback.on_train_batch_end(0, {})

    # THEN
    callback.on_train_end()
    assert (tmp_path / "slow" / "m.keras").read_bytes() == whole


def test_the_ledger_counts_batches_as_steps(tmp_path):
    callback = checkpoint.BurstModelCheckpoint(
        tmp_path / "slow" / "{epoch}.keras", fast_dir=tmp_path / "fast"
    )
    make_model().fit(ROWS, ROWS, epochs=3, batch_size=2, verbose=0, callbacks=[callback])
    callback.close()

    rows = read_ledger(str(ledger_path(tmp_path / "slow")))
    assert [(row.checkpoint, row.step) for row in rows] == [("1.keras", 4), ("2.keras", 8), ("3.keras", 12)]
    assert all(row.blocked_s > 0 for row in rows)


def test_callbacks_of_one_training_share_their_folders(tmp_path):
    # GIVEN a callback that saves the best model, and one that saves each
    folders = {"fast_dir": tmp_path / "fast", "wait_limit_s": 60.0}
    best = checkpoint.BurstModelCheckpoint(
        tmp_path / "slow/best.keras", monitor="loss", save_best_only=True, **folders
    )
    each = checkpoint.BurstModelCheckpoint(tmp_path / "slow/{epoch}.keras", **folders)

    # WHEN one of them is closed, and the same cell of a notebook makes it anew
    make_model().fit(ROWS, ROWS, epochs=2, verbose=0, callbacks=[best, each])
    assert each.close()
    again = checkpoint.BurstModelCheckpoint(tmp_path / "slow/{epoch}-again.keras", **folders)
    make_model().fit(ROWS, ROWS, verbose=0, callbacks=[best, again])

    # THEN
    names = sorted(path.name for path in (tmp_path / "slow").glob("[!.]*"))
    assert names == ["1-again.keras", "1.keras", "2.keras", "best.keras"]
    with pytest.raises(ConfigurationError, match=r"saves from .* with other options: close"):
        checkpoint.BurstModelCheckpoint(
            tmp_path / "slow/other.keras", fast_dir=tmp_path / "fast", verify=False
        )

    # AND the last one that is closed returns both folders up
    assert best.close()
    assert again.close()
    other = checkpoint.BurstModelCheckpoint(
        tmp_path / "slow/other.keras", fast_dir=tmp_path / "fast", verify=False
    )
    assert other.close()


@pytest.mark.parametrize(
    ("path", "options", "said"),
    [
        ("{epoch}/model.keras", {}, "must be without placeholders"),
        ("model.keras", {"max_to_kep": 1}, "no such option"),
    ],
)
def test_wrong_options_are_refused(tmp_path, path, options, said):
    with pytest.raises(ConfigurationError, match=said):
        checkpoint.BurstModelCheckpoint(tmp_path / "slow" / path, fast_dir=tmp_path / "fast", **options)
