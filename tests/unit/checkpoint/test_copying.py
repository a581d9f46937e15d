import errno
import os
import resource
import threading
import time

import pytest
import xxhash

from tfdarshan.checkpoint.burst_errors import CopyCancelledError, DamagedCopyError, SourceError
from tfdarshan.checkpoint.copying import CopiedFile, Copier
from tfdarshan.durable import verified_copy
from tfdarshan.durable.file_operations import Storage

BUFFER = 65_536


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, BUFFER, BUFFER + 1, 5 * BUFFER + 4097])
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "page cache"])
def test_copy_has_the_same_bytes_and_their_digest(tmp_path, monkeypatch, size, direct):
    # GIVEN a file system that does direct I/O, or does not
    if not direct:
        monkeypatch.setattr(verified_copy, "set_direct", lambda _descriptor, direct: not direct)
        monkeypatch.setattr(verified_copy, "DIRTY_BYTES", 2 * BUFFER)
    content = os.urandom(size)
    (tmp_path / "source").write_bytes(content)
    copier = Copier(Storage(), buffer_bytes=BUFFER)

    # WHEN
    copied = copier.copy(tmp_path / "source", tmp_path / "target")

    # THEN
    assert (tmp_path / "target").read_bytes() == content
    assert copied == CopiedFile("target", size, xxhash.xxh3_128_hexdigest(content))
    copier.verify(copied, tmp_path / "target")


def test_a_file_system_that_takes_the_flag_and_refuses_the_write(tmp_path):
    # GIVEN direct writes that fail with EINVAL, the first time
    refused: list[int] = []

    class Refuses(Storage):
        def write(self, descriptor, view, path):
            if not refused:
                refused.append(len(view))
                raise OSError(errno.EINVAL, "Invalid argument")
            super().write(descriptor, view, path)

    content = os.urandom(3 * BUFFER)
    (tmp_path / "source").write_bytes(content)

    # WHEN
    Copier(Refuses(), buffer_bytes=BUFFER).copy(tmp_path / "source", tmp_path / "target")

    # THEN
    assert refused == [BUFFER]
    assert (tmp_path / "target").read_bytes() == content


@pytest.mark.parametrize("damage", ["flipped", "short", "long"])
def test_damage_to_a_copy_is_found(tmp_path, damage):
    # GIVEN a copy that changed
    (tmp_path / "source").write_bytes(os.urandom(100_000))
    copier = Copier(Storage(), buffer_bytes=BUFFER)
    copied = copier.copy(tmp_path / "source", tmp_path / "target")
    with open(tmp_path / "target", "r+b") as file:
        if damage == "flipped":
            file.seek(70_000)
            byte = file.read(1)[0]
            file.seek(70_000)
            file.write(bytes([byte ^ 1]))
        else:
            file.truncate(99_999 if damage == "short" else 100_001)

    # WHEN / THEN
    with pytest.raises(DamagedCopyError, match="holds other bytes than were written"):
        copier.verify(copied, tmp_path / "target")


def test_a_source_that_cannot_be_read_is_told_apart(tmp_path):
    with pytest.raises(SourceError, match="No such file"):
        Copier(Storage()).copy(tmp_path / "missing", tmp_path / "target")

    assert not (tmp_path / "target").exists()


def test_bandwidth_is_kept(tmp_path):
    # GIVEN 2 MB at 10 MB/s
    (tmp_path / "source").write_bytes(bytes(2_000_000))
    copier = Copier(Storage(), buffer_bytes=BUFFER, bytes_per_s=10e6)

    # WHEN
    began_s = time.monotonic()
    copier.copy(tmp_path / "source", tmp_path / "target")

    # THEN
    assert time.monotonic() - began_s >= 0.2


def test_a_slow_copy_can_be_stopped(tmp_path):
    # GIVEN a copy that would take 100 s
    (tmp_path / "source").write_bytes(bytes(1_000_000))
    copier = Copier(Storage(), buffer_bytes=BUFFER, bytes_per_s=10e3)
    threading.Timer(0.1, copier.cancelled.set).start()

    # WHEN
    began_s = time.monotonic()
    with pytest.raises(CopyCancelledError):
        copier.copy(tmp_path / "source", tmp_path / "target")

    # THEN
    assert time.monotonic() - began_s < 20


def test_memory_is_the_buffer_whatever_the_size(tmp_path):
    # GIVEN 200 MB
    with open(tmp_path / "source", "wb") as file:
        file.truncate(200_000_000)
    copier = Copier(Storage(), buffer_bytes=1 << 20)
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    # WHEN
    copier.verify(copier.copy(tmp_path / "source", tmp_path / "target"), tmp_path / "target")

    # THEN
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 20_000
