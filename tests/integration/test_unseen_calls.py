"""What no slot leads to is not recorded, and the summary names it; functions for folders have no hook."""

import ctypes
import os

import tfdarshan

SIZE = 20_000_000


def test_calls_through_an_address_are_named(tmp_path):
    # GIVEN functions that were looked up by name
    path = tmp_path / "data"
    path.write_bytes(b"x" * SIZE)
    libc, buffer = ctypes.CDLL(None), ctypes.create_string_buffer(SIZE)

    # WHEN a file is read by them alone
    with tfdarshan.profile(tmp_path / "logs") as session:
        descriptor = libc.open(os.fsencode(path), os.O_RDONLY)
        assert libc.read(descriptor, buffer, SIZE) == SIZE
        libc.close(descriptor)

    # THEN the summary says that bytes were not seen, and what calls these may be
    assert not session.files["path"].str.endswith("/data").any()
    words = " ".join(session.summary(verbose=True).split())
    assert "functions called by an address from dlsym (as ctypes.CDLL does)" in words
    assert "libraries that dlmopen loaded" in words


def test_folders_count_by_open_and_by_no_function_for_folders(tmp_path):
    # GIVEN a folder that is opened as any file, and one that functions for folders alone open and make
    opened, listed = tmp_path / "opened", tmp_path / "listed"
    opened.mkdir()
    (opened / "file").write_bytes(b"x" * 1_003)
    listed.mkdir()

    # WHEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        for flags in (os.O_RDONLY, os.O_RDONLY | os.O_DIRECTORY):
            descriptor = os.open(opened, flags)
            assert os.listdir(descriptor) == ["file"]
            os.close(descriptor)
        assert os.listdir(listed) == []
        with os.scandir(listed) as entries:
            assert not list(entries)
        (listed / "made").mkdir()
        (listed / "made").rmdir()

    # THEN
    counted = session.files.set_index("path")[["POSIX_OPENS", "POSIX_DUPS", "POSIX_READS"]]
    assert not counted.index.str.startswith(str(listed)).any()
    opens, dups, reads = counted.loc[str(opened)]
    assert (opens - dups, reads) == (2, 0)
