"""A job whose session cannot tell latency from bandwidth: what its findings say before a probe, and after."""

import json
import os
import time

import pytest

import tfdarshan
from tests.integration.storage_probe.fuse_storage import (
    make_files,
    make_server,
    needs_fuse,
    storage,
    tried_again,
)
from tfdarshan.commands import main
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.promise_words import promise_words
from tfdarshan.findings.whatif import StorageChange, what_if

pytestmark = needs_fuse
FILES, STEPS, SIZE = 500, 120, 100_000
# What reading beside 2 ms of compute gives a step of 7 ms or more, one reader or several; and a little more.
AHEAD = 1.6


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def backing(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("backing") / "files", FILES, SIZE)


def job(folder, logdir, **options):
    """Read one file of 100 kB by one reader in each step; return the session."""
    with tfdarshan.profile(logdir, **options) as session:
        for number in range(STEPS):
            with tfdarshan.step() as step:
                with step.input_wait():
                    file = os.open(folder / f"{number:04}", os.O_RDONLY)
                    assert len(os.read(file, SIZE + 1)) == SIZE
                    os.close(file)
                time.sleep(0.002)
    return session.session


def found(session):
    return {finding.name: finding for finding in diagnose(session).findings}


def shown(finding):
    return " ".join(f"{entry.label} {entry.text}" for entry in finding.evidence)


@tried_again
def test_latency_gets_a_lower_bound(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", open_s=0.002, read_s=0.005, concurrency=64) as folder:
        before = job(folder, tmp_path / "logs")
        unknown = found(before)["read_parallelism"]

        # THEN only that it can read beside compute is certain, and the command that would tell more is named
        assert unknown.gain.speedup_range[0] < AHEAD
        assert f"tfdarshan probe --logdir {before.path}" in promise_words(unknown.gain)

        # WHEN
        assert main(["probe", "--logdir", str(tmp_path / "logs")]) == 0

    # THEN
    text = capsys.readouterr().out
    assert f"kept in {before.path}" in text
    after = tfdarshan.open_session(tmp_path / "logs")
    known = found(after)["read_parallelism"]
    assert known.gain.speedup_range[0] > AHEAD
    assert "full_storage" not in found(after)
    threads = what_if(measure(after), StorageChange(threads=16))
    assert threads.gain.speedup_range[0] > 1.3


@tried_again
def test_a_full_pipe_is_said_to_be(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", bandwidth=15e6) as folder:
        before = job(folder, tmp_path / "logs")
        assert found(before)["read_parallelism"].gain.speedup_range[0] < AHEAD
        assert "full_storage" not in found(before)

        assert main(["probe", "--logdir", str(tmp_path / "logs")]) == 0

    # THEN no reader is added, and no shards promise anything: it is bytes that storage is full of
    after = found(tfdarshan.open_session(tmp_path / "logs"))
    assert "read_parallelism" not in after or after["read_parallelism"].gain.speedup < AHEAD
    assert "of a call, served one at a time" in shown(after["full_storage"])
    assert "A probe got no more with several reads at a time" in after["full_storage"].what
    shards = after["small_files"].gain if "small_files" in after else None
    assert shards is None or shards.speedup < 1.3
    threads = what_if(measure(tfdarshan.open_session(tmp_path / "logs")), StorageChange(threads=16))
    assert threads.gain.speedup < AHEAD


@tried_again
def test_a_limit_of_calls_is_full_and_shards_help(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", operations_per_s=240) as folder:
        job(folder, tmp_path / "logs")

        assert main(["probe", "--logdir", str(tmp_path / "logs")]) == 0

    after = found(tfdarshan.open_session(tmp_path / "logs"))
    assert "read_parallelism" not in after or after["read_parallelism"].gain.speedup < AHEAD
    assert "full_storage" in after
    assert after["small_files"].gain.speedup_range[0] > 1.2


@tried_again
def test_a_profile_probes_when_it_ends_and_counts_none_of_it(capsys, server, backing, tmp_path):
    # GIVEN a job that reads 120 of 500 files
    with storage(server, backing, tmp_path / "m", open_s=0.002, read_s=0.005, concurrency=64) as folder:
        session = job(folder, tmp_path / "logs", probe=True)

    # THEN the probe is in the metadata, and none of its calls in any count
    (probe,) = session.meta[0]["probes"]
    assert (probe["folder"], probe["mount_point"]) == (str(folder), str(folder))
    assert probe["files"] > 0
    rows = session.files[session.files["path"].str.startswith(str(folder))]
    assert len(rows) == STEPS
    assert rows["POSIX_OPENS"].sum() == STEPS
    assert rows["POSIX_BYTES_READ"].sum() == STEPS * SIZE
    assert found(session)["read_parallelism"].gain.speedup_range[0] > AHEAD


@tried_again
def test_the_newest_probe_of_the_mount_counts(capsys, server, backing, tmp_path):
    # GIVEN a session with two probes of its mount, of which the newer finds a full pipe
    with storage(server, backing, tmp_path / "m", read_s=0.005, concurrency=64) as folder:
        session = job(folder, tmp_path / "logs")
        assert main(["probe", "--logdir", str(session.path)]) == 0
    with storage(server, backing, tmp_path / "m", bandwidth=15e6) as folder:
        assert main(["probe", "--logdir", str(session.path)]) == 0

    # THEN
    again = tfdarshan.open_session(session.path)
    assert len(again.meta[0]["probes"]) == 2
    assert "full_storage" in found(again)


@tried_again
def test_a_probe_of_another_mount_says_nothing(capsys, server, backing, tmp_path):
    with storage(server, backing, tmp_path / "m", read_s=0.005, concurrency=64) as folder:
        session = job(folder, tmp_path / "logs")
        assert main(["probe", "--logdir", str(session.path)]) == 0
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["probes"][0]["mount_point"] = "/elsewhere"
    path.write_text(json.dumps(meta))

    again = found(tfdarshan.open_session(session.path))

    assert again["read_parallelism"].gain.speedup_range[0] < AHEAD
