"""Calls of the C library that do something else than their names say."""

import ctypes
import os
import subprocess

import pytest

import tfdarshan

SOURCE = """
#include <stdio.h>

int remove_path(const char *path) { return remove(path); }
"""


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
