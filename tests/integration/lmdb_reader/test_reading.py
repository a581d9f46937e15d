"""access="auto": the same bytes by every way of reading; on a disk that seeks as fast as the best setting."""

from __future__ import annotations

import json
import os
import threading
import time

import numpy as np
import pytest

from tests.integration.lmdb_reader.databases import expected, found, write
from tests.integration.storage_probe.fuse_storage import make_server, needs_fuse, storage, tried_again
from tfdarshan.commands import main
from tfdarshan.lmdb import Index, batched_records, dataset, measured_reading
from tfdarshan.lmdb.measured_reading import CACHED_SHARE
from tfdarshan.native.lmdb_file import LmdbFile
from tfdarshan.workloads.cache_clearing import drop_from_cache

HDD = {"seek_s": 8e-3, "bandwidth": 163e6, "concurrency": 1, "page_cache": 1}
RECORDS = 400
RECORDS_ON_DISK = 600
VALUE_BYTES = 40_000


@pytest.fixture
def path(tmp_path):
    records = [(b"%06d" % number, os.urandom(VALUE_BYTES)) for number in range(RECORDS)]
    write(tmp_path / "db", records + [(b"small %06d" % number, b"%d" % number) for number in range(500)])
    return tmp_path / "db"


def as_cached(monkeypatch, share):
    monkeypatch.setattr(measured_reading, "cached_share", lambda path, offsets: share)


