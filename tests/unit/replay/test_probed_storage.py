"""What a probe of its storage says of a job that cannot tell by its own calls."""

import dataclasses

import pytest

from tests.unit.findings.made_up_probes import FULL, PIPE, WAITING, probe_of
from tests.unit.replay.made_up_jobs import file_job
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import Readers
from tfdarshan.replay.promise import promise
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.session import open_session
from tfdarshan.storage_probe.session_probes import keep_probes


def facts_with(logdir, storage=None, mount="/data"):
    """Return the facts of a loop that reads files of 100 kB one at a time, with a probe of such storage."""
    session = file_job(logdir)
    if storage is not None:
        keep_probes(session, [probe_of(storage, mount)])
    return facts_of(open_session(session.path))


def test_one_reader_s_calls_leave_its_storage_open(tmp_path):
    storage = facts_with(tmp_path).storage
    assert storage.serial is None
    assert storage.wait_share is None


@pytest.mark.parametrize(
    ("kind", "serial", "wait_share"), [(WAITING, 0.0, 1.0), (FULL, 1.0, 1.0), (PIPE, 1.0, 0.02)]
)
def test_a_probe_tells_how_it_serves_requests_of_their_size(tmp_path, kind, serial, wait_share):
    # WHEN
    storage = facts_with(tmp_path, kind).storage

    # THEN
    assert storage.serial[0] == pytest.approx(serial, abs=0.05)
    assert storage.serial[1] <= storage.serial[0] <= storage.serial[2]
    assert storage.wait_share == pytest.approx(wait_share, abs=0.05)


def test_a_probe_of_another_mount_tells_nothing(tmp_path):
    assert facts_with(tmp_path, FULL, mount="/elsewhere").storage.serial is None


def test_a_probe_narrows_what_more_readers_give(tmp_path):
    # WHEN
    open_one, waiting, full = (
        promise(calibrated(facts_with(tmp_path / str(number), kind)), Readers(8))
        for number, kind in enumerate((None, WAITING, FULL))
    )

    # THEN four files of 10 ms beside each other, and beside 20 ms of compute, take a third of the 60 ms
    assert waiting.expected == pytest.approx(3.0, rel=0.1)
    assert waiting.low > open_one.low
    assert waiting.high / waiting.low < open_one.high / open_one.low
    # One behind the other they take as long as before; a limit that lends for a while stays possible.
    assert full.expected < open_one.expected
    assert full.high < waiting.high


@pytest.mark.parametrize(("read_ms", "unlimited"), [(6, True), (40, False)])
def test_reads_as_quick_as_a_probe_s_were_held_back_by_no_limit(tmp_path, read_ms, unlimited):
    # GIVEN requests of 100 kB, which a probe of storage that had rested says to take 5 ms
    session = file_job(tmp_path, read_ms=read_ms)
    keep_probes(session, [probe_of(FULL, "/data")])

    # WHEN nothing else tells of a limit
    facts = facts_of(open_session(session.path))
    storage = dataclasses.replace(facts.storage, paced=None)
    job = calibrated(dataclasses.replace(facts, storage=storage))

    # THEN
    assert job.facts.storage.unlimited == unlimited
    assert (job.model.limit_s.sum() == 0) == unlimited
