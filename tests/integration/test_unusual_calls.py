"""Calls of the C library that do something else than their names say."""

import ctypes
import os
import subprocess

import pytest

import tfdarshan

SOURCE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>

int remove_path(const char *path) { return remove(path); }
int exchange(const char *one, const char *other)
{
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}
"""
# Source: RWF_NOAPPEND in linux/fs.h, since Linux 6.9.
IN_PLACE = 0x20


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    (folder / "calls.c").write_text(SOURCE)
    path = folder / "libcalls.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", path, folder / "calls.c"], check=True)
    return ctypes.CDLL(str(path))


def test_remove_of_a_folder_is_no_unlink(library, tmp_path):
    # GIVEN a file, a link to a folder, an empty folder, and one that is not
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("empty", "full/inner"):
        (tmp_path / name).mkdir(parents=True)

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        statuses = [
            library.remove_path(os.fsencode(tmp_path / name))
            for name in ("file", "link", "empty", "full", "none")
        ]

    # THEN only files and links are unlinked, and what is not there fails as a file does
    assert statuses == [0, 0, 0, -1, -1]
    events = session.events[session.events["operation"] == "unlink"].set_index("path")
    assert events["error"].to_dict() == {
        str(tmp_path / "file"): 0, str(tmp_path / "link"): 0, str(tmp_path / "none"): 2
    }  # fmt: skip
    unlinks = session.files.groupby("path")["TFD_UNLINKS"].sum()
    assert unlinks[unlinks > 0].to_dict() == {str(tmp_path / "file"): 1, str(tmp_path / "link"): 1}


def test_files_that_exchange_their_names_have_each_other_s_size(library, tmp_path):
    # GIVEN
    sizes = {"large": 5_000, "small": 7}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(bytes(size))

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for name in sizes:
            os.stat(tmp_path / name)
        assert library.exchange(os.fsencode(tmp_path / "large"), os.fsencode(tmp_path / "small")) == 0

    # THEN
    found = session.files.set_index("path")["size_bytes"]
    for name in sizes:
        assert found[str(tmp_path / name)] == os.path.getsize(tmp_path / name) != sizes[name]


def test_a_write_in_place_of_a_file_that_appends_has_its_own_offset(tmp_path):
    # GIVEN
    path = tmp_path / "file"
    path.write_bytes(bytes(1_000))

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            os.pwritev(descriptor, [b"x" * 10], 100, IN_PLACE)
        except OSError:
            pytest.skip("this kernel appends in any case")
        finally:
            os.pwritev(descriptor, [b"y" * 20], 100)
            os.close(descriptor)

    # THEN
    assert path.read_bytes() == bytes(100) + b"x" * 10 + bytes(890) + b"y" * 20
    events = session.events
    writes = events[(events["path"] == str(path)) & (events["operation"] == "pwritev")]
    assert list(writes["offset"]) == [100, 1_000]
