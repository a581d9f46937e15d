"""The data sets by name, as files or packed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tfdarshan.terminal.progress import Progress

from .images import IMAGE_SETS, write_images
from .malware_bytes import write_malware
from .place import DATA
from .published_layout import find_images, find_malware
from .records import LabelledFile, write_lmdb, write_tfrecords

MALWARE = "malware"
DEFAULT_FILES = 1_000


def make_data_set(
    name: str,
    *,
    work_dir: Path,
    layout: str = "files",
    count: int | None = None,
    seed: int = 0,
    size_scale: float = 1.0,
    data_dir: Path | None = None,
) -> tuple[Path, Sequence[LabelledFile]]:
    """Return where the set is and its files, made as far as they are missing.

    Args:
        name: Of an image set, or "malware".
        work_dir: It is made in `data/<name>` below.
        layout: "files", "tfrecord" or "lmdb".
        count: Number of files; 1,000, or all of those in `data_dir`.
        seed: Which generated set.
        size_scale: Factor on the sizes of malware files.
        data_dir: A real set, packed instead of a generated one.
    """
    folder = work_dir / DATA / name
    if data_dir is not None:
        files: Sequence[LabelledFile] = (
            find_malware(data_dir, count) if name == MALWARE else find_images(data_dir, count)
        )
        folder = data_dir if layout == "files" else folder
    else:
        files = _made(name, folder, count or DEFAULT_FILES, seed, size_scale)
    return (folder if layout == "files" else _packed(files, folder, layout)), files


def _made(name: str, folder: Path, count: int, seed: int, size_scale: float) -> Sequence[LabelledFile]:
    with Progress(f"{name} files") as progress:
        if name == MALWARE:
            return write_malware(folder, count, seed=seed, size_scale=size_scale, progress=progress)
        image_set = next(one for one in IMAGE_SETS if one.name == name)
        return write_images(folder, count, seed=seed, image_set=image_set, progress=progress)


def _packed(files: Sequence[LabelledFile], folder: Path, layout: str) -> Path:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with Progress(layout) as progress:
        if layout == "lmdb":
            return write_lmdb(files, folder, progress=progress)
        return write_tfrecords(files, folder, progress=progress)[0].parent
