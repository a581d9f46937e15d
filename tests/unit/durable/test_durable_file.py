import os

import pytest

from tfdarshan.durable.durable_file import durable_file


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
