"""Photograph-like JPEG files whose sizes are distributed as those of the papers' image sets.

A set is a function of its kind and seed: file `i` depends on nothing but the seed and `i`. So a set of
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

from .disk_room import check_room

SMALLEST_BYTES = 4_000
LARGEST_BYTES = 960_000  # stays below the 1 MiB that tf.io.read_file reads in one call

_TEXTURE_SIDE = 2048
_OCTAVES = ((16, 0.55), (64, 0.25), (256, 0.18), (1024, 0.15), (2048, 0.10))  # cells, amplitude
_QUALITY = 88
_BYTES_PER_PIXEL = 0.333  # of these textures at that quality; where it is off, another encoding corrects it
_SIZE_TOLERANCE = 0.03


@dataclass(frozen=True, kw_only=True)
class ImageSet:
    """A kind of set: file sizes are lognormal, cut off at the smallest and largest size."""

    name: str
    median_bytes: int
    size_sigma: float
    classes: int
    smallest_bytes: int = SMALLEST_BYTES
    largest_bytes: int = LARGEST_BYTES


# Mean 105 KB, 95 % of the files between 27 and 285 KB.
IMAGENET = ImageSet(name="imagenet", median_bytes=88_000, size_sigma=0.6, classes=10)
# The micro-benchmark's set of arXiv 1810.03035: median 112 KB.
MEDIAN_112K = ImageSet(name="median-112k", median_bytes=112_000, size_sigma=0.6, classes=10)
# Its mini-application's: 102 categories, median 12 KB.
CALTECH101 = ImageSet(
    name="caltech101", median_bytes=12_000, size_sigma=0.45, classes=102, smallest_bytes=2_000
)
IMAGE_SETS = (IMAGENET, MEDIAN_112K, CALTECH101)


@dataclass(frozen=True)
class ImageFile:
    """One file of a set."""

    path: Path
    label: int  # 0 <= label < the set's classes; the colour of the image tells it
    size_bytes: int


def write_images(
    directory: Path,
    count: int,
    *,
    seed: int = 0,
    image_set: ImageSet = IMAGENET,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[ImageFile]:
    """Return the first `count` files of the set `seed`, written where they are missing.

    Args:
        directory: The set is written to `seed-<seed>/class-<label>/<index>.jpg` below it.
        count: Number of files.
        seed: Which set.
        image_set: Which kind of set.
        progress: Called as `progress(files_present, count)`.

    Returns:
        The files in order of their index.
    """
    root = directory / f"seed-{seed}"
    check_room(root, _missing_bytes(root, count, seed, image_set), f"{count:,} JPEG files")
    for label in range(min(image_set.classes, count)):
        (root / f"class-{label}").mkdir(parents=True, exist_ok=True)
    files: list[ImageFile] = []
    for file in _in_parallel(root, count, seed, image_set):
        files.append(file)
        progress(len(files), count)
    return files


def target_bytes(index: int, seed: int, image_set: ImageSet = IMAGENET) -> int:
    """Return the size file `index` is made for, in bytes; it comes within 5 % of that."""
    normal = np.random.default_rng([seed, index, 1]).standard_normal()
    size = image_set.median_bytes * np.exp(image_set.size_sigma * normal)
    return int(np.clip(size, image_set.smallest_bytes, image_set.largest_bytes))


def _missing_bytes(root: Path, count: int, seed: int, image_set: ImageSet) -> int:
    missing = (index for index in range(count) if not _path(root, index, image_set).exists())
    return sum(target_bytes(index, seed, image_set) for index in missing)


def _path(root: Path, index: int, image_set: ImageSet) -> Path:
    return root / f"class-{index % image_set.classes}" / f"{index:06d}.jpg"


def _in_parallel(root: Path, count: int, seed: int, image_set: ImageSet) -> Iterator[ImageFile]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda index: _present(root, index, seed, image_set), range(count))


def _present(root: Path, index: int, seed: int, image_set: ImageSet) -> ImageFile:
    label = index % image_set.classes
    path = _path(root, index, image_set)
    if not is_whole_jpeg(path):
        tint = _tint(label, image_set.classes)
        data = _encode_to_size(target_bytes(index, seed, image_set), index, tint, seed)
        _write_whole(path, data)
    return ImageFile(path, label, path.stat().st_size)


def is_whole_jpeg(path: Path) -> bool:
    """Return whether a JPEG is there from its first marker to its last."""
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


def _encode_to_size(size_bytes: int, index: int, tint: np.ndarray, seed: int) -> bytes:
    """Return a JPEG of about `size_bytes`, by choosing its area."""
    pixels = size_bytes / _BYTES_PER_PIXEL
    for _ in range(8):
        data = _encode(pixels, index, tint, seed)
        if abs(len(data) - size_bytes) <= _SIZE_TOLERANCE * size_bytes:
            break
        pixels *= size_bytes / len(data)
    return data


def _encode(pixels: float, index: int, tint: np.ndarray, seed: int) -> bytes:
    random = np.random.default_rng([seed, index, 2])
    texture = _texture(seed)
    width = min(int((pixels * 4 / 3) ** 0.5), _TEXTURE_SIDE)
    height = min(int(pixels / width), _TEXTURE_SIDE)
    left = int(random.random() * (_TEXTURE_SIDE - width))
    top = int(random.random() * (_TEXTURE_SIDE - height))
    pixels_rgb = texture[top : top + height, left : left + width] + tint
    image = Image.fromarray(np.clip(pixels_rgb, 0, 255).astype(np.uint8))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


def _tint(label: int, classes: int) -> np.ndarray:
    """Return the RGB offset of a class: `classes` points on a circle of hues."""
    angle = 2 * np.pi * (label / classes + np.array([0, 1, 2]) / 3)
    return (40 * np.cos(angle)).astype(np.int16)


@cache
def _texture(seed: int) -> np.ndarray:
    """Return the noise all images of a set are cut from: int16, shape (side, side, 3)."""
    random = np.random.default_rng([seed, 0])
    texture = np.full((_TEXTURE_SIDE, _TEXTURE_SIDE, 3), 127.5, np.float32)
    for cells, amplitude in _OCTAVES:
        noise = Image.fromarray(random.integers(0, 256, (cells, cells, 3), np.uint8))
        side = (_TEXTURE_SIDE, _TEXTURE_SIDE)
        smooth = np.asarray(noise.resize(side, Image.Resampling.BICUBIC), np.float32)
        texture += amplitude * (smooth - 127.5)
    return texture.astype(np.int16)
