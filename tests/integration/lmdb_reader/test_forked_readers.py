"""Processes that are forked with one index: what one measured the next takes, and all may take turns."""

import multiprocessing
import os
import threading

import pytest

from tests.integration.lmdb_reader.databases import write
from tests.integration.lmdb_reader.forked_child import in_child
from tfdarshan.lmdb import Index, dataset, measured_reading
from tfdarshan.lmdb.shared_choice import turn

RECORDS, VALUE_BYTES = 900, 40_000


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(measured_reading, "cached_share", lambda path, offsets: 0.0)
    write(tmp_path / "db", [(b"%06d" % number, os.urandom(VALUE_BYTES)) for number in range(RECORDS)])
    return tmp_path / "db"


def read_all(index):
    for batch in dataset(index, batch=50):
        assert len(batch) == 50


def test_a_child_takes_what_its_brother_found(path):
    with Index(path, snapshot="check") as index:
        # GIVEN a child that measured, which the parent did not
        def measure():
            read_all(index)
            assert index.reading.looks > 0

        assert in_child(measure) == 0
        found = index._measured._shared.found()
        assert found is not None

        # WHEN / THEN another has it at once, and compares nothing
        def adopt():
            index.read(range(100))
            assert index.reading.looks == 0
            assert index.reading.in_flight == found[0]

        assert in_child(adopt) == 0


def test_a_reader_that_only_looked_does_not_keep_others_from_measuring(path):
    with Index(path, snapshot="check") as index:
        index.read([0])

        def measure():
            read_all(index)
            assert index.reading.looks > 0

        assert in_child(measure) == 0


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_turns_are_taken_by_one_at_a_time(path, kind):
    # GIVEN readers that note when they begin and end, in a file that all append to
    log = path.with_name("log")
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def work():
        for _ in range(50):
            with turn(str(path / "data.mdb")):
                os.write(handle, b"(")
                os.sched_yield()
                os.write(handle, b")")

    make = threading.Thread if kind == "threads" else multiprocessing.get_context("fork").Process
    workers = [make(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    os.close(handle)

    # THEN
    assert log.read_text() == "()" * 200
