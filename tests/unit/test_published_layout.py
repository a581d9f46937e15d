"""Real data sets, in the layout they are published in, and what is said where there are none."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from tfdarshan.errors import ConfigurationError, StorageError
from tfdarshan.workloads.disk_room import check_room
from tfdarshan.workloads.images import write_images
from tfdarshan.workloads.malware_bytes import write_malware
from tfdarshan.workloads.published_layout import find_images, find_malware


def test_images_are_found_by_category(tmp_path: Path) -> None:
    # GIVEN Caltech-101's layout, with a file that is no image
    for name in ("ant/image_0001.jpg", "ant/image_0002.jpg", "zebra/image_0001.JPEG", "zebra/notes.txt"):
        path = tmp_path / "101_ObjectCategories" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * len(name))
    # WHEN / THEN
    files = find_images(tmp_path)
    assert [(file.path.parent.name, file.label, file.size_bytes) for file in files] == [
        ("ant", 0, 18),
        ("ant", 0, 18),
        ("zebra", 1, 21),
    ]
    assert [file.label for file in find_images(tmp_path, limit=2)] == [0, 0]


def test_generated_sets_are_found_as_real_ones_are(tmp_path: Path) -> None:
    images = write_images(tmp_path / "images", 12)
    assert {file.path for file in find_images(tmp_path / "images")} == {file.path for file in images}
    malware = write_malware(tmp_path / "malware", 9, size_scale=0.001)
    assert find_malware(malware[0].path.parents[1]) == malware


@pytest.mark.parametrize("find", [find_images, find_malware])
def test_a_missing_or_empty_directory_is_one_sentence(find, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"there is no data directory .*nowhere: name one"):
        find(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match=r"is empty: name another one"):
        find(tmp_path)


def test_a_wrong_layout_says_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "image.jpg").write_bytes(b"x")
    with pytest.raises(ConfigurationError, match=r"<category>/<image>\.jpg"):
        find_images(tmp_path)
    with pytest.raises(ConfigurationError, match=r"trainLabels\.csv is not there"):
        find_malware(tmp_path)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('"Id","Class"\n"gone",3\n', "names gone, but"),
        ('"Id","Class"\n', "names no file"),
        ('"Id","Class"\n"a",10\n', "no id and class from 1 to 9"),
        ('"Id","Class"\n"a","many"\n', "no id and class from 1 to 9"),
    ],
)
def test_labels_that_cannot_be_used_are_named(table: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "trainLabels.csv").write_text(table)
    with pytest.raises(ConfigurationError, match=message):
        find_malware(tmp_path)


def test_too_little_disk_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a disk with 100 MB free
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 9 * 10**8, 10**8))
    # WHEN / THEN a larger set is refused, a small one is not
    with pytest.raises(StorageError, match=r"10,000 JPEG files needs 1\.\d GB in .* where 100.0 MB are free"):
        write_images(tmp_path / "images", 10_000)
    with pytest.raises(StorageError, match=r"100 malware files needs 4\d\d.\d MB"):
        write_malware(tmp_path / "malware", 100)
    assert list(tmp_path.iterdir()) == []
    check_room(tmp_path / "small", 1000, "a small set")
