"""LMDBIO's remedies by their names; one process that reads for several workers, and what ends them."""

import multiprocessing
import os
import select
import signal
from typing import Any

import pytest

from tests.integration.lmdb_reader.databases import write
from tfdarshan.errors import ConfigurationError, DataFileError, StorageError
from tfdarshan.lmdb import REMEDIES, Index, dataset
from tfdarshan.lmdb.batch_slot import BatchSlot, most_batch_bytes

RECORDS = 500
VALUES = [b"%d." % number * (number % 300) for number in range(RECORDS - 1)] + [os.urandom(70_000)]


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "db", [(b"%06d" % number, value) for number, value in enumerate(VALUES)])
    return tmp_path / "db"


def values_of(batches):
    return [value for batch in batches for value in batch.tolist()]


def in_workers(shared, count, work):
    """Have forked workers work on their parts; return what each returned, or the text of its error."""
    context = multiprocessing.get_context("fork")
    pipes, processes = [], []
    for which in range(count):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_worker, args=(shared, which, count, work, theirs))
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
    try:
        return [pipe.recv() for pipe in pipes]
    finally:
        for process, pipe in zip(processes, pipes, strict=True):
            process.join()
            pipe.close()


def _worker(shared, which, count, work, pipe):
    try:
        pipe.send(work(shared.part(which, count)))
    except (StorageError, DataFileError) as error:
        pipe.send(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize("name", sorted(set(REMEDIES) - {"LMM"}))
@pytest.mark.parametrize("shuffle", [None, "exact"])
def test_each_remedy_gives_each_record_once(path, name, shuffle):
    parts = [
        values_of(dataset(path, batch=9, shard=(which, 3), shuffle=shuffle, remedy=name))
        for which in range(3)
    ]
    assert sorted(value for part in parts for value in part) == sorted(VALUES)
    assert shuffle or [value for part in parts for value in part] == VALUES


def test_remedies_are_what_they_say(path):
    opened = {name: dataset(path, remedy=name) for name in REMEDIES if name != "LMM"}
    assert {name: records.index.reading.access for name, records in opened.items()} == {
        "DM": "cached", "DIO": "direct", "PROV": "direct", "COAL": "direct", "STAG": "direct",
    }  # fmt: skip
    assert {name: records.index.threads for name, records in opened.items()} == dict.fromkeys(opened, 1)
    assert [name for name, records in opened.items() if records.takes_turns] == ["STAG"]
    assert {name: records.most_read_bytes for name, records in opened.items()} == {
        "DM": 0, "DIO": 0, "PROV": 0, "COAL": 4 << 20, "STAG": 4 << 20,
    }  # fmt: skip


def test_stag_waits_for_its_turn(path):
    # GIVEN another that has its turn: a process that is killed
    import fcntl

    told, tell = os.pipe()
    child = os.fork()
    if not child:
        handle = os.open(path / "data.mdb", os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.write(tell, b"x")
        signal.pause()
    os.read(told, 1)
    other = multiprocessing.get_context("fork").Process(
        target=lambda: values_of(dataset(path, batch=50, remedy="STAG"))
    )
    other.start()

    # WHEN / THEN it reads nothing before the other is gone
    assert not select.select([other.sentinel], [], [], 0.5)[0]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    other.join()
    assert other.exitcode == 0


@pytest.mark.parametrize("readers", [1, 3])
def test_one_process_reads_for_all_workers(path, readers):
    # GIVEN
    shared = dataset(path, batch=8, remedy="LMM", readers=readers)

    # WHEN the workers read, twice
    for _ in range(2):
        parts = in_workers(shared, readers, lambda part: [batch.tolist() for batch in part])

        # THEN worker i has batches i, i + n, ...
        whole = [VALUES[first : first + 8] for first in range(0, RECORDS, 8)]
        assert parts == [whole[which::readers] for which in range(readers)]


def test_a_worker_may_leave_early_and_begin_again(path):
    shared = dataset(path, batch=8, remedy="LMM", epochs=None)
    for _ in range(3):
        batches = iter(shared)
        assert next(batches).tolist() == VALUES[:8]
        assert next(batches).tolist() == VALUES[8:16]
        batches.close()


def test_a_worker_that_is_killed_holds_up_no_other(path):
    # GIVEN a worker that is killed with its first batch
    def work(part):
        batches = iter(part)
        first = next(batches)
        if first.numbers[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return [first.tolist(), *(batch.tolist() for batch in batches)]

    shared = dataset(path, batch=8, remedy="LMM", readers=2)
    context = multiprocessing.get_context("fork")
    killed = context.Process(target=lambda: work(shared.part(0, 2)))
    killed.start()

    # WHEN / THEN the other gets all that is its own
    whole = [VALUES[first : first + 8] for first in range(0, RECORDS, 8)]
    assert work(shared.part(1, 2)) == whole[1::2]
    killed.join()
    assert killed.exitcode == -signal.SIGKILL


def test_workers_of_a_killed_reader_end_with_an_error(path):
    # GIVEN workers in the midst of an endless data set
    shared = dataset(path, batch=8, remedy="LMM", readers=3, epochs=None)
    told, tell = os.pipe()

    def work(part):
        for number, _ in enumerate(part):
            if number == 5:
                os.write(tell, b"x")
        return "the data set ended"

    context: Any = multiprocessing.get_context("fork")
    pipes = [context.Pipe(duplex=False) for _ in range(3)]
    workers = [context.Process(target=_worker, args=(shared, n, 3, work, pipes[n][1])) for n in range(3)]
    for worker in workers:
        worker.start()
    for _ in range(3):
        os.read(told, 1)

    # WHEN
    shared.reader_process.kill()
    shared.reader_process.join()

    # THEN at once, with no time to wait for, the pipe that each waits on tells it
    for channel in shared._channels:
        poll = select.poll()
        poll.register(channel.from_reader, select.POLLIN)
        assert poll.poll(0)[0][1] & select.POLLHUP
    for (ours, _), worker in zip(pipes, workers, strict=True):
        assert ours.recv() == (
            f"StorageError: {path / 'data.mdb'}: the process that reads it for all workers was killed. "
            "Make the data set again."
        )
        worker.join()
        assert worker.exitcode == 0


def test_what_fails_in_the_reader_fails_in_all_workers(path):
    shared = dataset(path, batch=8, remedy="LMM", readers=2)
    os.truncate(path / "data.mdb", 8192)

    said = in_workers(shared, 2, values_of)

    assert [text.partition(":")[0] for text in said] == ["DataFileError"] * 2
    assert all("ends before byte" in text for text in said)


def test_the_reader_ends_with_its_data_set_and_with_its_owner(path):
    # GIVEN
    shared = dataset(path, batch=8, remedy="LMM", readers=2)
    watched = os.pidfd_open(shared.reader_process.pid)
    del shared
    assert select.select([watched], [], [], 60)[0]
    os.close(watched)

    # WHEN an owner is killed
    told, tell = os.pipe()
    owner = os.fork()
    if not owner:
        kept = dataset(path, batch=8, remedy="LMM", readers=2)
        os.write(tell, b"%d" % kept.reader_process.pid)
        signal.pause()
    watched = os.pidfd_open(int(os.read(told, 20)))
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)

    # THEN
    assert select.select([watched], [], [], 60)[0]
    os.close(watched)


def test_wrong_use_is_one_sentence(path):
    for wrong, sentence in (
        ({"remedy": "none"}, "remedy must be one of LMM, DM, DIO, PROV, COAL, STAG, not 'none'."),
        ({"remedy": "LMM", "readers": 0}, "readers must be at least 1"),
    ):
        with pytest.raises(ConfigurationError, match=sentence):
            dataset(path, **wrong)
    with Index(path) as index, pytest.raises(ConfigurationError, match="give its path in place of an index"):
        dataset(index, remedy="DM")
    shared = dataset(path, remedy="LMM", readers=2)
    with pytest.raises(ConfigurationError, match="for 2 workers, not for 0 of 3"):
        shared.part(0, 3)


def test_a_slot_has_room_for_the_largest_batch():
    import numpy as np

    from tfdarshan.lmdb import Batch

    for sizes in ([5, 0, 9, 9], [], [7]):
        given = np.array(sizes, np.uint32)
        slot = BatchSlot(most_batch_bytes(given, 2))
        chosen = given[np.argsort(given)[::-1][:2]]
        offsets = np.append(np.int64(0), np.cumsum(chosen, dtype=np.int64))
        buffer = np.frombuffer(os.urandom(int(offsets[-1])), np.uint8)
        batch = Batch(np.arange(len(chosen), dtype=np.uint64), buffer, offsets)
        again = slot.take(slot.put(batch))
        assert again.tolist() == batch.tolist()
        assert again.numbers.tolist() == batch.numbers.tolist()
