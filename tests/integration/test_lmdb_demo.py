"""LMDB records by a tf.data generator over py-lmdb, on storage that is late.

The finding names file, share and cure; what it promises once the mount is probed the line as printed gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfdarshan
import tfdarshan.lmdb
from tests.integration.mapped.touched_files import ALL
from tests.integration.storage_probe.fuse_storage import make_server, needs_fuse, storage, tried_again
from tests.integration.test_mapped_findings import found, is_kept, job
from tfdarshan.commands import main
from tfdarshan.findings.diagnosis import diagnose

lmdb = pytest.importorskip("lmdb")
tf = pytest.importorskip("tensorflow")
pytestmark = [needs_fuse, pytest.mark.long]
KIB = 1 << 10
BATCH = 4
LATE: dict[str, float] = {"read_s": 0.004, "concurrency": 64, "page_cache": 1}


@pytest.fixture(autouse=True)
def every_fault(monkeypatch):
    """Has each fault seen, whatever that costs: on a busy machine the guard may leave too few."""
    for name, value in ALL.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return make_server(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def backing(tmp_path_factory):
    """4,800 records of 16 KB, 79 MB; gives the folder and the keys."""
    folder = tmp_path_factory.mktemp("records")
    keys = [b"%06d" % number for number in range(4800)]
    noise = np.random.default_rng(1)
    with lmdb.open(str(folder), map_size=1 << 28) as database, database.begin(write=True) as writing:
        for key in keys:
            writing.put(key, noise.bytes(16 * KIB))
    return folder, keys


def train(logdir, folder, keys):
    """Takes these records' batches as the demo does; gives the session and the seconds of the steps."""
    with lmdb.open(str(folder), readonly=True, lock=False) as database, database.begin() as reading:
        records = tf.data.Dataset.from_generator(
            lambda: (reading.get(key) for key in keys), output_signature=tf.TensorSpec((), tf.string)
        )
        return job(logdir, records.batch(BATCH).prefetch(2), steps=len(keys) // BATCH)


def probed(tmp_path, server, backing):
    """Measures the storage under the session's mapped file, as the finding says to; gives the findings."""
    with storage(server, backing, tmp_path / "m", **LATE):
        assert main(["probe", "--logdir", str(tmp_path / "logs")]) == 0
    return found(tfdarshan.open_session(tmp_path / "logs"))


@tried_again
def test_merged_reads_give_a_generator_what_is_promised(capsys, server, backing, tmp_path):
    # GIVEN 480 records that lie anywhere
    folder, keys = backing
    order = np.random.default_rng(2).permutation(len(keys))[:480]
    with storage(server, folder, tmp_path / "m", **LATE) as shown:
        _, before_s = train(tmp_path / "logs", shown, [keys[number] for number in order])

    # WHEN
    finding = probed(tmp_path, server, folder)["mapped_wait"]

    # THEN file, share and cure are named, by the verdict as well
    path = str(tmp_path / "m" / "data.mdb")
    assert finding.files == (path,)
    assert finding.cost_share > 0.2
    assert f"tfdarshan.lmdb.dataset({path!r}" in finding.cure.line
    verdict = diagnose(tfdarshan.open_session(tmp_path / "logs")).verdict
    assert verdict.finding == "mapped_wait"

    # and the line as printed gives what is promised
    low, high = finding.gain.speedup_range
    assert 1 < low < high
    with storage(server, folder, tmp_path / "m", **LATE):
        names: dict[str, Any] = {"tfdarshan": tfdarshan, "batch_size": BATCH}
        exec(finding.cure.line, names)
        _, after_s = job(tmp_path / "cured", names["dataset"].prefetch(2), steps=480 // BATCH)
        names.clear()
    is_kept(finding.gain, before_s, after_s)
