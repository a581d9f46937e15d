"""Finds the files of real data sets where `--data-dir` names one, in the layout they are published in."""

from __future__ import annotations

import csv
from pathlib import Path

from tfdarshan.errors import ConfigurationError

from .images import ImageFile
from .malware_bytes import MalwareFile

JPEG_SUFFIXES = (".jpg", ".jpeg")


def find_images(directory: Path, limit: int | None = None) -> list[ImageFile]:
    """List `<directory>/.../<category>/<image>.jpg`, as ImageNet and Caltech-101 are published.

    Args:
        directory: The data set, or a folder above it (`ILSVRC/Data/CLS-LOC/train`, `101_ObjectCategories`).
        limit: Take so many files at most, of every category alike as far as it goes.

    Returns:
        The files; labels number the categories in the order of their names.

    Raises:
        ConfigurationError: There is no such directory, or no JPEG in a folder below it.
    """
    paths = sorted(
        path for path in _all_below(directory) if path.suffix.lower() in JPEG_SUFFIXES and path.is_file()
    )
    paths = [path for path in paths if path.parent != directory]
    if not paths:
        raise ConfigurationError(
            f"no JPEG in {directory} lies in a folder that names its category: give the folder that holds "
            "<category>/<image>.jpg, as ImageNet and Caltech-101 are published."
        )
    labels = {name: label for label, name in enumerate(sorted({path.parent.name for path in paths}))}
    files = [ImageFile(path, labels[path.parent.name], path.stat().st_size) for path in paths]
    return _spread(files, limit)


def find_malware(directory: Path, limit: int | None = None) -> list[MalwareFile]:
    """List `train/<id>.bytes` by `trainLabels.csv`, as BIG 2015 is published.

    Args:
        directory: The folder that holds both.
        limit: Take so many files at most.

    Raises:
        ConfigurationError: One of them is missing, or the labels cannot be used.
    """
    _all_below(directory)
    table = directory / "trainLabels.csv"
    if not table.is_file():
        raise ConfigurationError(
            f"{table} is not there: give the folder of BIG 2015 that holds trainLabels.csv and train/."
        )
    files = []
    for row in _rows(table)[:limit]:
        path = directory / "train" / f"{row[0]}.bytes"
        if not path.is_file():
            raise ConfigurationError(
                f"{table} names {row[0]}, but {path} is not there: unpack train.7z whole."
            )
        files.append(MalwareFile(path, row[1] - 1, path.stat().st_size))
    if not files:
        raise ConfigurationError(f"{table} names no file: it needs lines of an id and a class from 1 to 9.")
    return files


def _rows(table: Path) -> list[tuple[str, int]]:
    with table.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[1:]
    rows = [(line[0], int(line[1])) for line in lines if len(line) == 2 and line[1].strip().isdecimal()]
    if len(rows) != len([line for line in lines if line]) or any(not 1 <= row[1] <= 9 for row in rows):
        raise ConfigurationError(f"{table} has lines that are no id and class from 1 to 9: is it BIG 2015's?")
    return rows


def _all_below(directory: Path) -> list[Path]:
    if not directory.is_dir():
        raise ConfigurationError(
            f"there is no data directory {directory}: name one, or leave --data-dir out to have files made."
        )
    below = list(directory.rglob("*"))
    if not below:
        raise ConfigurationError(
            f"the data directory {directory} is empty: name another one, or leave --data-dir out to have "
            "files made."
        )
    return below


def _spread(files: list[ImageFile], limit: int | None) -> list[ImageFile]:
    if limit is None or limit >= len(files):
        return files
    return [files[position * len(files) // limit] for position in range(limit)]
