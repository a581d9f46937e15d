import os
import zipfile

import pytest

from tfdarshan.checkpoint.bundle import checkpoint_files, find_bundle, number_of, other_name, renamed_file
from tfdarshan.checkpoint.burst_errors import IncompleteCheckpointError
from tfdarshan.checkpoint.hdf5 import is_whole_hdf5

pytest.importorskip("h5py")

import h5py


def touch(folder, *names):
    for name in names:
        (folder / name).write_bytes(b"x")


def test_shards_come_first_and_the_index_last(tmp_path):
    # GIVEN a checkpoint, and others whose names begin alike
    touch(tmp_path, "ckpt-1.index", "ckpt-1.data-00001-of-00002", "ckpt-1.data-00000-of-00002")
    touch(tmp_path, "ckpt-10.index", "ckpt-1.data-0-of-2", "ckpt-1.index.tmp", "ckpt-1.txt")

    assert find_bundle(tmp_path / "ckpt-1").files == (
        "ckpt-1.data-00000-of-00002",
        "ckpt-1.data-00001-of-00002",
        "ckpt-1.index",
    )


@pytest.mark.parametrize(
    "missing", ["ckpt-1.index", "ckpt-1.data-00000-of-00002", "ckpt-1.data-00001-of-00002"]
)
def test_a_missing_file_is_found(tmp_path, missing):
    touch(tmp_path, "ckpt-1.index", "ckpt-1.data-00000-of-00002", "ckpt-1.data-00001-of-00002")
    (tmp_path / missing).unlink()

    with pytest.raises(IncompleteCheckpointError):
        find_bundle(tmp_path / "ckpt-1")


def test_shards_left_by_an_overwritten_checkpoint_are_not_taken(tmp_path):
    # GIVEN the one shard of before, and two of now
    touch(tmp_path, "c.data-00000-of-00001", "c.data-00000-of-00002", "c.data-00001-of-00002", "c.index")
    os.utime(tmp_path / "c.data-00000-of-00001", (1, 1))

    assert find_bundle(tmp_path / "c").files == ("c.data-00000-of-00002", "c.data-00001-of-00002", "c.index")


def test_files_of_a_folder_that_is_not_there(tmp_path):
    assert checkpoint_files(tmp_path / "no", "ckpt-1") == []


@pytest.mark.parametrize(
    ("name", "number", "other"),
    [("ckpt-12", 12, "ckpt.2-12"), ("a-b-3", 3, "a-b.2-3"), ("best", None, "best.2")],
)
def test_another_name_ends_in_the_same_number(name, number, other):
    assert (number_of(name), other_name(name, 2), number_of(other)) == (number, other, number)
    assert renamed_file(f"{name}.data-00000-of-00001", name, other) == f"{other}.data-00000-of-00001"


@pytest.mark.parametrize("libver", ["earliest", "v110", "latest"])
def test_hdf5_is_whole_only_to_its_last_byte(tmp_path, libver):
    # GIVEN files of each superblock version that h5py writes
    path = tmp_path / "weights.h5"
    with h5py.File(path, "w", libver=libver) as file:
        file["a"] = list(range(1000))
    assert is_whole_hdf5(path)

    # WHEN the last byte is missing
    os.truncate(path, path.stat().st_size - 1)

    # THEN
    assert not is_whole_hdf5(path)


def test_what_is_no_hdf5_is_not_whole(tmp_path):
    path = tmp_path / "weights.h5"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", bytes(1000))

    assert not is_whole_hdf5(path)
