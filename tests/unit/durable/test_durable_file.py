import errno
import os

import pytest

from tfdarshan.durable.durable_file import durable_file, replace_file, sync_folder
from tfdarshan.durable.file_operations import Storage


def test_file_gets_its_name_when_its_bytes_are_durable(tmp_path, monkeypatch):
    # GIVEN a file, and somebody who watches what is synced
    path, synced = tmp_path / "plan", []
    path.write_bytes(b"old")
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append((os.fstat(handle).st_size, path.read_bytes()))
    )

    # WHEN
    with durable_file(path) as file:
        file.write(b"longer")

    # THEN the old one was there until all of the new one was synced
    assert synced == [(6, b"old")]
    assert path.read_bytes() == b"longer"
    assert os.listdir(tmp_path) == ["plan"]


def test_what_ends_early_leaves_the_old_file(tmp_path):
    # GIVEN
    path = tmp_path / "plan"
    path.write_bytes(b"old")

    def write():
        with durable_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    # WHEN
    with pytest.raises(KeyboardInterrupt):
        write()

    # THEN
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["plan"]


def test_two_who_write_a_shared_file_do_not_disturb_each_other(tmp_path):
    # GIVEN a name that is as long as a name can be
    path = tmp_path / ("n" * 255)

    # WHEN
    with durable_file(path, shared=True) as first, durable_file(path, shared=True) as second:
        first.write(b"first")
        second.write(b"second, and more")
        second.flush()

    # THEN the first block ended last
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == [path.name]


def test_the_next_writer_takes_over_what_a_killed_one_left(tmp_path):
    # GIVEN
    with durable_file(tmp_path / "session") as file:
        left = [tmp_path / name for name in os.listdir(tmp_path)]
        file.write(b"whole")
    left[0].write_bytes(b"longer, but not whole")

    # WHEN
    with durable_file(tmp_path / "session") as file:
        file.write(b"new")

    # THEN
    assert os.listdir(tmp_path) == ["session"]
    assert (tmp_path / "session").read_bytes() == b"new"


def test_replacing_passes_the_seam_step_by_step(tmp_path):
    # GIVEN
    (tmp_path / "scratch").mkdir()
    steps: list[tuple[str, str]] = []
    storage = Storage(lambda operation, path: steps.append((operation, str(path.relative_to(tmp_path)))))

    # WHEN
    replace_file(storage, tmp_path / "state", "new", scratch=tmp_path / "scratch")

    # THEN
    new = "scratch/state.new"
    assert steps == [("open", new), ("write", new), ("fsync", new), ("rename", "state"), ("fsync", ".")]
    assert (tmp_path / "state").read_text() == "new"


@pytest.mark.parametrize("step", ["open", "write", "fsync", "rename"])
def test_a_step_that_fails_leaves_the_old_file(tmp_path, step):
    # GIVEN
    (tmp_path / "state").write_text("old")

    def fail(operation, _path):
        if operation == step:
            raise OSError(errno.EIO, "Input/output error")

    # WHEN
    with pytest.raises(OSError, match="Input/output"):
        replace_file(Storage(fail), tmp_path / "state", "new", scratch=tmp_path)

    # THEN
    assert (tmp_path / "state").read_text() == "old"
    assert os.listdir(tmp_path) == ["state"]


def test_a_folder_whose_file_system_has_no_sync_of_folders_is_durable_as_it_is():
    # GIVEN such a file system, as shared folders of a virtual machine and older SMB mounts are
    folder = os.open("/proc", os.O_RDONLY)
    with pytest.raises(OSError, match="Invalid argument"):
        os.fsync(folder)
    os.close(folder)

    # WHEN / THEN nothing is raised
    sync_folder("/proc")
