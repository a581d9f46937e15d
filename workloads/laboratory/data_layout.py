"""The data of a drawn job: made once for each layout that its programs read, then linked or copied."""

from __future__ import annotations

import io
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..disk_room import check_room
from .python_source import DATABASE, LENGTH_BYTES, PACKED, RECORDS
from .storage_kind import PARTS

IMAGES = 16  # pictures, each written to many files


@dataclass(frozen=True)
class Samples:
    """What is to be written: each sample's size, their mean, and how many record files share them."""

    sizes: list[int]
    mean_bytes: int
    shards: int


def layout_folder(
    pool: Path, layout: str, count: int, size_bytes: int, *, spread: bool, shards: int = PARTS
) -> Path:
    """Return a folder with so many samples, made where it is missing.

    Args:
        pool: Holds all of them.
        layout: One of LAYOUTS.
        count: Samples.
        size_bytes: Mean size of one.
        spread: Sizes of files are between a quarter and 1.75 times that.
        shards: Record files that hold them, of a layout of such.
    """
    folder = pool / f"{layout}-{count}-{size_bytes}-{shards}{'-spread' if spread else ''}"
    if folder.exists():
        return folder
    check_room(folder, count * size_bytes, "the laboratory's data")
    unfinished = folder.with_suffix(".partial")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    numbers = random.Random(f"{layout} {count} {size_bytes}")
    sizes = [int(size_bytes * numbers.uniform(0.25, 1.75)) if spread else size_bytes for _ in range(count)]
    LAYOUTS[layout](unfinished, Samples(sizes, size_bytes, shards))
    unfinished.rename(folder)
    return folder


Writer = Callable[[Path, Samples], None]


def place_data(source: Path, target: Path, *, link: bool) -> None:
    """Link or copy a layout to where it is to be read, unless it is there."""
    if target.exists():
        return
    for path in sorted(source.rglob("*")):
        if path.is_file():
            goal = target / path.relative_to(source)
            goal.parent.mkdir(parents=True, exist_ok=True)
            if link:
                os.link(path, goal)
            else:
                shutil.copyfile(path, goal)


def _sample(size: int) -> bytes:
    """Return bytes that compress to about half."""
    return os.urandom(size // 2) + bytes(size - size // 2)


def _parts(folder: Path, sizes: list[int], suffix: str) -> Iterator[tuple[Path, int]]:
    for number, size in enumerate(sizes):
        path = folder / f"part-{number % PARTS}" / f"{number:05}.{suffix}"
        path.parent.mkdir(exist_ok=True)
        yield path, size


def _files(folder: Path, samples: Samples) -> None:
    for path, size in _parts(folder, samples.sizes, "bin"):
        path.write_bytes(_sample(size))


def _pictures(mean: int) -> list[bytes]:
    """Make the pictures that all samples are copies of: noise of about two bytes a pixel at this quality."""
    import numpy as np
    from PIL import Image

    side = max(32, int((mean / 1.1) ** 0.5))
    noise = np.random.default_rng(0)
    made = []
    for _ in range(IMAGES):
        buffer = io.BytesIO()
        pixels = noise.integers(0, 256, (side, side, 3), np.uint8)
        Image.fromarray(pixels).save(buffer, "JPEG", quality=75)
        made.append(buffer.getvalue())
    return made


def _made(samples: Samples, *, pictures: bool) -> list[Callable[[], bytes]]:
    """Return what makes each sample."""
    if not pictures:
        return [partial(_sample, size) for size in samples.sizes]
    made = _pictures(samples.mean_bytes)
    return [partial(bytes, made[number % IMAGES]) for number in range(len(samples.sizes))]


def _images(folder: Path, samples: Samples) -> None:
    made = _made(samples, pictures=True)
    for (path, _), sample in zip(_parts(folder, samples.sizes, "jpg"), made, strict=True):
        path.write_bytes(sample())


def _shards(options: str, *, pictures: bool = False) -> Writer:
    def write(folder: Path, samples: Samples) -> None:
        import tensorflow as tf

        made = _made(samples, pictures=pictures)
        for part in range(samples.shards):
            path = folder / f"part-{part}" / f"shard-{part:02}.tfrecord"
            path.parent.mkdir()
            with tf.io.TFRecordWriter(str(path), options) as writer:
                for sample in made[part :: samples.shards]:
                    writer.write(sample())

    return write


def _packed(folder: Path, samples: Samples) -> None:
    each = [(folder / f"part-{part}" / "packed.bin", samples.sizes[part::PACKED]) for part in range(PACKED)]
    for path, held in each:
        path.parent.mkdir()
        path.write_bytes(b"".join(map(_sample, held)))


def _single(folder: Path, samples: Samples) -> None:
    (folder / RECORDS).write_bytes(b"".join(map(_sample, samples.sizes)))


def _records(*, pictures: bool = False) -> Writer:
    def write(folder: Path, samples: Samples) -> None:
        made = _made(samples, pictures=pictures)
        for part in range(samples.shards):
            path = folder / f"part-{part}" / "records.bin"
            path.parent.mkdir()
            with path.open("wb") as file:
                for data in (sample() for sample in made[part :: samples.shards]):
                    file.write(len(data).to_bytes(LENGTH_BYTES, "little") + data)

    return write


def _database(page_bytes: int) -> Writer:
    def write(folder: Path, samples: Samples) -> None:
        with sqlite3.connect(folder / DATABASE) as database:
            database.execute(f"PRAGMA page_size = {page_bytes}")
            database.execute("CREATE TABLE samples (id INTEGER PRIMARY KEY, data BLOB)")
            database.executemany("INSERT INTO samples VALUES (?, ?)", enumerate(map(_sample, samples.sizes)))
        database.close()

    return write


LAYOUTS: Mapping[str, Writer] = {
    "files": _files,
    "validation": _files,
    "jpeg": _images,
    "shards": _shards(""),
    "gzip": _shards("GZIP"),
    "packed": _packed,
    "single": _single,
    "records": _records(),
    "jpeg_shards": _shards("", pictures=True),
    "jpeg_records": _records(pictures=True),
    "database": _database(4096),
    "large_pages": _database(65536),
}
