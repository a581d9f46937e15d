"""What findings say of a session that cannot tell, with a probe of its storage and without."""

import dataclasses
import json

import pytest

from tests.closed_readers import Delay, Queue, calls_of
from tests.unit.findings.test_more_readers import job, names, rests
from tests.unit.storage_probe.test_depth_scaling import cells_of
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.more_readers import serial_share
from tfdarshan.findings.read_split import wait_of_a_read
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.session import open_session
from tfdarshan.storage_probe.probe_result import probe_of_dict, result_of
from tfdarshan.storage_probe.prober import Probing
from tfdarshan.storage_probe.session_probes import keep_probes, main_mount

WAITING, FULL = (lambda: Delay(5)), (lambda: Queue(0, 5))
PIPE = lambda: Queue(0.1, 0, 1 / 20_000)  # noqa: E731 - 20 MB/s


def probe_of(storage, mount, *, at_ns=10**18, sizes=(4_096, 131_072)):
    """Gives what a probe of made-up storage finds."""
    found = Probing(seconds=4.0, moved=10**7, asked=100, opened=12)
    for size, small in zip(sizes, (True, False), strict=True):
        cells = cells_of(
            lambda readers, size=size: calls_of(
                storage(), readers=readers, rest_ms=lambda noise: 0.0, count=48, size=lambda noise: size
            )
        )
        found.cells += [dataclasses.replace(cell, small=small) for cell in cells]
    return result_of(found, folder="/data", mount=(mount, "nfs"), host="node7", at_ns=at_ns, seed=1)


def one_reader(logdir):
    """Gives a session of one reader whose reads of 100 kB take 5 ms: a wait, or a transfer."""
    return job(logdir, calls_of(Queue(0, 5), readers=1, rest_ms=rests(0.5)))


def with_probe(session, storage, **more):
    """Keeps a probe of such storage in a session; gives the session as it is opened again."""
    measures = measure(session)
    keep_probes(session, [probe_of(storage, main_mount(measures.files, measures.costs.call_s), **more)])
    return open_session(session.path)


def shown(session, name):
    found = next(finding for finding in diagnose(session).findings if finding.name == name)
    return " ".join(f"{entry.label} {entry.text}" for entry in found.evidence)


def test_a_probe_of_storage_that_waits_gives_a_lower_bound(tmp_path):
    session = one_reader(tmp_path)
    assert diagnose(session).problems[0].gain.speedup_range[0] == 1.0

    probed = with_probe(session, WAITING)

    first = diagnose(probed).problems[0]
    assert first.name == "read_parallelism"
    assert first.gain.speedup_range[0] > 2
    assert "measured by a probe of /data on node7, 4 s, " in shown(probed, "read_parallelism")
    assert what_if(measure(probed), StorageChange(threads=16)).gain.speedup_range[0] > 2


@pytest.mark.parametrize("storage", [FULL, PIPE], ids=["200 calls a second", "20 MB/s"])
def test_a_probe_of_full_storage_ends_talk_of_readers(tmp_path, storage):
    session = one_reader(tmp_path)
    assert "full_storage" not in names(session)

    probed = with_probe(session, storage)

    assert "read_parallelism" not in names(probed)
    assert "measured by a probe of /data on node7" in shown(probed, "full_storage")
    assert what_if(measure(probed), StorageChange(threads=16)).gain.speedup_range[1] < 1.4


def test_no_more_readers_are_promised_than_were_probed(tmp_path):
    assert serial_share(measure(with_probe(one_reader(tmp_path), WAITING))).most_readers == 16


def test_what_the_session_shows_comes_first(tmp_path):
    # GIVEN two readers that show storage that waits, and a probe that found it full
    session = with_probe(job(tmp_path, calls_of(Delay(5), readers=2, rest_ms=rests(1))), FULL)

    # THEN
    assert diagnose(session).problems[0].name == "read_parallelism"
    assert "full_storage" not in names(session)
    assert "probe" not in shown(session, "read_parallelism")


@pytest.mark.parametrize(
    ("storage", "share"), [(WAITING, 1.0), (PIPE, 0.02), (lambda: Queue(2.5, 0, 1 / 40_000), 0.5)]
)
def test_equal_reads_are_divided_as_the_probe_divides_them(tmp_path, storage, share):
    # GIVEN reads of 100 kB in 5 ms
    session = with_probe(one_reader(tmp_path), storage)

    low, expected, high = wait_of_a_read(measure(session))

    assert expected == pytest.approx(share * 0.005, abs=0.0006)
    assert low <= expected <= high <= 0.0051


def test_waiting_for_others_in_a_pipe_is_no_latency(tmp_path):
    # GIVEN four readers that always share a pipe: a read of 100 kB takes 20 ms, 5 ms of it its own
    calls = calls_of(Queue(0, 5), readers=4, rest_ms=lambda noise: 0.0)
    measures = measure(with_probe(job(tmp_path, calls), PIPE))
    assert measures.contention is None

    assert wait_of_a_read(measures)[2] < 0.002
    assert serial_share(measures).is_full


def test_reads_of_a_size_between_are_between(tmp_path):
    # GIVEN 3 ms of waiting, and 100 MB/s: of 4 KiB nearly all is waiting, of 128 KiB a third is the pipe's
    storage = lambda: Queue(3, 0, 1 / 100_000)  # noqa: E731
    session = with_probe(one_reader(tmp_path), storage)
    measures = measure(session)

    found = serial_share(measures)

    # THEN of 100 kB, or what is read ahead with it, a quarter is
    assert 0.1 < found.low < found.expected < found.high < 0.5
    assert found.expected == pytest.approx(0.25, abs=0.1)


def test_a_probe_of_another_mount_or_of_nothing_is_not_used(tmp_path):
    session = one_reader(tmp_path)
    keep_probes(session, [probe_of(WAITING, "/elsewhere")])

    assert not serial_share(measure(open_session(session.path))).known


def test_the_newest_probe_counts(tmp_path):
    session = with_probe(one_reader(tmp_path), FULL, at_ns=2 * 10**18)
    session = with_probe(session, WAITING, at_ns=10**18)

    assert "full_storage" in names(session)


def test_a_probe_survives_the_metadata(tmp_path):
    probe = probe_of(WAITING, "/")
    session = one_reader(tmp_path)
    keep_probes(session, [probe])

    (block,) = open_session(session.path).meta[0]["probes"]

    assert probe_of_dict(block) == probe


def test_of_emulated_storage_no_probe_is_used_or_offered(tmp_path):
    session = with_probe(one_reader(tmp_path), WAITING)
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["options"] = {**(meta.get("options") or {}), "as_if": "hdd"}
    path.write_text(json.dumps(meta))

    share = serial_share(measure(open_session(session.path)))

    assert not share.known
    assert share.command == ""


def test_who_cannot_tell_names_the_command_that_would(tmp_path):
    session = one_reader(tmp_path / "a folder")

    assert f"`tfdarshan probe --logdir '{session.path}'`" in shown(session, "read_parallelism")
