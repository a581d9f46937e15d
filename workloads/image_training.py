"""A small convolutional network trained on JPEG files through tf.data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from .images import IMAGENET, ImageFile

IMAGE_SIDE = 32
BATCH = 32
PREFETCH = 2


def make_dataset(files: Sequence[ImageFile], *, seed: int = 0) -> tf.data.Dataset:
    """Return batches of (images, labels): float32 (batch, side, side, 3) in 0..1, int32 (batch,).

    Each file is read once per epoch, by one tf.io.read_file, and decoded, one file after another: as a first
    pipeline is written, and slower than the steps on any machine.
    """
    paths = [str(file.path) for file in files]
    labels = [file.label for file in files]
    dataset = tf.data.Dataset.from_tensor_slices((paths, labels))
    dataset = dataset.shuffle(len(files), seed=seed)
    dataset = dataset.map(_load)
    return dataset.batch(BATCH).prefetch(PREFETCH)


def make_model(*, seed: int = 0) -> keras.Model:
    """Return the compiled network, already built.

    Keras builds a model it is given to fit() from a first batch, which would read the files of
    that batch once more; a batch of zeros builds it before.
    """
    keras.utils.set_random_seed(seed)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((IMAGE_SIDE, IMAGE_SIDE, 3)),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Conv2D(32, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(IMAGENET.classes, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    model.train_on_batch(np.zeros((1, IMAGE_SIDE, IMAGE_SIDE, 3), np.float32), np.zeros((1,), np.int32))
    return model


def _load(path: Any, label: Any) -> tuple[Any, Any]:
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (IMAGE_SIDE, IMAGE_SIDE)) / 255.0, label
