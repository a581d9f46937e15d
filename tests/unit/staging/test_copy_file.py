import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tfdarshan.durable.bandwidth_limit import BandwidthLimit
from tfdarshan.durable.file_operations import Storage
from tfdarshan.durable.verified_copy import copy_buffer
from tfdarshan.staging import copy_file as module
from tfdarshan.staging.checksum import POLICIES
from tfdarshan.staging.copy_file import CopyError, checksum_of, copy_file

NO_LIMIT = BandwidthLimit(None)


class Damages(Storage):
    """Changes what was written once it is durable."""

    def __init__(self, damage):
        super().__init__()
        self._damage = damage

    def sync(self, descriptor, path):
        super().sync(descriptor, path)
        found = os.fstat(descriptor)
        if self._damage == "flipped":
            os.pwrite(descriptor, b"?", 70_000)
        else:
            os.ftruncate(descriptor, 99_999)
        os.utime(descriptor, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.mark.parametrize("damage", ["flipped", "short"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_copy_that_differs_is_refused(tmp_path, policy, damage):
    # GIVEN
    (tmp_path / "source").write_bytes(bytes(100_000))

    def copy():
        return copy_file(
            str(tmp_path / "source"), str(tmp_path / "copy"), None, policy, NO_LIMIT, storage=Damages(damage)
        )

    # WHEN / THEN only comparing sizes cannot see another byte
    if (policy, damage) == ("size", "flipped"):
        assert copy().size == 100_000
        return
    with pytest.raises(CopyError, match="its copy differs from it"):
        copy()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_copy_has_the_checksum_that_is_found_later(tmp_path, policy):
    # GIVEN
    (tmp_path / "source").write_bytes(os.urandom(2_500_000))
    moved: list[int] = []

    # WHEN
    copied = copy_file(str(tmp_path / "source"), str(tmp_path / "copy"), None, policy, NO_LIMIT, moved.append)

    # THEN
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "source").read_bytes()
    assert copied.checksum == checksum_of(str(tmp_path / "copy"), policy)
    assert (copied.checksum == "") == (policy == "size")
    assert sum(moved) == copied.size == 2_500_000


def test_each_thread_copies_all_its_files_through_one_buffer(tmp_path, monkeypatch):
    # GIVEN threads that wait for each other at their first file
    made, together = [], threading.Barrier(3)

    def buffer(size):
        made.append(size)
        return copy_buffer(size)

    monkeypatch.setattr(module, "copy_buffer", buffer)
    for number in range(30):
        (tmp_path / f"{number}").write_bytes(b"%d" % number * 1_000)

    def copy(number):
        if number < 3:
            together.wait(60)
        copy_file(str(tmp_path / f"{number}"), str(tmp_path / f"{number}.copy"), None, "blake2b", NO_LIMIT)

    # WHEN
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(copy, range(30)))

    # THEN
    assert made == [module.BUFFER_BYTES] * 3
    for number in range(30):
        assert (tmp_path / f"{number}.copy").read_bytes() == b"%d" % number * 1_000
