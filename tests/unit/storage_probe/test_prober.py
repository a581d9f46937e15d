"""What a probe reads: each part once, nothing that is in memory, and no more than it may."""

import errno
import heapq
import itertools
import os
import random
import threading
import time
from collections import deque

import pytest

from tfdarshan.errors import ConfigurationError, StorageError
from tfdarshan.storage_probe import prober, reader_threads
from tfdarshan.storage_probe.file_ranges import RANGE_BYTES, FileRange, OpenFile, open_file
from tfdarshan.storage_probe.probe_result import result_of
from tfdarshan.storage_probe.prober import Bounds, probe_files, read_range


@pytest.fixture
def files(tmp_path):
    """40 files of 50 ranges, of which storage has one byte: the rest are holes, if anything asks."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}").write_bytes(b"x")
        os.truncate(folder / f"{number:02}", 50 * RANGE_BYTES)
    return sorted(map(str, folder.iterdir()))


@pytest.fixture(autouse=True)
def no_holes(monkeypatch):
    monkeypatch.setattr("tfdarshan.storage_probe.file_ranges._is_hole", lambda handle, offset: False)


class MadeUp:
    """Storage whose reads take what is said; notes what was read."""

    def __init__(self, wait_s=0.0, fail=None):
        self.wait_s, self.fail = wait_s, fail or (lambda part: 0)
        self.lock = threading.Lock()
        self.seen = []
        self.at_a_time = self.most_at_a_time = 0

    def read(self, part, length):
        with self.lock:
            self.seen.append((part.file.path, part.offset))
            self.at_a_time += 1
            self.most_at_a_time = max(self.at_a_time, self.most_at_a_time)
        if number := self.fail(part):
            raise OSError(number, os.strerror(number))
        time.sleep(self.wait_s)
        with self.lock:
            self.at_a_time -= 1
        return length


class Simulated:
    """Storage and its readers in simulated time, exact on any machine: who is free first reads next.

    Args:
        wait_s: What each read waits, side by side with the others.
        served_s: What each takes of storage that serves one at a time.
    """

    idle = True

    def __init__(self, wait_s=0.0, served_s=0.0):
        self.wait_s, self.served_s = wait_s, served_s
        self.now = self.free_at = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *how):
        pass

    def clock(self):
        return self.now

    def read(self, part, length):
        self.free_at = max(self.free_at, self.now) + self.served_s
        self.now = self.free_at + self.wait_s
        return length

    def run(self, function, work, readers, until, clock, enough=None):
        """As ReaderThreads.run."""
        least, seconds = enough or (len(work), 0.0)
        waiting, soon = deque(work), self.now + seconds
        found: list[object] = []
        free = [self.now] * min(readers, len(work))
        while waiting and free:
            self.now = heapq.heappop(free)
            if self.now < until and (self.now < soon or len(found) < least):
                found.append(function(waiting.popleft()))
                heapq.heappush(free, self.now)
        self.now = max([self.now, *free])
        return found


def probe(files, storage, bounds=None, resident=lambda handle, offset, length: False, clock=time.monotonic):
    return probe_files(
        iter(files), bounds or Bounds(4.0), random.Random(1), clock=clock, resident=resident,
        read=storage.read,
    )  # fmt: skip


def ticking():
    """Return a clock that each look at moves on by a millisecond, however busy the machine is."""
    ticks = itertools.count()
    return lambda: next(ticks) / 1000


def simulate(files, storage, monkeypatch):
    """Probe without a thread, and without the time that this machine takes."""
    monkeypatch.setattr(prober, "ReaderThreads", lambda most: storage)
    monkeypatch.setattr(time, "sleep", lambda seconds: setattr(storage, "now", storage.now + seconds))
    return result(
        probe_files(
            iter(files), Bounds(4.0), random.Random(1), clock=storage.clock,
            resident=lambda handle, offset, length: False, read=storage.read,
        )
    )  # fmt: skip


def result(found):
    return result_of(found, folder="/data", mount=("/data", "ext4"), host="here", at_ns=1, seed=1)


def test_storage_that_waits_gives_more_to_more_readers(files, monkeypatch):
    found = simulate(files, Simulated(wait_s=0.01), monkeypatch)

    assert found.latency_s == pytest.approx(0.01)
    assert found.small.share < 0.05
    assert found.small.times > 12


def test_storage_that_serves_one_at_a_time_gives_no_more(files, monkeypatch):
    found = simulate(files, Simulated(served_s=0.005), monkeypatch)

    assert found.small.share > 0.95
    assert [level.calls_per_s for level in found.small.levels] == pytest.approx([200] * 5, rel=0.01)
    assert found.small.times < 1.1


def test_no_read_is_longer_than_its_part(files):
    # GIVEN storage that notes how much is asked of it, and a file that ends within a part
    os.truncate(files[0], RANGE_BYTES + 10_000)
    asked = []

    class Noting(MadeUp):
        def read(self, part, length):
            asked.append((length, part.length))
            return super().read(part, length)

    # WHEN
    probe(files[:1], Noting())

    # THEN
    assert all(length <= whole for length, whole in asked)
    # AND small reads are small
    assert min(length for length, _ in asked) < 10_000


def test_many_readers_are_threads_that_wait_at_the_same_time(files):
    storage = MadeUp(wait_s=0.02)

    probe(files, storage, Bounds(1.0), clock=ticking())

    assert storage.most_at_a_time > 4


def test_no_part_is_read_twice(files):
    storage = MadeUp(wait_s=0.0005)

    probe(files, storage, Bounds(2.0))

    assert len(storage.seen) > 100
    assert len(set(storage.seen)) == len(storage.seen)


def test_what_is_in_the_page_cache_is_not_read(files):
    # GIVEN files of which every second range is in the page cache
    storage = MadeUp()

    def resident(handle, offset, length):
        return offset // RANGE_BYTES % 2 == 0

    found = probe(files, storage, Bounds(1.0, 8_000_000), resident)

    assert {offset // RANGE_BYTES % 2 for _, offset in storage.seen} == {1}
    assert found.cached == pytest.approx(found.asked / 2, rel=0.3)


def test_all_in_the_page_cache_is_said_and_nothing_read(files):
    storage = MadeUp()

    found = probe(files, storage, resident=lambda handle, offset, length: True)

    assert storage.seen == []
    assert result(found).cached_share == 1.0
    assert "in the page cache" in result(found).note


def test_of_what_nobody_may_ask_it_is_said(files, monkeypatch):
    # GIVEN a file system without O_DIRECT, and another user's files
    def without_direct(path, flags, *rest, real=os.open):
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", without_direct)
    storage = MadeUp()

    found = probe(files, storage, resident=lambda handle, offset, length: None)

    assert storage.seen == []
    assert "run the probe as their owner" in result(found).note


def test_bytes_are_bounded(files):
    found = probe(files, MadeUp(), Bounds(3.0, 3_000_000))

    assert 1_000_000 < found.moved <= 3_000_000


def test_seconds_are_bounded(files):
    found = probe(files, MadeUp(), Bounds(0.5), clock=ticking())

    assert 0 < found.seconds < 1.0


@pytest.mark.parametrize("good", [0, 5])
def test_a_file_system_whose_direct_reads_fail_is_read_through_the_page_cache(files, good):
    # GIVEN one that refuses them all, or at times: after the first five
    storage = MadeUp()
    storage.fail = lambda part: errno.EINVAL if part.file.direct and len(storage.seen) > good else 0

    found = probe(files, storage, Bounds(1.0), clock=ticking())

    assert not found.direct
    assert found.unreadable == 0
    assert {(cell.readers, cell.small) for cell in found.cells} >= {(1, True), (1, False)}


def test_files_that_vanish_are_counted_and_the_others_measured(files):
    gone = set(files[::2])
    for path in files[1::4]:
        os.unlink(path)
        gone.add(path)

    found = probe(files, MadeUp(fail=lambda part: errno.ESTALE if part.file.path in gone else 0), Bounds(2.0))

    assert found.unreadable > 0
    assert {read.path for cell in found.cells for read in cell.reads}.isdisjoint(gone)
    assert found.cells


def test_nothing_to_read_is_said():
    assert "no file with content" in result(probe([], MadeUp())).note


def test_files_that_cannot_be_opened_are_said(tmp_path):
    found = probe([str(tmp_path / "none")], MadeUp())

    assert "none of 1 file can be read: No such file or directory" in result(found).note


def test_a_single_file_tells_as_much(files):
    found = result(probe(files[:1], MadeUp(wait_s=0.005), Bounds(3.0)))

    assert found.files == 1
    assert found.latency_s >= 0.005


def test_a_read_that_hangs_ends_the_probe(files, monkeypatch):
    monkeypatch.setattr(reader_threads, "HUNG_S", 0.2)
    hung = threading.Event()

    class Hanging(MadeUp):
        def read(self, part, length):
            hung.wait(30)
            return length

    with pytest.raises(StorageError, match="a call hangs"):
        probe(files, Hanging(), Bounds(0.2))
    hung.set()


def test_a_read_gets_what_is_there(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(os.urandom(5000))
    opened = open_file(str(path), time.perf_counter)
    assert isinstance(opened, OpenFile)
    part = FileRange(opened, 0, 5000)
    try:
        assert read_range(part, 4096) >= 4096
    finally:
        os.close(opened.handle)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [((0, 1_000_000), "more than 0"), ((1, 999), "1 MB at least"), ((1e9, 10**7), "3,600")],
)
def test_bounds_are_checked(bounds, said):
    with pytest.raises(ConfigurationError, match=said):
        Bounds(*bounds)
