"""How many requests reads come to storage in, against closed forms: records of 8 KiB share one of 1 MiB."""

import numpy as np
import pytest

from tests.unit.replay.made_up_jobs import file_job, record_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import edited
from tfdarshan.replay.job_model import OPEN, READ
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_requests import memory_keeps
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import LargeReads, SequentialReads, Shards

SIZE = 8192
SHARE, WINDOW_SHARE = SIZE / SETTING["request"], SIZE / SETTING["window"]
RECORDS = 128  # as many as a request has


def waits_s(job, tasks=slice(None)):
    """Return what all reads wait, or those of some tasks, without what an arm takes to move, by sample."""
    return (job.model.wait_s[READ] + np.zeros(job.model.samples))[tasks].sum(0)


def modelled(session):
    return calibrated(facts_of(session))


def test_a_request_serves_small_files_that_became_records(tmp_path):
    # GIVEN 32 files of 8 KiB, each of which waits for storage, in two epochs
    job = modelled(file_job(tmp_path, size=SIZE))

    # WHEN
    made = edited(job, Shards())

    # THEN a reader waits for a quarter of a request, for bytes, and for nothing else
    assert made.model.wait_s[OPEN].sum() == 0
    assert waits_s(made) == pytest.approx(waits_s(job) * SHARE)
    left_s = waits_s(made) + (made.model.transfer_s + made.model.work_s).sum(0)
    free = np.broadcast_to(job.model.limit_s.sum(0) == 0, job.model.samples)
    assert made.run.total_s[free] == pytest.approx((16 * 0.020 + job.model.hand_s.sum(0) + left_s)[free])


def test_files_as_large_as_a_request_keep_theirs(tmp_path):
    job = modelled(file_job(tmp_path, size=int(SETTING["request"])))
    assert waits_s(edited(job, Shards())) == pytest.approx(waits_s(job))


def test_large_reads_of_what_was_read_ahead_wait_for_larger_requests(tmp_path):
    # GIVEN records in order, of which every sixteenth waits for the request that brings the others
    job = modelled(
        record_job(tmp_path, range(RECORDS), read_ms=[0.01 if n % 16 else 4 for n in range(RECORDS)])
    )
    assert job.facts.tasks.requests.sum() == RECORDS / 16

    # THEN one request has what eight had
    assert waits_s(edited(job, LargeReads())) == pytest.approx(waits_s(job) * (1 + 1 - SHARE) / 8)


def test_large_reads_where_nobody_reads_ahead_share_requests(tmp_path):
    # GIVEN records in order, each of which waits
    job = modelled(record_job(tmp_path, range(RECORDS), read_ms=[1] * RECORDS))

    # THEN the first one is at a place that nobody was at before
    assert waits_s(edited(job, LargeReads())) == pytest.approx(waits_s(job) * (1 + 1 - SHARE) / RECORDS)


def test_large_reads_in_any_order_need_a_request_each(tmp_path):
    # GIVEN each record read from a place of its own
    job = modelled(record_job(tmp_path, [n * 5 % RECORDS for n in range(RECORDS)], read_ms=[1] * RECORDS))

    # THEN
    assert waits_s(edited(job, LargeReads())) == pytest.approx(waits_s(job))


def test_reads_in_order_come_in_requests_if_the_kernel_reads_ahead(tmp_path):
    # GIVEN the same
    job = modelled(record_job(tmp_path, [n * 5 % RECORDS for n in range(RECORDS)], read_ms=[1] * RECORDS))

    # WHEN
    made, ahead = edited(job, SequentialReads()), job.drawn["reads_ahead"]

    # THEN no arm moves
    assert made.model.seek_s.sum() == 0
    assert waits_s(made) == pytest.approx(waits_s(job) * np.where(ahead, WINDOW_SHARE, 1.0))
    assert 0 < ahead.mean() < 1


def test_reads_in_order_by_a_buffer_come_in_requests_anyway(tmp_path):
    # GIVEN the same
    job = modelled(record_job(tmp_path, [n * 5 % RECORDS for n in range(RECORDS)], read_ms=[1] * RECORDS))

    # THEN
    assert waits_s(edited(job, SequentialReads(), LargeReads())) == pytest.approx(waits_s(job) * SHARE)


def test_larger_pages_of_a_file_that_memory_keeps_are_read_once(tmp_path):
    # GIVEN records read in any order, and again out of memory, of a file of 32 pages of 64 KiB
    order = [n * 5 % RECORDS for n in range(RECORDS)]
    job = modelled(record_job(tmp_path, order * 2, read_ms=[1] * RECORDS + [0.01] * RECORDS))
    assert memory_keeps(job.facts) == 1

    # THEN so many of these pages hold one of 128 places or more, each place anywhere
    different = 32 * (1 - (31 / 32) ** RECORDS)
    made, first = edited(job, LargeReads(64 << 10)), job.facts.tasks.epoch == 0
    assert waits_s(made, first) == pytest.approx(waits_s(job, first) * different / RECORDS)
    # AND what memory serves again asks for nothing
    assert waits_s(made, ~first) == pytest.approx(waits_s(job, ~first))


def test_larger_pages_that_nobody_keeps_are_read_again(tmp_path):
    # GIVEN the same, where storage is asked each time
    order = [n * 5 % RECORDS for n in range(RECORDS)]
    job = modelled(record_job(tmp_path, order * 2, read_ms=[1] * 2 * RECORDS))
    assert memory_keeps(job.facts) == 0

    # THEN
    assert waits_s(edited(job, LargeReads(64 << 10))) == pytest.approx(waits_s(job))


def test_a_limit_of_calls_counts_those_that_it_lets_through_at_once(tmp_path):
    # GIVEN records at places of their own, every sixteenth of which is held back
    order = [n * 5 % RECORDS for n in range(RECORDS)]
    job = modelled(record_job(tmp_path, order, read_ms=[0.05 if n % 16 else 50 for n in range(RECORDS)]))
    counts = (job.model.limit_s.sum(0) > 0) & job.drawn["limit_of_calls"]
    assert counts.any()
    used_s = job.model.limit_s[:, counts]

    # THEN each takes as much of it
    assert used_s == pytest.approx(np.broadcast_to(used_s[0], used_s.shape))

    # AND in order one request is in place of all
    made = edited(job, SequentialReads(), LargeReads())
    assert made.model.limit_s[:, counts].sum(0) == pytest.approx(used_s[0])


def test_what_memory_served_asked_for_nothing(tmp_path):
    # GIVEN a second epoch out of the page cache
    job = modelled(file_job(tmp_path, size=SIZE, cached_ms=0.04))
    later = job.facts.tasks.epoch == 1

    # WHEN
    made = edited(job, Shards())

    # THEN
    assert job.facts.tasks.requests[later].sum() == 0
    waits = [(one.model.wait_s[READ] + np.zeros(64))[later] for one in (job, made)]
    assert waits[1] == pytest.approx(waits[0])
