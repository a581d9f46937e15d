"""What no slot leads to is not recorded, and the summary names it."""

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
    assert "functions called by an address from dlsym (ctypes.CDLL(None).read)" in words
    assert "libraries that dlmopen loaded" in words
