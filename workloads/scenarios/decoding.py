"""Images on an SSD, decoded by one processor."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

from tfdarshan.findings.finding import Finding

from ..images import write_images
from .room import Room
from .scenario import Scenario
from .training_loop import finished, train


def _files(room: Room) -> list[Path]:
    folder, count = room.data / "images", room.number(320, 96)
    return room.once("images", lambda: [image.path for image in write_images(folder, count)])


def _run(room: Room, threads: int) -> None:
    dataset = tf.data.Dataset.from_tensor_slices([str(path) for path in _files(room)])
    dataset = dataset.map(
        lambda path: tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), (224, 224)),
        num_parallel_calls=threads,
        deterministic=False,
    )
    train(finished(dataset, batch=16, threads=threads), compute_s=0.005)


def _fixed(room: Room, finding: Finding) -> None:
    del finding
    _run(room, 2)


SCENARIO = Scenario(
    name="decoding",
    finding="decode_bound",
    cause="JPEG files decoded one at a time",
    fix="two at a time, on two processors",
    prepare=_files,
    job=lambda room: _run(room, 1),
    fixed=_fixed,
    options=lambda room: room.as_if("ssd"),
)
