"""A cold run begins with an empty page cache, whatever an earlier one has left mapped."""

import mmap
import os

import numpy as np
import pytest

from tfdarshan.lmdb.cold_run import forget, run_cold
from tfdarshan.lmdb.measured_reading import cached_share

SIZE = 8 << 20
kept: list[mmap.mmap] = []


def share_before_it_is_mapped(path):
    """Return what share of a file the page cache has; then map it for good, and read it."""
    share = cached_share(path, np.arange(0, SIZE, 4096, dtype=np.uint64))
    with open(path, "rb") as file:
        kept.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
    sum(kept[-1][::4096])
    return share


def end_at_once():
    os._exit(3)


@pytest.fixture
def stored(tmp_path):
    """A file that the page cache can forget."""
    path = tmp_path / "data.mdb"
    with path.open("wb") as file:
        file.write(os.urandom(SIZE))
        os.fsync(file.fileno())
    forget(path)
    if cached_share(os.fspath(path), np.arange(0, SIZE, 4096, dtype=np.uint64)) != 0:
        pytest.skip("the page cache keeps files of this folder's file system, or the kernel does not say")
    return path


def test_what_an_earlier_run_has_mapped_is_forgotten(stored):
    shares = [run_cold(stored, share_before_it_is_mapped, os.fspath(stored)) for _ in range(2)]

    assert shares == [0, 0]


def test_a_run_that_ends_is_an_error(stored):
    from tfdarshan.errors import StorageError

    with pytest.raises(StorageError, match="ended before it was done"):
        run_cold(stored, end_at_once)
