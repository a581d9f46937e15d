"""AlexNet and the small network of the malware workload, in Keras."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

# AlexNet's own: filters and sizes of five convolutions, units of two dense layers.
PUBLISHED_WIDTH = 1.0


@keras.saving.register_keras_serializable("tfdarshan")
class LocalResponseNormalization(keras.layers.Layer):  # type: ignore[misc]
    """AlexNet's normalisation, which Keras does not have."""

    def call(self, inputs: Any) -> Any:
        """Normalise over 5 neighbouring channels."""
        return tf.nn.local_response_normalization(inputs, depth_radius=2, bias=2.0, alpha=1e-4, beta=0.75)


def make_alexnet(
    *, side: int, classes: int, width: float = PUBLISHED_WIDTH, optimizer: str = "sgd", seed: int = 0
) -> keras.Model:
    """Return AlexNet, compiled and built.

    Args:
        side: Side of the square RGB input, 64 or more; 224 as published.
        classes: Categories.
        width: Factor on filters and units; 1 as published.
        optimizer: "sgd" (rate 0.01) or "adam".
        seed: Of the weights.
    """
    keras.utils.set_random_seed(seed)
    layers = keras.layers

    def scaled(count: int) -> int:
        return max(4, round(count * width))

    model = keras.Sequential(
        [
            layers.Input((side, side, 3)),
            layers.Conv2D(scaled(96), 11, strides=4, padding="same", activation="relu"),
            LocalResponseNormalization(),
            layers.MaxPooling2D(3, 2),
            layers.Conv2D(scaled(256), 5, padding="same", activation="relu"),
            LocalResponseNormalization(),
            layers.MaxPooling2D(3, 2),
            layers.Conv2D(scaled(384), 3, padding="same", activation="relu"),
            layers.Conv2D(scaled(384), 3, padding="same", activation="relu"),
            layers.Conv2D(scaled(256), 3, padding="same", activation="relu"),
            layers.MaxPooling2D(3, 2),
            layers.Flatten(),
            layers.Dense(scaled(4096), activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(scaled(4096), activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(classes, activation="softmax"),
        ]
    )
    return _compiled(model, optimizer)


def make_malware_cnn(*, side: int, classes: int, seed: int = 0) -> keras.Model:
    """Return the network of two convolutions for grey images, compiled and built."""
    keras.utils.set_random_seed(seed)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((side, side, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(classes, activation="softmax"),
        ]
    )
    return _compiled(model, "sgd")


def _compiled(model: keras.Model, optimizer: str) -> keras.Model:
    """Compile and trace the model on zeros, so that no run pays for it."""
    optimizers = {"sgd": keras.optimizers.SGD(0.01), "adam": keras.optimizers.Adam(1e-4)}
    model.compile(optimizer=optimizers[optimizer], loss="categorical_crossentropy", jit_compile=False)
    return model


def warm_up(model: keras.Model, batch: int) -> None:
    """Trace the training step for batches of that size."""
    inputs = np.zeros((batch, *model.input_shape[1:]), np.float32)
    targets = np.zeros((batch, model.output_shape[-1]), np.float32)
    targets[:, 0] = 1
    model.train_on_batch(inputs, targets)
