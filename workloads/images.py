"""Photograph-like JPEG files whose sizes are distributed as ImageNet's.

A set is a function of its seed: file `i` depends on nothing but the seed and `i`. So a set of
1,000 files is the beginning of one with 100,000, an interrupted run is continued where it
stopped, and what is there already is used again.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

MEDIAN_BYTES = 88_000
SIZE_SIGMA = 0.6  # of the lognormal: mean 105 KB, 95 % of the files between 27 and 285 KB
SMALLEST_BYTES = 4_000
LARGEST_BYTES = 960_000  # stays below the 1 MiB that tf.io.read_file reads in one call
CLASSES = 10

_TEXTURE_SIDE = 2048
_OCTAVES = ((16, 0.55), (64, 0.25), (256, 0.18), (1024, 0.15), (2048, 0.10))  # cells, amplitude
_QUALITY = 88
_BYTES_PER_PIXEL = 0.45  # first guess; the second encoding corrects it
_SIZE_TOLERANCE = 0.03


@dataclass(frozen=True)
class ImageFile:
    """One file of a set."""

    path: Path
    label: int  # 0 <= label < CLASSES; the colour of the image tells it
    size_bytes: int


def write_images(
    directory: Path,
    count: int,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[ImageFile]:
    """Gives the first `count` files of the set `seed`, written where they are missing.

    Args:
        directory: The set is written to `seed-<seed>/class-<label>/<index>.jpg` below it.
        count: Number of files.
        seed: Which set.
        progress: Called as `progress(files_present, count)`.

    Returns:
        The files in order of their index.
    """
    root = directory / f"seed-{seed}"
    for label in range(CLASSES):
        (root / f"class-{label}").mkdir(parents=True, exist_ok=True)
    files: list[ImageFile] = []
    for file in _in_parallel(root, count, seed):
        files.append(file)
        progress(len(files), count)
    return files


def target_bytes(index: int, seed: int) -> int:
    """Gives the size file `index` is made for, in bytes; it comes within 5 % of that."""
    normal = np.random.default_rng([seed, index, 1]).standard_normal()
    size = MEDIAN_BYTES * np.exp(SIZE_SIGMA * normal)
    return int(np.clip(size, SMALLEST_BYTES, LARGEST_BYTES))


def _in_parallel(root: Path, count: int, seed: int) -> Iterator[ImageFile]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda index: _present(root, index, seed), range(count))


def _present(root: Path, index: int, seed: int) -> ImageFile:
    label = index % CLASSES
    path = root / f"class-{label}" / f"{index:06d}.jpg"
    if not _is_whole(path):
        _write_whole(path, _encode_to_size(target_bytes(index, seed), index, label, seed))
    return ImageFile(path, label, path.stat().st_size)


def _is_whole(path: Path) -> bool:
    """Says whether a JPEG is there from its first marker to its last."""
    try:
        with path.open("rb") as file:
            start = file.read(2)
            file.seek(-2, os.SEEK_END)
            return start == b"\xff\xd8" and file.read(2) == b"\xff\xd9"
    except OSError:  # missing, or shorter than a marker
        return False


def _write_whole(path: Path, data: bytes) -> None:
    partial = path.with_suffix(".partial")
    partial.write_bytes(data)
    partial.replace(path)


def _encode_to_size(size_bytes: int, index: int, label: int, seed: int) -> bytes:
    """Gives a JPEG of about `size_bytes`, by choosing its area."""
    pixels = size_bytes / _BYTES_PER_PIXEL
    for _ in range(8):
        data = _encode(pixels, index, label, seed)
        if abs(len(data) - size_bytes) <= _SIZE_TOLERANCE * size_bytes:
            break
        pixels *= size_bytes / len(data)
    return data


def _encode(pixels: float, index: int, label: int, seed: int) -> bytes:
    random = np.random.default_rng([seed, index, 2])
    texture = _texture(seed)
    width = min(int((pixels * 4 / 3) ** 0.5), _TEXTURE_SIDE)
    height = min(int(pixels / width), _TEXTURE_SIDE)
    left = int(random.random() * (_TEXTURE_SIDE - width))
    top = int(random.random() * (_TEXTURE_SIDE - height))
    pixels_rgb = texture[top : top + height, left : left + width] + _tint(label)
    image = Image.fromarray(np.clip(pixels_rgb, 0, 255).astype(np.uint8))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


def _tint(label: int) -> np.ndarray:
    """Gives the RGB offset of a class: `CLASSES` points on a circle of hues."""
    angle = 2 * np.pi * (label / CLASSES + np.array([0, 1, 2]) / 3)
    return (40 * np.cos(angle)).astype(np.int16)


@cache
def _texture(seed: int) -> np.ndarray:
    """Gives the noise all images of a set are cut from: int16, shape (side, side, 3)."""
    random = np.random.default_rng([seed, 0])
    texture = np.full((_TEXTURE_SIDE, _TEXTURE_SIDE, 3), 127.5, np.float32)
    for cells, amplitude in _OCTAVES:
        noise = Image.fromarray(random.integers(0, 256, (cells, cells, 3), np.uint8))
        side = (_TEXTURE_SIDE, _TEXTURE_SIDE)
        smooth = np.asarray(noise.resize(side, Image.Resampling.BICUBIC), np.float32)
        texture += amplitude * (smooth - 127.5)
    return texture.astype(np.int16)