@pytest.mark.parametrize("share", [None, 0.5, 1.0], ids=["unknown", "partly cached", "cached"])
def test_every_way_reads_the_same(path, monkeypatch, share):
    # GIVEN
    as_cached(monkeypatch, share)
    wanted = expected(path)
    with Index(path, snapshot="check") as index:
        # WHEN / THEN
        assert found(index) == wanted
        numbers = np.random.default_rng(3).permutation(len(index))
        assert index.read(numbers).tolist() == [wanted[number][1] for number in numbers]
        assert index.reading.from_cache == (share == 1.0)
        assert (index.reading.looks > 0) == (share != 1.0)
        values = [value for batch in dataset(index, batch=7, shuffle="blocks") for value in batch.tolist()]
    assert sorted(values) == sorted(value for _, value in wanted)


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["not cached", "cached"])
def test_several_threads_share_one_choice(path, monkeypatch, share):
    # GIVEN
    as_cached(monkeypatch, share)
    wanted = [value for _, value in expected(path)]
    with Index(path, snapshot="check") as index:
        got: list[list[bytes]] = [[] for _ in range(4)]

        def read(which):
            for batch in dataset(index, batch=5, shard=(which, 4), epochs=3):
                got[which] += batch.tolist()

        # WHEN
        threads = [threading.Thread(target=read, args=(which,)) for which in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    # THEN
    assert [value for part in got for value in part[: len(part) // 3]] == wanted


def test_a_child_that_is_forked_while_a_thread_reads_alone_reads_on(path):
    # GIVEN a thread that has its turn, and keeps it
    with Index(path, snapshot="check") as index:
        has_turn, may_end = threading.Event(), threading.Event()

        def keep():
            with index._measured._turns.alone():
                has_turn.set()
                may_end.wait()

        thread = threading.Thread(target=keep)
        thread.start()
        has_turn.wait()

        # WHEN
        child = os.fork()
        if not child:
            try:
                os._exit(0 if len(index.read(range(len(index)))) == len(index) else 1)
            finally:
                os._exit(2)
        status = os.waitpid(child, 0)[1]
        may_end.set()
        thread.join()

    # THEN
    assert os.waitstatus_to_exitcode(status) == 0


def test_the_page_cache_is_asked_again(path, monkeypatch):
    shares = iter([1.0, 0.2])
    monkeypatch.setattr(measured_reading, "cached_share", lambda path, offsets: next(shares))
    with Index(path, snapshot="check") as index:
        assert index.is_cached()
        monkeypatch.setattr(measured_reading, "CACHE_LOOK_BYTES", 0)
        index.read(range(len(index)))
        assert index.is_cached()
        index._measured._looks_after = 0
        assert not index.is_cached()
        assert index.reading.cached_share == 0.2


def test_the_end_of_a_first_epoch_is_not_taken_for_cached(path, monkeypatch):
    # GIVEN a page cache that has all but the last 3 % of the file, as that was not read yet
    made = []
    read_some = LmdbFile.read

    def read(self, numbers, *given, cached=False):
        made.append((cached, self.records()["offset"][numbers]))
        read_some(self, numbers, *given, cached=cached)

    with Index(path, snapshot="check") as index:
        border = np.quantile(index.offsets, 0.97)
        monkeypatch.setattr(LmdbFile, "read", read)
        monkeypatch.setattr(measured_reading, "cached_share", lambda _, offsets: np.mean(offsets < border))
        monkeypatch.setattr(measured_reading, "CACHE_LOOK_BYTES", 0)
        monkeypatch.setattr(batched_records, "CACHE_LOOK_BYTES", 1 << 20)
        monkeypatch.setattr(batched_records, "CACHED_READ_BYTES", 1 << 20)
        monkeypatch.setattr(batched_records, "READ_BYTES", 1 << 20)
        assert index.is_cached()

        # WHEN
        assert sum(map(len, dataset(index, batch=4))) == len(index)

    # THEN the rest is read as from storage, and what the page cache has from there
    assert all(np.mean(offsets < border) >= CACHED_SHARE for cached, offsets in made if cached)
    assert sum(len(offsets) for cached, offsets in made if cached) > 0.8 * RECORDS


def test_info_and_bench_say_how_it_is_read(path, capsys, monkeypatch):
    as_cached(monkeypatch, 1.0)
    assert main(["lmdb", "info", str(path)]) == 0
    assert "page cache                 has 100.0 % of it: read from there\n" in capsys.readouterr().out

    assert main(["lmdb", "bench", str(path), "--runs", "1"]) == 0
    assert "    read from the page cache, which has 100.0 % of it\n" in capsys.readouterr().out

    as_cached(monkeypatch, 0.0)
    assert main(["lmdb", "bench", str(path), "--runs", "1"]) == 0
    assert " in flight, which gave most of those tried: " in capsys.readouterr().out

    assert main(["lmdb", "bench", str(path), "--runs", "1", "--json"]) == 0
    readers = json.loads(capsys.readouterr().out)["readers"]
    assert readers[0]["reading"]["cached_share"] == 0
    assert "1" in readers[0]["reading"]["speeds"]
    assert readers[1]["reading"] is None


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("server"))


@pytest.fixture
def reads(monkeypatch):
    """Return the reads that are made: how many were in flight, and of how many records, in order."""
    made = []
    read_some = measured_reading.MeasuredReading.read

    def read(self, reader, offsets, sizes):
        def noted(order, depth, from_cache):
            made.append((depth, len(order)))
            reader(order, depth, from_cache)

        read_some(self, noted, offsets, sizes)

    monkeypatch.setattr(measured_reading.MeasuredReading, "read", read)
    return made


def seconds(shown, backing, **options):
    """Read all, as a data set that is new to it."""
    drop_from_cache([shown / "data.mdb", backing / "data.mdb"])
    with Index(shown, snapshot="check", **options) as index:
        start_s = time.perf_counter()
        assert sum(len(batch) for batch in dataset(index, batch=8)) == len(index)
        return time.perf_counter() - start_s, index.reading


@needs_fuse
@tried_again
def test_on_a_disk_that_seeks_it_is_as_good_as_the_best(capsys, server, tmp_path, reads):
    # GIVEN a disk without elevator
    reads.clear()
    write(tmp_path / "db", [(b"%06d" % number, bytes(110_000)) for number in range(RECORDS_ON_DISK)])
    with storage(server, tmp_path, tmp_path.with_name("shown"), **HDD) as folder:
        # WHEN
        auto_s, reading = seconds(folder / "db", tmp_path / "db")
        many_s, _ = seconds(folder / "db", tmp_path / "db", access="cached")

    # THEN it found that many in flight harm, and read next to nothing with more than one to find that
    assert reading.in_flight == 1
    assert sum(records for _, records in reads) == RECORDS_ON_DISK
    together = sum(records for depth, records in reads if depth > 1)
    assert together < 0.2 * RECORDS_ON_DISK
    assert auto_s < many_s / 2


@needs_fuse
@tried_again
def test_on_storage_that_answers_late_many_are_in_flight(capsys, server, tmp_path):
    write(tmp_path / "db", [(b"%06d" % number, bytes(110_000)) for number in range(900)])
    with storage(server, tmp_path, tmp_path.with_name("shown"), read_s=3e-3, page_cache=1) as folder:
        auto_s, reading = seconds(folder / "db", tmp_path / "db")
        one_s, _ = seconds(folder / "db", tmp_path / "db", access="cached", threads=1)

    assert auto_s < one_s / 2
    assert reading.in_flight >= 4
