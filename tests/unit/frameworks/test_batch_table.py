"""Which worker put each batch together, and when."""

import time

from tests.unit.frameworks.noted_rows import MS, PID, Job
from tfdarshan.frameworks.batch_rows import ProcessRows
from tfdarshan.frameworks.batch_table import batch_table

WORKERS = (200, 201)


def process(pid, job):
    return ProcessRows(pid, job.array, job.notes, 0)


def table_of(job, *workers):
    own = process(PID, job)
    others = [process(pid, worker) for pid, worker in zip(WORKERS, workers, strict=False)]
    return batch_table([own, *others], own, job.loaders, 0)


def test_the_kth_batch_of_a_worker_is_its_kth_fetch_of_that_pass():
    # GIVEN two passes over workers that live on, the first of which is left early
    job, first, second = Job(), Job(), Job()
    one = job.loader("train", workers=WORKERS)
    job.start(one, 10)
    first.fetch(5, 20, number=0, ordinal=0, worker=0, thread=200)
    second.fetch(6, 30, number=0, ordinal=0, worker=1, thread=201)
    first.fetch(20, 35, number=0, ordinal=1, worker=0, thread=200)
    job.batch(one, 12, worker=0)
    job.batch(one, 9, worker=1)
    job.compute(100)
    two = job.loader("train", workers=WORKERS)
    job.start(two, 10)
    first.fetch(132, 150, number=1, ordinal=0, worker=0, thread=200)
    second.fetch(133, 140, number=1, ordinal=0, worker=1, thread=201)
    job.batch(two, 10, worker=1)
    job.batch(two, 10, worker=0)

    # THEN
    table = table_of(job, first, second)
    assert table["fetch_pid"].tolist() == [200, 201, 201, 200]
    assert (table["fetch_start_ns"] // MS).tolist() == [5, 6, 133, 132]
    assert (table["fetch_end_ns"] // MS).tolist() == [20, 30, 140, 150]
    assert table["epoch"].tolist() == [1, 1, 2, 2]
    assert table["batch"].tolist() == [0, 1, 0, 1]


def test_a_loop_without_workers_puts_batches_together_itself():
    # GIVEN
    job = Job()
    number = job.loader("train")
    for place in range(2):
        job.fetch(job.now + 1, job.now + 9, ordinal=place)
        job.batch(number, 10)
        job.compute(5)

    # THEN
    table = table_of(job)
    assert table["fetch_pid"].tolist() == [PID, PID]
    assert (table["fetch_start_ns"] // MS).tolist() == [1, 16]
    assert (table["fetch_end_ns"] // MS).tolist() == [9, 24]


def test_a_worker_that_noted_nothing_is_not_known():
    # GIVEN
    job = Job()
    number = job.loader("train", workers=WORKERS)
    job.start(number, 1)
    job.batch(number, 10, worker=0)

    # THEN
    table = table_of(job)
    assert (table["worker"].tolist(), table["fetch_pid"].tolist()) == ([0], [-1])
    assert table["fetch_end_ns"].tolist() == [-1]


def seconds_for(passes):
    """Return what the table takes for so many passes over a small data set."""
    job, workers = Job(), (Job(), Job())
    for number in range(passes):
        one = job.loader("train", workers=WORKERS)
        job.start(one)
        for place in range(4):
            fetched = {"number": number, "ordinal": place // 2, "worker": place % 2}
            workers[place % 2].fetch(job.now, job.now + 1, **fetched, thread=WORKERS[place % 2])
            job.batch(one, 2, worker=place % 2)
    own, others = process(PID, job), [process(*one) for one in zip(WORKERS, workers, strict=True)]
    loaders = job.loaders
    took_s = []
    for _ in range(3):
        begin = time.process_time()
        table = batch_table([own, *others], own, loaders, 0)
        took_s.append(time.process_time() - begin)
    assert (table["fetch_pid"] >= 0).all()
    return min(took_s)


def test_many_epochs_of_few_batches_take_as_long_each():
    assert seconds_for(6_000) < 2 * 4 * seconds_for(1_500)
