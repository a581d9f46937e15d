import errno
import os
from functools import partial

import pytest
import xxhash

from tfdarshan.durable import verified_copy
from tfdarshan.durable.bandwidth_limit import BandwidthLimit
from tfdarshan.durable.file_operations import Storage
from tfdarshan.durable.verified_copy import Contents, VerifiedCopy, copy_buffer

BUFFER = 65_536


class Faulty(Storage):
    """Notes each operation on the copy, and lets the `at`-th write or read of it go wrong."""

    def __init__(self, operation="", at=0, code=errno.EINVAL, count=0):
        super().__init__(
            lambda operation, path: self.steps.append(operation) if path.name == "copy" else None
        )
        self.steps: list[str] = []
        self._wrong, self._code, self._count = (operation, at), code, count

    def read(self, descriptor, view, path):
        count = super().read(descriptor, view, path)
        self._fail("read")
        return count

    def write(self, descriptor, view, path):
        if self._is_next("write"):
            os.write(descriptor, view[: self._count])
        super().write(descriptor, view, path)
        self._fail("write")

    def _is_next(self, operation):
        return self._wrong == (operation, self.steps.count(operation) + 1)

    def _fail(self, operation):
        if self._wrong == (operation, self.steps.count(operation)):
            raise OSError(self._code, os.strerror(self._code))


@pytest.fixture
def content(tmp_path):
    content = os.urandom(3 * BUFFER + 4097)
    (tmp_path / "source").write_bytes(content)
    return content


def copier_of(storage, *, past_page_cache=True, new_digest=xxhash.xxh3_128, **more):
    limit = more.pop("limit", BandwidthLimit(None))
    return VerifiedCopy(
        storage=storage,
        new_digest=new_digest,
        buffer=copy_buffer(BUFFER),
        limit=limit,
        past_page_cache=past_page_cache,
        **more,
    )


