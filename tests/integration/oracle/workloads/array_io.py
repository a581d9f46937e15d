"""HDF5 and images."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from PIL import Image


def hdf5(directory: Path) -> None:
    values = np.arange(200_000.0)
    with h5py.File(directory / "values.h5", "w") as file:
        file["values"] = values
        file.create_group("group")["text"] = "a note"
    with h5py.File(directory / "values.h5", "r") as file:
        np.testing.assert_array_equal(file["values"][:], values)
    with h5py.File(directory / "values.h5", "r+") as file:
        file["values"][100:200] = 0
        file.flush()


def hdf5_chunks(directory: Path) -> None:
    with h5py.File(directory / "chunks.h5", "w") as file:
        table = file.create_dataset(
            "table", (0, 100), "f4", maxshape=(None, 100), chunks=(64, 100), compression="gzip"
        )
        for _ in range(10):
            table.resize(len(table) + 100, axis=0)
            table[-100:] = np.random.default_rng(0).random((100, 100))
    with h5py.File(directory / "chunks.h5", "r") as file:
        assert file["table"][::7].shape == (143, 100)


def image_files(directory: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (200, 300, 3), np.uint8)
    for name in ("image.jpg", "image.png", "image.bmp", "image.tiff", "image.gif", "image.webp"):
        Image.fromarray(pixels).save(directory / name)
        with Image.open(directory / name) as image:
            assert image.convert("RGB").size == (300, 200)
