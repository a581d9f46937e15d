"""The demo's JPEG files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tfdarshan.workloads.images import (
    CALTECH101,
    IMAGE_SETS,
    IMAGENET,
    LARGEST_BYTES,
    SMALLEST_BYTES,
    ImageSet,
    target_bytes,
    write_images,
)

Image = pytest.importorskip("PIL.Image")


def test_sizes_are_distributed_as_imagenets() -> None:
    sizes = np.array([target_bytes(index, seed=0) for index in range(4000)])
    assert np.median(sizes) == pytest.approx(88_000, rel=0.04)
    assert sizes.mean() == pytest.approx(105_000, rel=0.04)
    assert SMALLEST_BYTES <= sizes.min() < 20_000
    assert 400_000 < sizes.max() <= LARGEST_BYTES < 1 << 20


@pytest.mark.parametrize(
    ("image_set", "median_bytes"), list(zip(IMAGE_SETS, (88_000, 112_000, 12_000), strict=True))
)
def test_each_set_has_the_median_its_paper_states(image_set: ImageSet, median_bytes: int) -> None:
    sizes = [target_bytes(index, 0, image_set) for index in range(4000)]
    assert np.median(sizes) == pytest.approx(median_bytes, rel=0.04)


def test_caltech_has_102_categories_each_in_its_folder(tmp_path: Path) -> None:
    files = write_images(tmp_path, 204, image_set=CALTECH101)
    assert len({file.path.parent.name for file in files}) == 102
    assert {file.label for file in files} == set(range(102))
    sizes = [file.size_bytes for file in files]
    assert np.median(sizes) == pytest.approx(12_000, rel=0.15)


def test_files_are_jpegs_of_their_sizes(tmp_path: Path) -> None:
    files = write_images(tmp_path, 30, seed=4)
    for index, file in enumerate(files):
        assert file.label == index % IMAGENET.classes
        assert file.size_bytes == file.path.stat().st_size
        assert file.size_bytes == pytest.approx(target_bytes(index, seed=4), rel=0.05)
        with Image.open(file.path) as image:
            assert image.format == "JPEG"
            image.load()


def test_a_smaller_set_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    small = write_images(tmp_path / "small", 5, seed=1)
    large = write_images(tmp_path / "large", 9, seed=1)
    assert [one.path.read_bytes() for one in small] == [one.path.read_bytes() for one in large[:5]]
    other = write_images(tmp_path / "other", 5, seed=2)
    assert [one.path.read_bytes() for one in small] != [one.path.read_bytes() for one in other]


def test_an_interrupted_set_is_completed_and_the_rest_left_alone(tmp_path: Path) -> None:
    # GIVEN a set with a file missing, one cut short and one empty
    files = write_images(tmp_path, 12)
    whole = [file.path.read_bytes() for file in files]
    kept = [file.path.stat().st_mtime_ns for file in files]
    files[2].path.unlink()
    files[5].path.write_bytes(whole[5][: len(whole[5]) // 2])
    files[7].path.write_bytes(b"")

    # WHEN it is asked for again
    calls: list[tuple[int, int]] = []
    again = write_images(tmp_path, 12, progress=lambda done, total: calls.append((done, total)))

    # THEN those three are as they were, and no other was written
    assert again == files
    assert [file.path.read_bytes() for file in again] == whole
    rewritten = [index for index, file in enumerate(again) if file.path.stat().st_mtime_ns != kept[index]]
    assert rewritten == [2, 5, 7]
    assert calls == [(done, 12) for done in range(1, 13)]
