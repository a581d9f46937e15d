"""Keras models and weights, saved and loaded."""

from __future__ import annotations

import warnings
from pathlib import Path

import keras
import numpy as np


def _model() -> keras.Model:
    layers = keras.layers
    model = keras.Sequential([layers.Input((64,)), layers.Dense(500), layers.Dense(300), layers.Dense(7)])
    model.compile(optimizer="adam", loss=keras.losses.MeanSquaredError())
    return model


def _assert_same(one: keras.Model, other: keras.Model) -> None:
    for expected, value in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(expected, value)


def keras_file(directory: Path) -> None:
    model = _model()
    model.save(directory / "model.keras")
    _assert_same(model, keras.models.load_model(directory / "model.keras"))


def keras_hdf5_file(directory: Path) -> None:
    model = _model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save(directory / "model.h5")
        _assert_same(model, keras.models.load_model(directory / "model.h5"))


def keras_weights_file(directory: Path) -> None:
    model, other = _model(), _model()
    model.save_weights(directory / "model.weights.h5")
    other.load_weights(directory / "model.weights.h5")
    _assert_same(model, other)


def keras_callbacks(directory: Path) -> None:
    inputs, targets = np.zeros((64, 64), np.float32), np.zeros((64, 7), np.float32)
    callbacks = [
        keras.callbacks.ModelCheckpoint(directory / "{epoch}.keras"),
        keras.callbacks.CSVLogger(str(directory / "log.csv")),
        keras.callbacks.BackupAndRestore(directory / "backup"),
    ]
    _model().fit(inputs, targets, epochs=2, verbose=0, callbacks=callbacks)
    assert keras.models.load_model(directory / "2.keras").count_params() == 184_907
