"""What sessions' replay models say of a fleet: each as its own `tfdarshan whatif`, and the rest bounds."""

import pytest

from tests.unit.fleet.made_jobs import made_jobs
from tests.unit.replay.made_up_jobs import OPEN_MS, READ_MS, file_job
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.fleet.attainable import attainable
from tfdarshan.fleet.faster_parts import hot_tier, node_link, storage_bandwidth
from tfdarshan.fleet.job_columns import LOG, SESSION
from tfdarshan.fleet.job_models import ask_models
from tfdarshan.partials.serial import SERIAL

HOUR_S, BATCHES, FILES = 3600, 8, 4


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """One epoch of 32 files on /data, which the loop reads itself: it waits for 320 ms in all."""
    return file_job(tmp_path_factory.mktemp("logs"), epochs=1, files=FILES, batches=BATCHES, compute_ms=20)


def row(session, **more):
    """Return the row of the session; jobs without a model are much longer."""
    figures = {"kind": SESSION, "input": str(session.path), "read_s": 0.3, "input_read_s": 0.3, "nodes": 1,
               "input_folder": "/data", "input_bytes_read": 10**6, "input_unique_bytes": 10**6}  # fmt: skip
    return figures | more


def asked(rows, part, most=10):
    jobs = made_jobs(rows)
    return attainable(jobs, part, ask_models(jobs, part, most, SERIAL))


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_a_fleet_of_one_job_saves_what_whatif_says(session, factor):
    # GIVEN
    alone = what_if(measure(session), StorageChange(bandwidth=factor)).gain

    # WHEN
    found = asked([row(session)], storage_bandwidth(factor))

    # THEN it is in the range of that, which has what single runs differ by beside
    assert found.modelled_jobs == 1
    low_s, high_s = (HOUR_S * hours / BATCHES for hours in (found.low_job_hours, found.high_job_hours))
    assert alone.low_s <= low_s < high_s <= alone.high_s
    assert low_s < alone.saved_s < high_s


def test_copies_of_the_folder_save_what_its_calls_take(session):
    # GIVEN the job twice, and a log that says as much
    rows = [row(session, day=1), row(session, day=2), row(session, kind=LOG, day=3)]

    # WHEN
    found, elsewhere = (
        asked([one | {"input_folder": folder} for one in rows], hot_tier(10**9, 2e9))
        for folder in ("/data", "/other")
    )

    # THEN the calls of 32 files are saved, but of the first job nothing is certain, nor of the log
    waited_s = BATCHES * FILES * (OPEN_MS + READ_MS) / 1e3
    assert found.modelled_jobs == 2
    assert 0.5 * waited_s < HOUR_S * found.low_job_hours <= waited_s
    assert HOUR_S * found.high_job_hours == pytest.approx(2 * waited_s + 0.3, rel=0.01)
    assert elsewhere.high_job_hours * HOUR_S == pytest.approx(0.3, rel=0.05)


def test_models_are_asked_of_those_that_may_gain_most(session):
    # GIVEN a job that is said to read for long, and one that is gone
    rows = [row(session), row(session, read_s=100.0), row(session, input="/gone", read_s=200.0)]

    # WHEN
    few, none = (asked(rows, storage_bandwidth(2.0), most=most) for most in (2, 0))

    # THEN
    assert (few.modelled_jobs, none.modelled_jobs) == (1, 0)
    assert none.low_job_hours == 0
    assert none.high_job_hours * HOUR_S == pytest.approx((0.3 + 100 + 200) / 2)
    assert few.high_job_hours * HOUR_S < (0.3 + 200) / 2 + 1


def test_a_faster_link_saves_no_more_than_bytes_take_on_it(session):
    # GIVEN 32 files of 100 kB over 1 Gb/s: 25.6 ms
    found = asked([row(session, bytes_read=32 * 10**5)], node_link(10e9, 1e9))

    # THEN nine tenths of it, as far as the model may be trusted
    assert found.modelled_jobs == 1
    assert 0 < found.high_job_hours * HOUR_S <= 1.7 * 0.9 * 32 * 8e5 / 1e9
