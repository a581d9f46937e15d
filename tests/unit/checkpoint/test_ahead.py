"""What is copied before it is in the queue: while it is written, and while it is sealed."""

from __future__ import annotations

import os
import threading
import time

import pytest
import xxhash

from tfdarshan.checkpoint.bundle import growing_shard, single_file
from tfdarshan.checkpoint.burst_errors import CopyCancelledError
from tfdarshan.checkpoint.copying import CopiedFile, Copier, Growing
from tfdarshan.checkpoint.fast_tier import FastTier
from tfdarshan.checkpoint.incoming import AHEAD
from tfdarshan.checkpoint.pairing import open_slow
from tfdarshan.checkpoint.retention import Retention
from tfdarshan.checkpoint.slow_tier import SlowTier
from tfdarshan.durable.file_operations import Storage
from tfdarshan.sessions.session_directory import BURST_CONTROL

BUFFER = 65_536
SOON_S = 60


def written_slowly(path, content, pieces):
    """Start a thread that writes a file piece by piece; return it as it grows."""
    growing = Growing(lambda: path if path.exists() else None)

    def write():
        with path.open("wb", buffering=0) as file:
            for number in range(pieces):
                file.write(content[len(content) * number // pieces : len(content) * (number + 1) // pieces])
                time.sleep(0.005)
        growing.finished.set()

    threading.Thread(target=write).start()
    return growing


@pytest.mark.parametrize("size", [0, 1, BUFFER, 5 * BUFFER + 4097])
def test_a_file_is_followed_to_its_end(tmp_path, size):
    # GIVEN a file that is written in pieces that are no multiples of a block
    content = os.urandom(size)
    growing = written_slowly(tmp_path / "source", content, pieces=17)
    copier = Copier(Storage(), buffer_bytes=BUFFER)

    # WHEN
    copied = copier.follow(growing, tmp_path / "target")

    # THEN
    assert copied == CopiedFile("target", size, xxhash.xxh3_128_hexdigest(content))
    assert (tmp_path / "target").read_bytes() == content
    assert copier.holds(tmp_path / "source", copied)


def test_nothing_is_followed_where_nothing_is_written(tmp_path):
    growing = Growing(lambda: None)
    threading.Timer(0.1, growing.finished.set).start()

    assert Copier(Storage()).follow(growing, tmp_path / "target") is None
    assert not (tmp_path / "target").exists()


def test_following_can_be_stopped(tmp_path):
    # GIVEN a file that is never finished
    (tmp_path / "source").write_bytes(b"1" * 100)
    copier = Copier(Storage(), buffer_bytes=BUFFER)
    threading.Timer(0.1, copier.cancelled.set).start()

    # WHEN / THEN
    with pytest.raises(CopyCancelledError):
        copier.follow(Growing(lambda: tmp_path / "source"), tmp_path / "target")


def test_the_largest_file_that_tensorflow_writes_is_found(tmp_path):
    # GIVEN what TensorFlow's writing looks like
    folder = tmp_path / "ckpt-1_temp"
    assert growing_shard(tmp_path / "ckpt-1") is None
    folder.mkdir()
    (folder / "part-00000-of-00001.index").write_bytes(b"1" * 1000)
    assert growing_shard(tmp_path / "ckpt-1") is None
    (folder / "part-00000-of-00002.data-00000-of-00001.tempstate687").write_bytes(b"1" * 10)
    (folder / "part-00001-of-00002.data-00000-of-00001.tempstate688").write_bytes(b"1" * 100)

    # WHEN / THEN
    assert growing_shard(tmp_path / "ckpt-1").name.startswith("part-00001")


class Tiers:
    """Both tiers, and what was written to the slow one."""

    def __init__(self, root):
        self.written: list[str] = []
        storage = Storage(self._note)
        self.fast = FastTier(root / "fast", storage=storage, clock=time.time)
        self.slow = SlowTier(
            root / "slow",
            storage=storage,
            copier=Copier(storage, buffer_bytes=BUFFER),
            retention=Retention(max_to_keep=2),
        )
        self.fast.open()
        open_slow(self.slow, self.fast)
        self.written.clear()

    def _note(self, operation, path):
        if operation == "write":
            self.written.append(path.name)

    def publish(self, entry):
        self.slow.publish(entry, lambda: self.fast.source(entry))
        self.fast.remove(entry)

    @property
    def incoming(self):
        return [path.name for path in (self.slow.folder / BURST_CONTROL / "incoming").rglob("*")]


@pytest.fixture
def tiers(tmp_path):
    made = Tiers(tmp_path)
    yield made
    made.slow.close()
    made.fast.close()


def test_what_was_followed_is_not_copied_again(tiers):
    # GIVEN
    path, content = tiers.fast.folder / "1.keras", os.urandom(3 * BUFFER + 5)
    tiers.slow.follow("a", written_slowly(path, content, pieces=5))

    # WHEN
    tiers.publish(tiers.fast.seal(single_file(path), saved_at=1.0, unique="a"))

    # THEN
    assert tiers.written.count(AHEAD) == 4
    assert "1.keras" not in tiers.written
    assert (tiers.slow.folder / "1.keras").read_bytes() == content
    assert tiers.incoming == []


@pytest.mark.parametrize("change", ["bytes", "size"])
def test_a_file_that_was_written_to_again_is_copied_anew(tiers, change):
    # GIVEN a file that changes where it was read already
    path, content = tiers.fast.folder / "1.keras", bytearray(os.urandom(3 * BUFFER + 5))
    tiers.slow.follow("a", written_slowly(path, bytes(content), pieces=5))
    content[7] ^= 1
    content += b"" if change == "bytes" else b"more"
    path.write_bytes(content)

    # WHEN
    tiers.publish(tiers.fast.seal(single_file(path), saved_at=1.0, unique="a"))

    # THEN
    assert (tiers.slow.folder / "1.keras").read_bytes() == content
    assert tiers.incoming == []


def test_what_was_followed_is_not_taken_for_another_checkpoint(tiers):
    # GIVEN
    path = tiers.fast.folder / "1.keras"
    tiers.slow.follow("a", written_slowly(path, b"1" * BUFFER, pieces=5))

    # WHEN another one of the same bytes is published, and the followed one given up
    tiers.publish(tiers.fast.seal(single_file(path), saved_at=1.0, unique="b"))
    tiers.slow.discard("a")

    # THEN
    assert "1.keras" in tiers.written
    assert (tiers.slow.folder / "1.keras").read_bytes() == b"1" * BUFFER
    assert tiers.incoming == []


def test_the_next_owner_removes_what_was_copied_ahead(tiers, tmp_path):
    # GIVEN an owner that ends between following and publishing
    path = tiers.fast.folder / "1.keras"
    tiers.slow.follow("a", written_slowly(path, b"1" * BUFFER, pieces=5))
    assert AHEAD in tiers.incoming
    tiers.slow.close()
    tiers.fast.close()

    # WHEN
    after = Tiers(tmp_path)

    # THEN
    assert after.incoming == []
    after.slow.close()
    after.fast.close()