def copy(copier, folder):
    """Copy `source` to `copy`; return what was copied and what is read back."""
    reader = os.open(folder / "source", os.O_RDONLY)
    writer = os.open(folder / "copy", os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        read = partial(copier.storage.read, reader, path=folder / "source")
        copied = copier.transfer(read, writer, folder / "copy")
        copier.storage.sync(writer, folder / "copy")
        return copied, copier.read_back(writer, folder / "copy")
    finally:
        os.close(writer)
        os.close(reader)


@pytest.mark.parametrize("new_digest", [xxhash.xxh3_128, xxhash.xxh64])
@pytest.mark.parametrize("past_page_cache", [True, False])
def test_what_is_read_back_is_what_was_copied(tmp_path, content, new_digest, past_page_cache):
    # WHEN
    copied, found = copy(
        copier_of(Storage(), new_digest=new_digest, past_page_cache=past_page_cache), tmp_path
    )

    # THEN
    assert (tmp_path / "copy").read_bytes() == content
    assert copied == found == Contents(len(content), new_digest(content).hexdigest())


def test_a_copy_that_differs_does_not_equal_what_was_copied(tmp_path, content):
    # GIVEN a device that keeps another byte than was written
    class Forgets(Storage):
        def sync(self, descriptor, path):
            os.pwrite(descriptor, bytes([content[70_000] ^ 1]), 70_000)
            super().sync(descriptor, path)

    # WHEN
    copied, found = copy(copier_of(Forgets(), past_page_cache=False), tmp_path)

    # THEN
    assert copied.digest == xxhash.xxh3_128_hexdigest(content)
    assert (found.size_bytes, found.digest == copied.digest) == (copied.size_bytes, False)


def test_a_write_that_fails_midway_ends_the_copy(tmp_path, content):
    # GIVEN a disk that is full in the third block
    storage, moved = Faulty("write", 3, errno.ENOSPC), list[int]()

    # WHEN
    with pytest.raises(OSError, match="No space left"):
        copy(copier_of(storage, moved=moved.append), tmp_path)

    # THEN nothing was written after it, and only whole blocks were told of
    assert storage.steps == ["write"] * 3
    assert moved == [BUFFER, BUFFER]


def test_a_direct_write_that_is_refused_midway_is_repeated(tmp_path, content, monkeypatch):
    # GIVEN a file system that takes the flag, and refuses the second write when half of it is there
    monkeypatch.setattr(verified_copy, "set_direct", lambda _descriptor, _direct: True)
    storage = Faulty("write", 2, errno.EINVAL, count=BUFFER // 2)

    # WHEN
    copied, found = copy(copier_of(storage), tmp_path)

    # THEN
    assert (tmp_path / "copy").read_bytes() == content
    assert copied == found


def test_a_direct_read_that_is_refused_midway_is_repeated(tmp_path, content, monkeypatch):
    # GIVEN a file system that takes the flag, and refuses to read on after the file's odd end
    monkeypatch.setattr(verified_copy, "set_direct", lambda _descriptor, _direct: True)
    storage = Faulty("read", 4, errno.EINVAL)

    # WHEN
    copied, found = copy(copier_of(storage), tmp_path)

    # THEN what it had read already is not missing
    assert found == copied == Contents(len(content), xxhash.xxh3_128_hexdigest(content))


def test_a_write_is_not_repeated_without_direct_io(tmp_path, content):
    with pytest.raises(OSError, match="Invalid argument"):
        copy(copier_of(Faulty("write", 2), past_page_cache=False), tmp_path)


def test_few_pages_stay_unwritten(tmp_path, content, monkeypatch):
    # GIVEN a file system without direct I/O
    monkeypatch.setattr(verified_copy, "set_direct", lambda _descriptor, direct: not direct)
    monkeypatch.setattr(verified_copy, "DIRTY_BYTES", 2 * BUFFER)
    bounded, free = Faulty(), Faulty()
    (tmp_path / "other").mkdir()
    os.link(tmp_path / "source", tmp_path / "other" / "source")

    # WHEN one copy goes past the page cache as far as it can, and another does not
    copy(copier_of(bounded), tmp_path)
    copy(copier_of(free, past_page_cache=False), tmp_path / "other")

    # THEN
    writes = ["write", "write", "fsync", "write", "write"]
    assert bounded.steps[: len(writes)] == writes
    assert [step for step in free.steps if step != "read"] == ["write"] * 4 + ["fsync"]


def test_a_copy_takes_the_time_of_its_bytes(tmp_path, content):
    # GIVEN a clock that only waiting moves
    now_s = [100.0]

    def sleep(seconds):
        now_s[0] += seconds

    limit, seen = BandwidthLimit(BUFFER, clock=lambda: now_s[0], sleep=sleep), []

    # WHEN
    copy(copier_of(Storage(), limit=limit, moved=lambda size: seen.append((size, now_s[0]))), tmp_path)

    # THEN each block is told of once it has had its time
    assert [size for size, _ in seen] == [BUFFER, BUFFER, BUFFER, 4097]
    assert [at_s for _, at_s in seen] == pytest.approx([101, 102, 103, 103 + 4097 / BUFFER])


@pytest.mark.parametrize("steps", [2, 6])
def test_a_copy_can_be_ended(tmp_path, content, steps):
    # GIVEN somebody who ends it after some blocks: of writing, or of reading back
    storage, looked = Faulty(), []

    def check(path):
        looked.append(path)
        if len(looked) == steps:
            raise KeyboardInterrupt

    # WHEN
    with pytest.raises(KeyboardInterrupt):
        copy(copier_of(storage, check=check), tmp_path)

    # THEN
    assert looked == [tmp_path / "copy"] * steps
    assert [step for step in storage.steps if step != "fsync"] == (["write"] * 4 + ["read"] * 2)[:steps]


def test_a_small_file_is_read_once(tmp_path, content):
    # GIVEN
    (tmp_path / "source").write_bytes(b"small")
    storage = Faulty()

    # WHEN
    copy(copier_of(storage, past_page_cache=False), tmp_path)

    # THEN
    assert storage.steps == ["write", "fsync", "read"]
