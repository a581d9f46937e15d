"""Mounts, by what the kernel lists of them."""

import pytest

from tfdarshan.storage_probe import folder_probe
from tfdarshan.storage_probe.folder_probe import mount_of
from tfdarshan.storage_probe.session_probes import _folder_of

LIST = rb"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:35 / /data rw shared:7 - nfs4 server:/export rw,vers=4.2
41 40 0:36 / /data/with\040blank rw - fuse.sshfs host: rw
42 22 8:2 / /data rw - xfs /dev/sdb1 rw
"""


@pytest.mark.parametrize(
    ("path", "mount"),
    [
        ("/home/a", ("/", "ext4")),
        ("/", ("/", "ext4")),
        ("/data", ("/data", "xfs")),
        ("/data/x/y", ("/data", "xfs")),
        ("/database", ("/", "ext4")),
        ("/data/with blank/x", ("/data/with blank", "fuse.sshfs")),
    ],
)
def test_the_mount_of_a_path(tmp_path, monkeypatch, path, mount):
    (tmp_path / "mountinfo").write_bytes(LIST)
    monkeypatch.setattr(folder_probe, "MOUNTS", str(tmp_path / "mountinfo"))

    assert mount_of(path) == mount


def test_without_a_list_the_mount_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_probe, "MOUNTS", str(tmp_path / "none"))

    assert mount_of("/data") == ("", "")


@pytest.mark.parametrize(
    ("paths", "folder"),
    [
        (["/data/a/1", "/data/b/2"], "/data"),
        (["/data/set/a/1", "/data/set/b/2"], "/data/set"),
        (["/home/me/1", "/var/2"], "/home/me"),
        (["/mnt/a/1", "/mnt/b/2"], "/mnt/a"),
        (["/mnt/1", "/mnt/2"], "/mnt"),
    ],
)
def test_the_folder_of_a_session_is_no_whole_mount(paths, folder):
    # GIVEN files in order of their time, on the mounts / and /mnt
    assert _folder_of(paths, "/mnt" if paths[0].startswith("/mnt") else "/") == folder
